import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { sql } from 'kysely';
import { readConfig } from '#platform/config.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { type DeliveryPace, startWorker, type Worker } from '#service/worker.ts';
import { startDatabaseProxy } from '#test/support/database-proxy.ts';
import { eventInput, startTestWorker } from '#test/support/events.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually, listDeliveries, onlyDelivery, register } from '#test/support/webhooks.ts';
import { createTransactionWithEvents } from '../events/events.ts';

/** Tolerance for the difference of the clocks of PostgreSQL and of the receiver, in milliseconds. */
const CLOCK_MS = 20;

describe('DeliveryWorker', () => {
  let service: TestService;
  let receiver: Receiver;
  let tenant: TestTenant;
  const workers: Worker[] = [];

  before(async () => {
    service = await startService();
  });
  after(() => service.close());

  /** Each test has its own workers, tenant and receiver. */
  beforeEach(async () => {
    receiver = await startReceiver();
    tenant = await service.tenant();
    await register(service, tenant.partner, receiver.url);
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(1_000)));
    await receiver.close();
  });

  function work(pace: DeliveryPace = {}): Worker {
    const worker = startTestWorker(service, pace);
    workers.push(worker);
    return worker;
  }

  async function writeEvents(count: number): Promise<void> {
    await createTransactionWithEvents(
      service.database.db,
      null,
    )(async (_tx, record) => {
      for (let number = 0; number < count; number += 1) {
        await record(eventInput(tenant, `E-${number}`));
      }
    });
  }

  /** Changes the only delivery of the tenant, as if a worker had died during its second attempt. The lease ends in `leaseSeconds`. */
  async function leaveUnderWay(leaseSeconds: number): Promise<void> {
    const ended = [{ at: new Date(), http_status: 500, duration_ms: 3, error: 'http_status' }];
    await service.database.db
      .updateTable('delivery')
      .set({
        attempt_count: 2,
        attempts: JSON.stringify(ended),
        claimed_at: new Date(),
        lease_id: randomUUID(),
        leased_until: sql<Date>`now() + make_interval(secs => ${leaseSeconds})`,
      })
      .where('tenant_id', '=', tenant.tenantId)
      .execute();
  }

  /** Ends the lease of the tenant's only delivery, as if the attempt under way had taken longer than the lease. */
  async function endLease(): Promise<void> {
    const ended = { leased_until: sql<Date>`now()` };
    await service.database.db.updateTable('delivery').set(ended).where('tenant_id', '=', tenant.tenantId).execute();
  }

  async function allDelivered(count: number) {
    return await eventually(
      async () => {
        const deliveries = await listDeliveries(service, tenant);
        return deliveries.filter(({ status }) => status === 'delivered').length === count && deliveries;
      },
      `${count} deliveries with the status delivered`,
      60_000,
    );
  }

  const errorsOf = (delivery: { attempts: { error: string | null }[] }) => delivery.attempts.map(({ error }) => error);
  const eventIds = () => receiver.requests.map((request) => String(request.headers['x-service-event-id']));

  it('four workers that search for due deliveries at the same time post each of 300 events once', async () => {
    const all = [work(), work(), work(), work()];
    const { tenantId, credential } = tenant;
    const queue = { tenantId, credentialId: credential.id, webhookUrl: receiver.url };
    for (let round = 1; round <= 5; round += 1) {
      await writeEvents(60);
      all.forEach(({ wake }) => wake([queue]));
      await allDelivered(60 * round);
    }
    const deliveries = await listDeliveries(service, tenant);
    assert.equal(receiver.requests.length, 300);
    assert.equal(new Set(eventIds()).size, 300);
    assert.ok(deliveries.every(({ attempts }) => attempts.length === 1));
  });

  it('if a worker dies during an attempt, the delivery is sent again only after its lease has ended, and the attempt counts', async () => {
    await writeEvents(1);
    const leaseEndMs = Date.now() + 1_500;
    await leaveUnderWay(1.5);
    work();
    const delivery = await onlyDelivery(service, tenant, 'delivered');
    assert.deepEqual(errorsOf(delivery), ['http_status', 'no_outcome', null]);
    assert.equal(receiver.requests.length, 1);
    assert.ok((receiver.requests[0]?.at ?? 0) >= leaseEndMs - CLOCK_MS);
  });

  it('an event is posted exactly five times, even if no outcome of these five attempts is recorded', async () => {
    receiver.answerWith(() => 'hang');
    await writeEvents(1);
    work();
    work();
    for (let posted = 1; posted <= 5; posted += 1) {
      await receiver.waitFor(posted);
      await endLease();
    }
    const delivery = await onlyDelivery(service, tenant, 'failed');
    assert.deepEqual(
      errorsOf(delivery),
      Array.from({ length: 5 }, () => 'no_outcome'),
    );
    assert.equal(receiver.requests.length, 5);
  });

  it('if the database closes its connections ten times, all 100 events are delivered, and each is sent at most five times', async (t) => {
    work({ leaseSeconds: 2 });
    const cutter = createDatabase({ url: service.database.url, poolSize: 1 });
    t.after(() => cutter.destroy());
    for (let round = 0; round < 10; round += 1) {
      await writeEvents(10);
      await cutConnections(cutter);
      await sleep(30);
    }
    await allDelivered(100);
    const counts = Map.groupBy(eventIds(), (id) => id);
    assert.equal(counts.size, 100);
    assert.ok([...counts.values()].every((posts) => posts.length <= 5));
  });

  it('while the database cannot be reached, a worker with a due delivery in memory tries at most ten claims in 1.5 s', async (t) => {
    const proxy = await startDatabaseProxy(service.database.url, 2);
    t.after(() => proxy.close());
    let failureCount = 0;
    const log = pino({ level: 'warn' }, { write: () => (failureCount += 1) });
    const config = { ...readConfig({}), webhookAllowPrivateNetwork: true };
    const worker = startWorker({ config, db: proxy.db, keyring: service.keyring, log });
    workers.push(worker);
    await proxy.refuse();
    const { tenantId, credential } = tenant;
    worker.wake([{ tenantId, credentialId: credential.id, webhookUrl: receiver.url }]);
    await eventually(() => failureCount > 0, 'logged failure');
    await sleep(1_500);
    assert.ok(failureCount <= 10, `${failureCount} failures were logged`);
    await proxy.restore();
    await writeEvents(1);
    await receiver.waitFor(1);
  });

  it('a stopping worker lets the attempt under way end, and claims no new delivery', async () => {
    receiver.answerWith(() => ({ status: 204, afterMs: 500 }));
    await writeEvents(1);
    const worker = work();
    await receiver.waitFor(1);
    const stopped = worker.stop(10_000);
    await writeEvents(1);
    await stopped;
    const deliveries = await listDeliveries(service, tenant);
    assert.deepEqual(deliveries.map(({ status }) => status).sort(), ['delivered', 'pending']);
    assert.equal(receiver.requests.length, 1);
  });

  it('if a stop aborts an attempt after the grace period, the delivery keeps the attempt with the error "aborted", and is due again immediately', async () => {
    receiver.answerWith(() => (receiver.requests.length === 1 ? 'hang' : 204));
    await writeEvents(1);
    const worker = work({ drawWaitMs: () => 60_000 });
    await receiver.waitFor(1);
    await worker.stop(50);
    const given = await onlyDelivery(service, tenant, 'pending');
    assert.deepEqual(errorsOf(given), ['aborted']);
    work();
    assert.deepEqual(errorsOf(await onlyDelivery(service, tenant, 'delivered')), ['aborted', null]);
  });

  /** Closes all connections to the database except the only connection of `cutter`, so that this statement itself never fails. */
  async function cutConnections(cutter: Database): Promise<void> {
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
    `.execute(cutter);
  }
});
