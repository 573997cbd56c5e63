import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { freePort } from '#test/support/command.ts';
import { insertBacklog, insertCredentials, startTestWorker, type Whose, writeEvent } from '#test/support/events.ts';
import { type ReceivedRequest, type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import type { Database } from '#platform/db/database.ts';
import type { DeliveryPace, Worker } from '#service/worker.ts';
import { createTransactionWithEvents, type TransactionWithEvents } from '../events/events.ts';

const ROUNDS = 6;

/** Against receivers that hang, refuse or fail, and against backlogs: nobody waits for anybody else. */
describe('the event of one', () => {
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
    // What is left would be sent by the next test's worker, and what is only deleted would still be read through.
    await sql`TRUNCATE event`.execute(db);
  });

  const work = (pace: DeliveryPace = {}) => (worker = startTestWorker(service, pace));
  /** One HTTPS server is many receivers: each path is a URL of its own. */
  const urlsOf = (name: string, count: number, port = server.port) =>
    Array.from({ length: count }, (_, index) => `https://127.0.0.1:${port}/${name}/${index}`);
  const credentialsAt = (urls: string[], whose = tenantId) => insertCredentials(service, whose, urls);
  const isFor = (name: string) => (request: ReceivedRequest) => request.path.startsWith(`/${name}/`);
  const requestsTo = (name: string) => server.requests.filter(isFor(name));

  /** How long each event took until it arrived, the longest last. */
  function latenciesOf(name: string): number[] {
    return requestsTo(name)
      .map(({ at, rawBody }) => at - Date.parse(JSON.parse(rawBody.toString()).occurred_at))
      .sort((a, b) => a - b);
  }

  async function writeEach(transaction: TransactionWithEvents, all: Whose[]): Promise<void> {
    for (let done = 0; done < all.length; done += 5) {
      await Promise.all(all.slice(done, done + 5).map((whose) => writeEvent(transaction, whose)));
    }
  }

  describe('does not wait where 10 of 50 receivers', () => {
    /** For the dead more is due than there are slots in all; then events of all fifty come. */
    async function deliverBesideTheDead(t: TestContext, isLocal: boolean, deadPort?: number): Promise<void> {
      const dead = await credentialsAt(urlsOf('dead', 10, deadPort));
      const well = await credentialsAt(urlsOf('well', 40));
      await insertBacklog(db, dead, 60);
      const { deliveries } = work({ drawWaitMs: () => 500, probeRestMs: 250 });
      const transaction = createTransactionWithEvents(db, isLocal ? deliveries : null);
      await sleep(300);
      for (let round = 0; round < ROUNDS; round += 1) {
        await writeEach(transaction, [...dead, ...well]);
        await sleep(50);
      }
      await eventually(() => requestsTo('well').length >= 40 * ROUNDS, 'arrival of the others', 5_000);
      const latencies = latenciesOf('well');
      const p99Ms = latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
      t.diagnostic(`the others' events: p99 ${p99Ms} ms`);
      assert.equal(latencies.length, 40 * ROUNDS);
      assert.ok((latencies.at(-1) ?? 0) < 2_000, `the slowest took ${latencies.at(-1)} ms`);
    }

    const hangOrAnswer = (request: ReceivedRequest) => (isFor('dead')(request) ? 'hang' : 204);

    it('hang: from memory', async (t) => {
      server.answerWith(hangOrAnswer);
      await deliverBesideTheDead(t, true);
      assert.ok(requestsTo('dead').length >= 10);
    });

    it('hang: by the scan', async (t) => {
      server.answerWith(hangOrAnswer);
      await deliverBesideTheDead(t, false);
      assert.ok(requestsTo('dead').length >= 10);
    });

    it('refuse: from memory', async (t) => {
      await deliverBesideTheDead(t, true, await freePort());
    });

    it('answer 500: by the scan', async (t) => {
      server.answerWith((request) => (isFor('dead')(request) ? 500 : 204));
      await deliverBesideTheDead(t, false);
      assert.ok(requestsTo('dead').length >= 10);
    });
  });

  /** One event after the other, each found by the scan. */
  async function assertSoon(whose: Whose[], withinMs: number): Promise<void> {
    for (let round = 1; round <= 3; round += 1) {
      await writeEach(createTransactionWithEvents(db, null), whose);
      await eventually(() => requestsTo('other').length >= round, 'event of the other');
    }
    assert.ok((latenciesOf('other').at(-1) ?? 0) < withinMs, `${latenciesOf('other').join(', ')} ms`);
  }

  it('does not wait for 20,000 events of another one', async () => {
    const [busy, other] = [await credentialsAt(urlsOf('busy', 1)), await credentialsAt(urlsOf('other', 1))];
    await insertBacklog(db, busy, 20_000);
    work();
    await eventually(() => requestsTo('busy').length > 100, 'start of the backlog');
    await assertSoon(other, 1_000);
    assert.ok(requestsTo('busy').length < 20_000);
  });

  it('does not wait until the deliveries of the revoked are stopped', async () => {
    const revoked = await credentialsAt(urlsOf('revoked', 40));
    await db.updateTable('credential').set({ is_active: false }).where('tenant_id', '=', tenantId).execute();
    const other = await credentialsAt(urlsOf('other', 1));
    await insertBacklog(db, revoked, 500);
    work();
    await assertSoon(other, 1_500);
    assert.equal(requestsTo('revoked').length, 0);
  });

  it('is found behind 5,100 credentials that all wait for one receiver, which hangs', async () => {
    server.answerWith((request) => (isFor('hotels')(request) ? 'hang' : 204));
    const [url = ''] = urlsOf('hotels', 1);
    await insertBacklog(db, await credentialsAt(Array.from({ length: 5_100 }, () => url)), 1);
    const behind = await service.tenant();
    const other = await credentialsAt(urlsOf('other', 1), behind.tenantId);
    work();
    await server.waitFor(4);
    await assertSoon(other, 2_000);
  });

  it('is found among those of 5,000 others: none is passed over', async () => {
    await insertBacklog(db, await credentialsAt(urlsOf('revoked', 5_001)), 1);
    await db.updateTable('credential').set({ is_active: false }).where('tenant_id', '=', tenantId).execute();
    work();
    const left = db.selectFrom('event').select('id').where('delivery_status', '=', 'pending').limit(1);
    await eventually(async () => (await left.execute()).length === 0, 'end of all 5,001');
  });
});
