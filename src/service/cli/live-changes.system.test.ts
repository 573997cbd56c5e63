import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp, type Serving, startServingProgram } from '#test/support/command.ts';
import { call, envOf, startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { openDisplay } from '#test/support/sessions.ts';
import { hasTopic, isResync, openStream, type StreamBlock, type TestStream } from '#test/support/streams.ts';
import { placeOrder } from '#test/support/webhooks.ts';

const TENANTS = 10;
const STREAMS_PER_TENANT = 20;
/**
 * Time limit in milliseconds within which a stream must report a change. It is longer than the goal in `npm run bench -- --only live`,
 * because other tests use the machine at the same time.
 */
const TOLD_WITHIN_MS = 8_000;

const isBye = ({ event }: StreamBlock) => event === 'bye';

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

  /** Client that watches a tenant on the process `ends`. When its stream ends, it opens the next stream on the process `stays`. */
  interface Client {
    first: TestStream;
    second: Promise<TestStream>;
  }

  /** @param headers of the sessions that each open one stream */
  async function openClients(headers: Record<string, string>[]): Promise<Client[]> {
    return await Promise.all(
      headers.map(async (each) => {
        const first = await openStream(ends.url, each);
        return { first, second: reopen(first, each) };
      }),
    );
  }

  async function reopen(first: TestStream, headers: Record<string, string>): Promise<TestStream> {
    await first.ended;
    const bye = first.blocks.find(isBye);
    await sleep(bye === undefined ? Math.random() * 500 : Number(bye.retry));
    return await openStream(stays.url, headers);
  }

  /** Asserts that each second stream begins with `resync`, so that its client reads again, and then reports a new order of its tenant. */
  async function assertGoOn(clients: Client[]): Promise<void> {
    const streams = await Promise.all(clients.map(({ second }) => second));
    await Promise.all(streams.map((stream) => stream.find(isResync, { withinMs: TOLD_WITHIN_MS })));
    for (const { partner } of tenants) {
      await placeOrder(at(stays), partner);
    }
    await Promise.all(streams.map((stream) => stream.find(hasTopic('orders'), { withinMs: TOLD_WITHIN_MS })));
    streams.forEach((stream) => stream.close());
  }

  it('200: if a process with 200 streams is killed, its clients open streams on the other process, which begin with resync', async () => {
    const half = Array.from({ length: STREAMS_PER_TENANT / 2 });
    const displays = tenants.flatMap(({ tenantId }) => half.map(() => openDisplay(service, tenantId, ['orders'])));
    const clients = await openClients([
      ...tenants.flatMap(({ owner }) => half.map(() => owner)),
      ...(await Promise.all(displays)).map(({ headers }) => headers),
    ]);
    assert.equal(clients.length, 200);
    ends.kill('SIGKILL');
    await assertGoOn(clients);
  });

  it('200: a stopping process sends the event bye on its streams and ends within a few seconds, and the next streams begin with resync', async () => {
    const clients = await openClients(tenants.flatMap(({ owner }) => [owner, owner]));
    const stoppedAtMs = performance.now();
    const ended = ends.ended.then(({ code }) => ({ code, tookMs: performance.now() - stoppedAtMs }));
    ends.kill('SIGTERM');
    await assertGoOn(clients);
    const waits = clients.map(({ first }) => Number(first.blocks.find(isBye)?.retry));
    assert.ok(
      waits.every((wait) => wait >= 300 && wait <= 3_000),
      String(waits),
    );
    assert.ok(new Set(waits).size > clients.length / 2, 'the waits differ');
    const { code, tookMs } = await ended;
    assert.equal(code, 0);
    assert.ok(tookMs < 8_000, `took ${tookMs} ms, as long as if a stream had delayed the stop`);
  });
});
