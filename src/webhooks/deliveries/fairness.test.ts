import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import {
  insertBacklog,
  insertCredentials,
  startTestWorker,
  type CredentialRef,
  writeEvent,
} from '#test/support/events.ts';
import { type ReceivedRequest, type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import type { Database } from '#platform/db/database.ts';
import type { DeliveryPace, Worker } from '#service/worker.ts';
import { createTransactionWithEvents, type TransactionWithEvents } from '../events/events.ts';

const ROUNDS = 6;
/**
 * Time limit of each attempt in milliseconds. It is much longer than `SOON_MS`. So if an event had to wait until a request to a hanging
 * receiver ends, it would arrive too late.
 */
const TIMEOUT_MS = 60_000;
/**
 * Time in milliseconds within which each event for a healthy receiver must arrive. Usually it arrives within a second, but a busy machine
 * may need several seconds.
 */
const SOON_MS = 10_000;

describe('an event for a healthy receiver', () => {
  let service: TestService;
  let db: Database;
  let server: Receiver;
  let tenantId: number;
  let worker: Worker;

  before(async () => {
    service = await startService();
    db = service.database.db;
  });
  after(() => service.close());
  beforeEach(async () => {
    server = await startReceiver();
    ({ tenantId } = await service.tenant());
  });
  afterEach(async () => {
    await worker.stop(0);
    await server.close();
    // Removes the remaining events, because the worker of the next test would send these events. A DELETE would leave dead rows that slow
    // down later queries, so the test truncates the tables.
    await sql`TRUNCATE event, delivery`.execute(db);
  });

  const work = (pace: DeliveryPace = {}) => (worker = startTestWorker(service, { timeoutMs: TIMEOUT_MS, ...pace }));
  /** Returns different URLs of one HTTPS server. Each URL counts as a separate receiver. */
  const urlsOf = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => `https://127.0.0.1:${server.port}/${name}/${index}`);
  const credentialsAt = (urls: string[], of = tenantId) => insertCredentials(service, of, urls);
  const isFor = (name: string) => (request: ReceivedRequest) => request.path.startsWith(`/${name}/`);
  const requestsTo = (name: string) => server.requests.filter(isFor(name));

  /**
   * Returns the time from each event to its arrival at one of the URLs with this name (`urlsOf`), in milliseconds and in ascending order.
   */
  function latenciesOf(name: string): number[] {
    return requestsTo(name)
      .map(({ at, rawBody }) => at - Date.parse(JSON.parse(rawBody.toString()).occurred_at))
      .sort((a, b) => a - b);
  }

  async function writeEach(transaction: TransactionWithEvents, all: CredentialRef[]): Promise<void> {
    for (let done = 0; done < all.length; done += 5) {
      await Promise.all(all.slice(done, done + 5).map((credential) => writeEvent(transaction, credential)));
    }
  }

  describe('if 10 of 50 receivers hang or fail', () => {
    /**
     * Writes 60 due deliveries for each of ten failing receivers. The total of 600 deliveries is greater than the number of places.
     * Then writes events for these ten and for forty healthy receivers. If `isLocal`, the worker is told of these events, otherwise
     * it finds them in the database.
     * Checks that each event for a healthy receiver arrives within `SOON_MS`.
     */
    async function deliverBesideFailing(t: TestContext, isLocal: boolean): Promise<void> {
      const dead = await credentialsAt(urlsOf('dead', 10));
      const well = await credentialsAt(urlsOf('well', 40));
      await insertBacklog(db, dead, 60);
      const { wake } = work({ drawWaitMs: () => 500, probeRestMs: 250 });
      const transaction = createTransactionWithEvents(db, isLocal ? wake : null);
      await sleep(300);
      for (let round = 0; round < ROUNDS; round += 1) {
        await writeEach(transaction, [...dead, ...well]);
        await sleep(50);
      }
      await eventually(
        () => requestsTo('well').length >= 40 * ROUNDS,
        'arrival of all events for the 40 healthy receivers',
        6 * SOON_MS,
      );
      const latencies = latenciesOf('well');
      const p99Ms = latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
      t.diagnostic(`events for the healthy receivers: p99 ${p99Ms} ms`);
      assert.equal(latencies.length, 40 * ROUNDS);
      assert.ok(
        (latencies.at(-1) ?? 0) < SOON_MS,
        `the slowest event for a healthy receiver took ${latencies.at(-1)} ms`,
      );
    }

    it('if a worker runs in the process that writes the events, the events reach 40 receivers within 10 s while 10 other receivers hang', async (t) => {
      server.answerWith((request) => (isFor('dead')(request) ? 'hang' : 204));
      await deliverBesideFailing(t, true);
      assert.ok(requestsTo('dead').length >= 10);
    });

    it('events that a worker finds in the database reach 40 receivers within 10 s while 10 others answer 500', async (t) => {
      server.answerWith((request) => (isFor('dead')(request) ? 500 : 204));
      await deliverBesideFailing(t, false);
      assert.ok(requestsTo('dead').length >= 10);
    });
  });

  /**
   * Writes three events for each credential, one after the other. Checks that the worker finds each event in the database and delivers it
   * within `SOON_MS`.
   * @param onFirst called when the first event has arrived
   */
  async function assertSoon(credentials: CredentialRef[], onFirst = async () => {}): Promise<void> {
    for (let round = 1; round <= 3; round += 1) {
      await writeEach(createTransactionWithEvents(db, null), credentials);
      await eventually(() => requestsTo('other').length >= round, 'the next event for the other receiver');
      await (round === 1 ? onFirst() : undefined);
    }
    assert.ok((latenciesOf('other').at(-1) ?? 0) < SOON_MS, `the events took ${latenciesOf('other').join(', ')} ms`);
  }

  it('an event is delivered while most of 20,000 earlier events still wait for another receiver', async () => {
    const [busy, other] = [await credentialsAt(urlsOf('busy', 1)), await credentialsAt(urlsOf('other', 1))];
    await insertBacklog(db, busy, 20_000);
    work();
    await eventually(() => requestsTo('busy').length > 100, 'more than 100 events of the backlog');
    await assertSoon(other, async () => assert.ok(requestsTo('busy').length < 10_000, `${requestsTo('busy').length}`));
    assert.ok(requestsTo('busy').length < 20_000);
  });

  it('another event arrives while most of 20,000 deliveries of 40 revoked credentials are still due, and these deliveries are not sent', async () => {
    const revoked = await credentialsAt(urlsOf('revoked', 40));
    await db.updateTable('credential').set({ is_active: false }).where('tenant_id', '=', tenantId).execute();
    const other = await credentialsAt(urlsOf('other', 1));
    await insertBacklog(db, revoked, 500);
    work();
    const due = db
      .selectFrom('delivery')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('status', '=', 'pending');
    await assertSoon(other, async () => {
      const { count } = await due.executeTakeFirstOrThrow();
      assert.ok(count > 10_000, `only ${count} deliveries are due`);
    });
    assert.equal(requestsTo('revoked').length, 0);
  });

  it('an event is delivered within 10 s although events of 5,100 other credentials wait for one hanging receiver', async () => {
    server.answerWith((request) => (isFor('hotels')(request) ? 'hang' : 204));
    const [url = ''] = urlsOf('hotels', 1);
    await insertBacklog(db, await credentialsAt(Array.from({ length: 5_100 }, () => url)), 1);
    const behind = await service.tenant();
    const other = await credentialsAt(urlsOf('other', 1), behind.tenantId);
    work();
    await server.waitFor(2);
    await assertSoon(other);
  });
});
