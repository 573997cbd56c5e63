import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { deliveryRows, eventInput, eventRows, startTestWorker, writeEvent } from '#test/support/events.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually, onlyDelivery, register } from '#test/support/webhooks.ts';
import type { Database } from '#platform/db/database.ts';
import type { DeliveryPace, Worker } from '#service/worker.ts';
import {
  attemptsShape,
  createTransactionWithEvents,
  type RecordEvents,
  type TransactionWithEvents,
} from '../events/events.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';

const isCluster = await isTestCluster();

/**
 * Length of a lease, in milliseconds. Until the lease of an event ends, only the process that wrote the event can send it. So an event that
 * a receiver gets within this time was sent from memory, without a search of the database.
 */
const LEASE_MS = 15_000;
/** Tolerance for the difference of the clocks of PostgreSQL and of this process, in milliseconds. */
const CLOCK_MS = 20;

describe('INSERT of an event that also claims its delivery', () => {
  let service: TestService;
  let db: Database;
  let receiver: Receiver;
  let tenant: TestTenant;
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
    transaction = createTransactionWithEvents(db, work().deliveries);
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    await receiver.close();
  });

  function work(pace?: DeliveryPace): Worker {
    const worker = startTestWorker(service, pace);
    workers.push(worker);
    return worker;
  }

  async function onlyRow(from: Database = db) {
    const [row, ...others] = await deliveryRows(from, tenant.tenantId);
    assert.ok(row);
    assert.deepEqual(others, []);
    return { ...row, dueInMs: (row.leased_until ?? row.next_attempt_at).getTime() - Date.now() };
  }

  /** Writes an event of the tenant. Asserts that the lease of its delivery begins during the call, and returns the row of the delivery. */
  async function recordWithLease(tx: Database, record: RecordEvents) {
    const begunAtMs = Date.now();
    await record(eventInput(tenant));
    const endedAtMs = Date.now();
    const row = await onlyRow(tx);
    const leaseBeganMs = (row.leased_until?.getTime() ?? Number.NaN) - LEASE_MS;
    const range = `${leaseBeganMs} is not from ${begunAtMs} to ${endedAtMs}`;
    assert.ok(leaseBeganMs >= begunAtMs - CLOCK_MS && leaseBeganMs <= endedAtMs + CLOCK_MS, range);
    return row;
  }

  /** Makes the receiver keep the first `count` requests open. It answers them with 204 when the test calls the returned function. */
  function holdRequests(count: number): () => void {
    const held: Socket[] = [];
    receiver.answerWith(() => (receiver.requests.length <= count ? (socket) => void held.push(socket) : 204));
    return () => held.forEach((socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
  }

  const delivered = () => onlyDelivery(service, tenant, 'delivered');

  async function errors(): Promise<(string | null)[]> {
    return (await delivered()).attempts.map(({ error }) => error);
  }

  it('the INSERT of an event also claims the delivery and counts an attempt, and the process that inserted the event sends the event after the COMMIT', async () => {
    const answer = holdRequests(1);
    const born = await transaction(async (tx, record) => {
      const row = await recordWithLease(tx, record);
      await sleep(300);
      assert.equal(receiver.requests.length, 0, 'the event is not sent before the commit');
      return row;
    });
    assert.deepEqual([born.status, born.attempt_count], ['pending', 1]);
    assert.deepEqual(
      attemptsShape(born).map(({ error }) => error),
      ['no_outcome'],
    );
    assert.notEqual(born.lease_id, null);
    await receiver.waitFor(1);
    const { dueInMs: _, ...held } = await onlyRow();
    assert.deepEqual(held, { ...held, attempt_count: 1, lease_id: born.lease_id, attempts: born.attempts });
    answer();
    assert.deepEqual(await errors(), [null]);
    const ended = await onlyRow();
    assert.deepEqual([ended.attempt_count, ended.lease_id], [1, null]);
    assert.equal(receiver.requests.length, 1);
  });

  it('if a process without a worker writes an event, the delivery is not claimed, and is due immediately', async () => {
    await createTransactionWithEvents(
      db,
      null,
    )(async (tx, record) => {
      await record(eventInput(tenant));
      const { dueInMs, ...row } = await onlyRow(tx);
      assert.deepEqual([row.status, row.attempt_count, row.lease_id], ['pending', 0, null]);
      assert.deepEqual(row.attempts, []);
      assert.ok(dueInMs < 1_000);
    });
    assert.deepEqual(await errors(), [null]);
  });

  it('if the receiver has no free sending slot, the INSERT does not claim the event, which is delivered when a slot is free', async () => {
    const answer = holdRequests(4);
    for (let count = 1; count <= 4; count += 1) {
      await writeEvent(transaction, tenant);
    }
    await receiver.waitFor(4);
    await writeEvent(transaction, tenant);
    const last = (await deliveryRows(db, tenant.tenantId)).at(-1);
    assert.deepEqual([last?.status, last?.attempt_count, last?.lease_id], ['pending', 0, null]);
    answer();
    await eventually(async () => {
      const rows = await deliveryRows(db, tenant.tenantId);
      return rows.every((row) => row.status === 'delivered');
    }, 'delivery of all five');
    assert.equal(receiver.requests.length, 5);
  });

  it('with four free sending slots, the INSERT of six events claims four events, and all six are sent once with their stored body', {
    skip: isCluster && 'on a cluster, each event has an INSERT of its own',
  }, async () => {
    const silent = await service.tenant();
    const inputs = Array.from({ length: 6 }, (_, index) => eventInput(tenant, `"${index}" \\ é🍕`));
    const born = await transaction(async (tx, record) => {
      await record(...inputs, eventInput(silent));
      return await deliveryRows(tx, tenant.tenantId);
    });
    assert.deepEqual(
      born.map(({ status, attempt_count }) => [status, attempt_count]),
      [...Array.from({ length: 4 }, () => ['pending', 1]), ['pending', 0], ['pending', 0]],
    );
    assert.equal(new Set(born.slice(0, 4).map(({ lease_id }) => lease_id)).size, 4);
    await receiver.waitFor(6);
    await eventually(async () => {
      const rows = await deliveryRows(db, tenant.tenantId);
      return rows.every(({ status }) => status === 'delivered');
    }, 'delivery of all six');
    assert.deepEqual(
      receiver.requests.map(({ rawBody }) => rawBody.toString()).sort(),
      born.map(({ body }) => body).sort(),
    );
    assert.equal((await eventRows(db, silent.tenantId)).length, 1);
    assert.deepEqual(await deliveryRows(db, silent.tenantId), []);
  });

  it('an event of a credential without a webhook is stored, and has no delivery', async () => {
    const silent = await service.tenant();
    await writeEvent(transaction, silent);
    assert.equal((await eventRows(db, silent.tenantId)).length, 1);
    assert.deepEqual(await deliveryRows(db, silent.tenantId), []);
  });

  it('if a transaction is rolled back, its event is neither stored nor sent', async () => {
    const rolledBack = transaction(async (_tx, record) => {
      await record(eventInput(tenant));
      throw new Error('rolled back by the test');
    });
    await assert.rejects(rolledBack, /rolled back by the test/);
    await sleep(500);
    assert.equal(receiver.requests.length, 0);
    assert.deepEqual(await eventRows(db, tenant.tenantId), []);
    assert.deepEqual(await deliveryRows(db, tenant.tenantId), []);
  });

  it('if a transaction runs again after a deadlock, and its second run revokes the credential, the event is stored but not sent', async () => {
    let runs = 0;
    await transaction(async (tx, record) => {
      runs += 1;
      if (runs === 1) {
        await record(eventInput(tenant, 'first run'));
        throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
      }
      await sql`UPDATE credential SET is_active = false WHERE tenant_id = ${tenant.tenantId}`.execute(tx);
      await record(eventInput(tenant, 'second run'));
    });
    assert.equal(runs, 2);
    await sleep(500);
    assert.equal(receiver.requests.length, 0);
    assert.equal((await eventRows(db, tenant.tenantId)).length, 1);
    assert.deepEqual(await deliveryRows(db, tenant.tenantId), []);
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

  it('the lease of an event starts at its INSERT, even if the transaction began much earlier', async () => {
    await transaction(async (tx, record) => {
      await sql`SELECT now()`.execute(tx);
      await sleep(1_500);
      await recordWithLease(tx, record);
    });
  });

  it("if an event is committed after the first third of its delivery's lease, the event is sent only when this lease has ended and the delivery is claimed again", async () => {
    const [worker] = workers.splice(0);
    await worker?.stop(0);
    // The lease of 1.5 s is only for the first attempt. The next attempt must begin in the first third of its own lease, so another worker
    // with a usual lease makes this attempt. The worker with the short lease searches for due deliveries only when it starts.
    const { deliveries } = work({ leaseSeconds: 1.5, scanEveryMs: 3_600_000 });
    work();
    transaction = createTransactionWithEvents(db, deliveries);
    const writtenAtMs = Date.now();
    await transaction(async (_tx, record) => {
      await record(eventInput(tenant));
      await sleep(600);
    });
    assert.deepEqual(await errors(), ['no_outcome', null]);
    assert.equal(receiver.requests.length, 1);
    assert.ok((receiver.requests[0]?.at ?? 0) - writtenAtMs >= 1_400);
  });

  describe('while the worker stops', () => {
    it('an event that is written after the worker has stopped is not claimed, and another worker sends it', async () => {
      const [worker] = workers.splice(0);
      await worker?.stop(1_000);
      await writeEvent(transaction, tenant);
      const row = await onlyRow();
      assert.deepEqual([row.status, row.attempt_count, row.lease_id], ['pending', 0, null]);
      await sleep(500);
      assert.equal(receiver.requests.length, 0);
      work();
      assert.deepEqual(await errors(), [null]);
    });

    it('an event that was claimed before the worker began to stop is sent, and the stop waits for its outcome', async () => {
      const [worker] = workers.splice(0);
      const answer = holdRequests(2);
      await writeEvent(transaction, tenant);
      await receiver.waitFor(1);
      let stopped: Promise<void> | undefined;
      await transaction(async (_tx, record) => {
        await record(eventInput(tenant));
        stopped = worker?.stop(5_000);
      });
      await receiver.waitFor(2);
      const first = await Promise.race([stopped?.then(() => 'stopped'), sleep(100, 'waits')]);
      assert.equal(first, 'waits', 'the stop waits for both requests');
      answer();
      await stopped;
      const rows = await deliveryRows(db, tenant.tenantId);
      assert.deepEqual(
        rows.map((row) => [row.status, row.attempt_count, row.lease_id]),
        [
          ['delivered', 1, null],
          ['delivered', 1, null],
        ],
      );
    });

    it('if the worker stops after it has claimed a new event, but before the transaction of the event commits, other workers can claim the event immediately', async () => {
      const [worker] = workers.splice(0);
      await transaction(async (_tx, record) => {
        await record(eventInput(tenant));
        await worker?.stop(1_000);
      });
      // The worker claims the event when it is inserted, but begins the delivery only after the commit. The first call of `stop` came
      // between the claim and the commit. No delivery was under way then, so this call ended immediately. The second call of `stop` aborts
      // the delivery that has begun after the commit, and waits for its end.
      await worker?.stop(0);
      const row = await onlyRow();
      assert.deepEqual([row.status, row.attempt_count, row.lease_id], ['pending', 1, null]);
      assert.ok(row.dueInMs <= 0, `the delivery is due in ${row.dueInMs} ms`);
      assert.equal(receiver.requests.length, 0);
      work();
      assert.deepEqual(await errors(), ['aborted', null]);
    });
  });
});
