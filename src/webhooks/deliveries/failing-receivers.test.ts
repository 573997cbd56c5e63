import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  deliveryRows,
  insertBacklog,
  insertCredentials,
  removeAllEvents,
  startTestWorker,
  writeEvent,
} from '#test/support/events.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { runningMsOf, sleepRunning } from '#test/support/running-time.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually, register } from '#test/support/webhooks.ts';
import type { Database } from '#platform/db/database.ts';
import type { DeliveryPace, Worker } from '#service/worker.ts';
import { createTransactionWithEvents } from '../events/events.ts';

/** Longest wait in milliseconds until hundreds of deliveries have ended. A slow machine needs many seconds for them. */
const LONG_MS = 60_000;

describe('the worker and a failing receiver', () => {
  let service: TestService;
  let db: Database;
  let receiver: Receiver;
  let tenant: TestTenant;
  let worker: Worker;

  before(async () => {
    service = await startService();
    db = service.database.db;
  });
  after(() => service.close());
  beforeEach(async () => {
    receiver = await startReceiver();
    tenant = await service.tenant();
    await register(service, tenant.partner, receiver.url);
  });
  afterEach(async () => {
    await worker.stop(0);
    await receiver.close();
    // Deletes the remaining events, because the worker of the next test would send these events.
    await removeAllEvents(db);
  });

  const work = (pace: DeliveryPace = {}) => (worker = startTestWorker(service, pace));

  async function allEnd(status: string) {
    return await eventually(
      async () => {
        const rows = await deliveryRows(db, tenant.tenantId);
        return rows.every((row) => row.status === status) && rows;
      },
      `all deliveries have the status ${status}`,
      LONG_MS,
    );
  }

  it('a hanging receiver that five credentials share gets only two requests, because it has not succeeded yet', async () => {
    receiver.answerWith(() => 'hang');
    const urls = Array.from({ length: 5 }, () => receiver.url);
    await insertBacklog(db, await insertCredentials(service, tenant.tenantId, urls), 10);
    work();
    await receiver.waitFor(2);
    await sleep(700);
    assert.equal(receiver.requests.length, 2);
  });

  describe('a receiver that begins to hang while deliveries wait for it', () => {
    let hangingCount: number;
    beforeEach(async () => {
      await insertBacklog(db, tenant, 2_000);
      hangingCount = 0;
      receiver.answerWith(() => {
        if (receiver.requests.length <= 500) {
          return 204;
        }
        hangingCount += 1;
        return 'hang';
      });
      work();
      await eventually(() => hangingCount > 0, 'first request that hangs', LONG_MS);
    });

    const countAttempted = async () =>
      (await deliveryRows(db, tenant.tenantId)).filter(({ attempt_count }) => attempt_count > 0).length;

    it('if a receiver begins to hang, at most 32 requests hang, and deliveries that were not sent have the attempt count 0', async () => {
      await sleep(1_000);
      await eventually(
        async () => (await countAttempted()) === receiver.requests.length,
        'equal number of attempted deliveries and of requests',
      );
      assert.ok(hangingCount <= 32, `${hangingCount} requests hang, although a receiver gets at most 32 at once`);
    });

    it('if the worker stops while a receiver hangs, deliveries that were not sent have no attempt and no lease', async () => {
      // A receiver gets at most 32 attempts at once. With fewer, a claim may be under way, whose attempts then begin during the stop.
      await eventually(() => hangingCount === 32, '32 requests that hang');
      const sentCount = receiver.requests.length;
      await worker.stop(100);
      assert.equal(receiver.requests.length, sentCount);
      assert.equal(await countAttempted(), sentCount);
      const rows = await deliveryRows(db, tenant.tenantId);
      assert.ok(rows.every(({ lease_id }) => lease_id === null));
    });
  });

  it('a failing receiver gets 3 to 14 attempts in 2 s, although 200 deliveries wait and new events arrive', async () => {
    receiver.answerWith(() => 500);
    await insertBacklog(db, tenant, 200);
    const { wake } = work({ probeRestMs: 200 });
    await receiver.waitFor(3);
    const seenBefore = receiver.requests.length;
    const transaction = createTransactionWithEvents(db, wake);
    const begunAtMs = performance.now();
    let isOver = false;
    const end = sleepRunning(2_000).then(() => (isOver = true));
    while (!isOver) {
      await writeEvent(transaction, tenant);
      await sleep(10);
    }
    await end;
    const probes = receiver.requests.length - seenBefore;
    const tookMs = performance.now() - begunAtMs;
    assert.ok(probes >= 3, `the receiver got only ${probes} attempts in ${tookMs} ms`);
    assert.ok(probes <= tookMs / 200 + 4, `the receiver got ${probes} attempts in ${tookMs} ms`);
  });

  it('a receiver that always fails gets each of 70 events exactly five times', async () => {
    receiver.answerWith(() => 500);
    await insertBacklog(db, tenant, 60);
    const transaction = createTransactionWithEvents(db, work().wake);
    await Promise.all(Array.from({ length: 10 }, () => writeEvent(transaction, tenant)));
    const rows = await allEnd('failed');
    assert.equal(rows.length, 70);
    assert.ok(rows.every(({ attempt_count, attempts }) => attempt_count === 5 && (attempts as unknown[]).length === 5));
    await sleep(300);
    const byEvent = Map.groupBy(receiver.requests, ({ headers }) => headers['x-service-event-id']);
    assert.equal(byEvent.size, 70);
    assert.ok([...byEvent.values()].every((requests) => requests.length === 5));
  });

  it('a receiver that recovers gets all 300 waiting events within 20 s', async () => {
    receiver.answerWith(() => (receiver.requests.length <= 10 ? 500 : 204));
    await insertBacklog(db, tenant, 300);
    work({ probeRestMs: 20 });
    await receiver.waitFor(11);
    const tookMs = await runningMsOf(async () => assert.equal((await allEnd('delivered')).length, 300));
    assert.equal(receiver.requests.length, 310);
    assert.ok(tookMs < 20_000, `the events took ${tookMs} ms`);
  });

  it('an event whose webhook secret cannot be decrypted fails after five attempts, which do not count as failures of the receiver', async () => {
    const poisoned = await insertCredentials(service, tenant.tenantId, [receiver.url]);
    await db
      .updateTable('credential')
      .set({ webhook_secret: Buffer.from('not an encrypted secret') })
      .where('id', '=', poisoned[0]?.credential.id ?? '')
      .execute();
    await insertBacklog(db, poisoned, 5);
    work({ probeRestMs: 60_000 });
    const rows = await allEnd('failed');
    const errors = rows.flatMap(({ attempts }) => (attempts as { error: string }[]).map(({ error }) => error));
    assert.deepEqual(errors, Array(25).fill('internal_error'));
    await insertBacklog(db, tenant, 1);
    await receiver.waitFor(1);
  });
});
