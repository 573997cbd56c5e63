import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitForLeasesToEnd } from '#platform/changes/changes.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { hasTopic, openStream, type StreamBlock, type TestStream } from '#test/support/streams.ts';
import { placeOrder } from '#test/support/webhooks.ts';

const isBeat = ({ comment }: StreamBlock) => comment?.startsWith('beat ') === true;
const isResync = ({ event }: StreamBlock) => event === 'resync';
const hasOrder = (id: string) => (block: StreamBlock) => hasTopic('orders')(block) && block.data.order_ids.includes(id);

describe('GET /v1/staff/changes/ with Last-Event-ID', () => {
  let first: TestService;
  let second: TestService;
  let tenant: TestTenant;
  const open: TestStream[] = [];
  before(async () => {
    first = await startService();
    second = await startService({ beside: first });
    tenant = await first.tenant();
    // Creating the tenant is a change too, and no stream of a test should report it. So the test waits for more than 500 ms. The services
    // `first` and `second` poll the list of recent changes every 200 ms, so both have then read this change.
    await waitForLeasesToEnd();
  });
  after(async () => {
    await second.close();
    await first.close();
  });
  afterEach(() => open.splice(0).forEach((stream) => stream.close()));

  async function watch(node: TestService, lastEventId?: string): Promise<TestStream> {
    const headers = lastEventId === undefined ? tenant.owner : { ...tenant.owner, 'last-event-id': lastEventId };
    const stream = await openStream(node.url, headers);
    open.push(stream);
    await stream.find(isBeat);
    return stream;
  }

  async function nowMs(): Promise<number> {
    const { body } = await first.call('GET', '/v1/staff/me/', { headers: tenant.owner });
    return Date.parse(body.service.now);
  }

  for (const [where, nodeOf] of [
    ['another process', () => second],
    ['the same process', () => first],
  ] as const) {
    it(`200: a client that opens its next stream on ${where} gets all live changes since its Last-Event-ID`, async () => {
      const stream = await watch(first);
      const lastId = stream.lastId();
      assert.ok(lastId, 'the first sign of life has an id');
      stream.close();
      await stream.ended;
      const { orderId } = await placeOrder(first, tenant.partner);
      const pause = { headers: tenant.owner, json: {} };
      assert.equal((await first.call('POST', '/v1/staff/pause/', pause)).status, 200);
      assert.equal((await first.call('DELETE', '/v1/staff/pause/', { headers: tenant.owner })).status, 200);
      const next = await watch(nodeOf(), lastId);
      await next.find(hasOrder(orderId));
      await next.find(hasTopic('pause'));
      assert.deepEqual(next.blocks.filter(isResync), []);
    });
  }

  it('200: a client that opens its next stream gets only changes after its Last-Event-ID, while other streams are open', async () => {
    await watch(first);
    const earlier = await placeOrder(first, tenant.partner);
    const stream = await watch(first);
    const told = await stream.find(({ id }) => id !== undefined);
    await sleep(1_200);
    const reopened = await watch(first);
    stream.close();
    const later = await placeOrder(first, tenant.partner);
    await reopened.find(hasOrder(later.orderId));
    const next = await watch(first, reopened.lastId() ?? '');
    const last = await placeOrder(first, tenant.partner);
    await next.find(hasOrder(last.orderId));
    const ids = next.blocks.flatMap(({ data }) => (data?.order_ids as string[] | undefined) ?? []);
    assert.deepEqual(ids, [last.orderId], `not ${earlier.orderId} nor ${later.orderId}, after ${told.id}`);
  });

  it('200: a stream of live changes without Last-Event-ID has no earlier changes', async () => {
    await placeOrder(first, tenant.partner);
    const stream = await watch(second);
    await sleep(1_200);
    assert.deepEqual(
      stream.blocks.filter(({ event }) => event !== undefined),
      [],
    );
  });

  it('200: if Last-Event-ID is malformed, more than 30 s old or in the future, the stream of live changes begins with resync', async () => {
    const now = await nowMs();
    const wrong = [
      '',
      'x',
      '12.5',
      '-1',
      '1e12',
      `${now}, ${now}`,
      '9'.repeat(40),
      '0',
      `${now - 31_000}`,
      `${now + 60_000}`,
    ];
    for (const lastEventId of wrong) {
      const stream = await watch(first, lastEventId);
      await stream.find(isResync).catch((error: unknown) => assert.fail(`${lastEventId}: ${String(error)}`));
      const { id } = await stream.find(isResync);
      assert.ok(Number(id) > now - 5_000, 'the client can continue from the id of the resync');
      stream.close();
      await stream.ended;
    }
    const stream = await watch(first, String((await nowMs()) - 20_000));
    await sleep(700);
    assert.deepEqual(stream.blocks.filter(isResync), []);
  });
});
