import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { deliveryRows, eventInput, eventRows, startTestWorker, writeEvent } from '#test/support/events.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually, onlyDelivery, register } from '#test/support/webhooks.ts';
import type { Database } from '#platform/db/database.ts';
import type { DeliveryPace, Worker } from '#service/worker.ts';
import { createTransactionWithEvents, type TransactionWithEvents } from '../events/events.ts';

/** Wait between two polls that is longer than a test. So a worker sends only the events of which it is told. */
const NO_POLL_MS = 3_600_000;

describe('the events of the process of a worker', () => {
  let service: TestService;
  let db: Database;
  let receiver: Receiver;
  let tenant: TestTenant;
  let worker: Worker;
  let transaction: TransactionWithEvents;
  const workers: Worker[] = [];

  before(async () => {
    service = await startService();
    db = service.database.db;
  });
  after(() => service.close());
  beforeEach(async () => {
    receiver = await startReceiver();
    tenant = await service.tenant();
    await register(service, tenant.partner, receiver.url);
    worker = work({ pollEveryMs: NO_POLL_MS });
    transaction = createTransactionWithEvents(db, worker.wake);
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((each) => each.stop(0)));
    await receiver.close();
  });

  function work(pace?: DeliveryPace): Worker {
    const started = startTestWorker(service, pace);
    workers.push(started);
    return started;
  }

  const errors = async () => (await onlyDelivery(service, tenant, 'delivered')).attempts.map(({ error }) => error);
  const rowOf = async () => {
    const [row, ...others] = await deliveryRows(db, tenant.tenantId);
    assert.ok(row);
    assert.deepEqual(others, []);
    return row;
  };

  it('an event is not claimed before its commit, and is sent after the commit without a poll', async () => {
    await transaction(async (tx, record) => {
      await record(eventInput(tenant));
      const [row] = await deliveryRows(tx, tenant.tenantId);
      assert.deepEqual([row?.status, row?.attempt_count, row?.lease_id], ['pending', 0, null]);
      await sleep(300);
      assert.equal(receiver.requests.length, 0);
    });
    await receiver.waitFor(1);
    assert.deepEqual(await errors(), [null]);
  });

  it('six events of one transaction are sent once with their stored body, and an event without a webhook has no delivery', async () => {
    const silent = await service.tenant();
    const inputs = Array.from({ length: 6 }, (_, index) => eventInput(tenant, `"${index}" \\ é🍕`));
    await transaction(async (_tx, record) => {
      await record(...inputs);
    });
    await writeEvent(transaction, silent);
    await receiver.waitFor(6);
    const rows = await eventually(async () => {
      const all = await deliveryRows(db, tenant.tenantId);
      return all.every(({ status }) => status === 'delivered') && all;
    }, 'delivery of all six');
    assert.deepEqual(
      receiver.requests.map(({ rawBody }) => rawBody.toString()).sort(),
      rows.map(({ body }) => body).sort(),
    );
    assert.equal((await eventRows(db, silent.tenantId)).length, 1);
    assert.deepEqual(await deliveryRows(db, silent.tenantId), []);
  });

  it('if a transaction runs again after a lost connection, only the event of the second run is sent, and only once', async () => {
    let runs = 0;
    await transaction(async (tx, record) => {
      runs += 1;
      await record(eventInput(tenant, `run ${runs}`));
      if (runs === 1) {
        await sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(tx);
      }
    });
    assert.deepEqual(await errors(), [null]);
    assert.equal(receiver.requests.length, 1);
    assert.ok(receiver.requests[0]?.rawBody.includes('"run 2"'));
  });

  it('if an attempt has not begun in the first third of its lease, it is not made and does not count, and the delivery is due again', async () => {
    await worker.stop(1_000); // Its first search could find the delivery.
    const late = work({ pollEveryMs: NO_POLL_MS, leaseSeconds: 0.001 });
    await writeEvent(createTransactionWithEvents(db, late.wake), tenant);
    await eventually(
      async () => (await rowOf()).claimed_at !== null && (await rowOf()).lease_id === null,
      'outcome of the claim',
    );
    const row = await rowOf();
    assert.deepEqual([row.status, row.attempt_count, row.attempts], ['pending', 0, []]);
    assert.equal(receiver.requests.length, 0);
    work();
    assert.deepEqual(await errors(), [null]);
  });
});
