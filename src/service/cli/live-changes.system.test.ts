import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp, type Serving, startServingProgram } from '#test/support/command.ts';
import { call, envOf, startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { openDisplay } from '#test/support/sessions.ts';
import { openStream, type StreamBlock, type TestStream } from '#test/support/streams.ts';
import { placeOrder } from '#test/support/webhooks.ts';

const TENANTS = 10;
const STREAMS_PER_TENANT = 20;
/**
 * Time limit in milliseconds within which a stream must report a change. It is longer than the goal in `npm run bench -- --only live`,
 * because other tests use the machine at the same time.
 */
const TOLD_WITHIN_MS = 8_000;

const isBye = ({ event }: StreamBlock) => event === 'bye';
const ordersIn = ({ blocks }: TestStream) =>
  blocks.flatMap(({ data }) => (data?.order_ids as string[] | undefined) ?? []);
const hasResync = ({ blocks }: TestStream) => blocks.some(({ event }) => event === 'resync');

describe('live changes over several processes', () => {
  let service: TestService;
  const tenants: TestTenant[] = [];
  let stays: Serving;
  let ends: Serving;
  before(async () => {
    service = await startService();
    for (let count = 0; count < TENANTS; count += 1) {
      tenants.push(await service.tenant());
    }
    stays = await start();
  });
  beforeEach(async () => {
    ends = await start();
  });
  after(async () => {
    await cleanUp();
    await service.close();
  });

  const start = () => startServingProgram(['--only', 'api'], { env: { ...envOf(service), LOG_LEVEL: 'warn' } });
  /** Returns a `TestService` that calls the given `serve` process, because the functions of test/support/ expect a `TestService`. */
  const at = ({ url }: Serving): TestService => ({
    ...service,
    url,
    call: (method, path, options) => call(url, method, path, options),
  });

  /**
   * Client that watches one tenant. There are two processes: `ends`, which ends during the test, and `stays`, which runs until all tests
   * have ended. The first stream of the client is on `ends`. When this stream has ended, the client opens its second stream on `stays`. The
   * request for the second stream has the last event id of the first stream.
   */
  interface Client {
    tenant: TestTenant;
    streams: TestStream[];
    reopened: Promise<void>;
  }

  async function openClients(streamsPerTenant: number): Promise<Client[]> {
    const each = tenants.flatMap((tenant) => Array.from({ length: streamsPerTenant }, () => tenant));
    return await Promise.all(each.map((tenant) => openClient(tenant)));
  }

  async function openClient(tenant: TestTenant): Promise<Client> {
    const first = await openStream(ends.url, tenant.owner);
    const streams = [first];
    const reopen = async () => {
      await first.ended;
      const bye = first.blocks.find(isBye);
      await sleep(bye === undefined ? Math.random() * 500 : Number(bye.retry));
      streams.push(await openStream(stays.url, { ...tenant.owner, 'last-event-id': first.lastId() ?? '' }));
    };
    return { tenant, streams, reopened: reopen() };
  }

  /** Places an order of each tenant every 200 ms until `isDone` returns true. @returns the ids of the new orders, by tenant id */
  async function placeUntil(isDone: () => boolean): Promise<Map<number, string[]>> {
    const placed = new Map(tenants.map(({ tenantId }): [number, string[]] => [tenantId, []]));
    while (!isDone()) {
      for (const { tenantId, partner } of tenants) {
        placed.get(tenantId)?.push((await placeOrder(at(stays), partner)).orderId);
      }
      await sleep(200);
    }
    return placed;
  }

  /**
   * Asserts that each client has received all orders of its tenant, from its first or its second stream. Also asserts that no stream has
   * sent the event `resync`. This event tells a client that it may have missed changes and must read all data again.
   */
  async function assertComplete(clients: Client[], placed: Map<number, string[]>): Promise<void> {
    for (const { tenant, streams } of clients) {
      const ids = placed.get(tenant.tenantId) ?? [];
      assert.ok(ids.length > 0);
      const heard = () => new Set(streams.flatMap(ordersIn));
      const deadlineMs = performance.now() + TOLD_WITHIN_MS;
      while (performance.now() < deadlineMs && ids.some((id) => !heard().has(id))) {
        await sleep(50);
      }
      assert.deepEqual(
        ids.filter((id) => !heard().has(id)),
        [],
        'orders that the client has not heard of',
      );
      assert.ok(!streams.some(hasResync), 'no client had to read everything again');
      streams.forEach((stream) => stream.close());
    }
  }

  it('200: a stream on one process reports a change that was made on another process', async () => {
    const [tenant] = tenants;
    assert.ok(tenant);
    const stream = await openStream(ends.url, tenant.owner);
    const { orderId } = await placeOrder(at(stays), tenant.partner);
    await stream.find(({ data }) => data?.order_ids?.includes(orderId) === true, TOLD_WITHIN_MS);
    stream.close();
    ends.kill('SIGKILL');
    await ends.ended;
  });

  it('200: if a process with 200 streams is killed, its clients connect to the other process and miss no order', async () => {
    const clients = await openClients(STREAMS_PER_TENANT / 2);
    const more = await Promise.all(
      tenants.flatMap((tenant) => Array.from({ length: STREAMS_PER_TENANT / 2 }, () => openAsDisplay(tenant))),
    );
    assert.equal(clients.length + more.length, 200);
    let isDone = false;
    const placing = placeUntil(() => isDone);
    await sleep(600);
    ends.kill('SIGKILL');
    await Promise.all([...clients, ...more].map(({ reopened }) => reopened));
    await sleep(600);
    isDone = true;
    await assertComplete([...clients, ...more], await placing);
  });

  async function openAsDisplay(tenant: TestTenant): Promise<Client> {
    const display = await openDisplay(service, tenant.tenantId, ['orders']);
    return await openClient({ ...tenant, owner: display.headers });
  }

  it('200: a stopping process sends the event bye on its streams and ends within a few seconds, and its clients miss no order', async () => {
    const clients = await openClients(2);
    let isDone = false;
    const placing = placeUntil(() => isDone);
    await sleep(300);
    const stoppedAtMs = performance.now();
    const ended = ends.ended.then(({ code }) => ({ code, tookMs: performance.now() - stoppedAtMs }));
    ends.kill('SIGTERM');
    await Promise.all(clients.map(({ reopened }) => reopened));
    const waits = clients.map(({ streams }) => Number(streams[0]?.blocks.find(isBye)?.retry));
    assert.ok(
      waits.every((wait) => wait >= 300 && wait <= 3_000),
      String(waits),
    );
    assert.ok(new Set(waits).size > clients.length / 2, 'the waits differ');
    const { code, tookMs } = await ended;
    assert.equal(code, 0);
    assert.ok(tookMs < 8_000, `took ${tookMs} ms, as long as if a stream had delayed the stop`);
    isDone = true;
    await assertComplete(clients, await placing);
  });
});
