import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { eventRows } from '#test/support/events.ts';
import { book, openHotel, setStayStatus, type TestHotel } from '#test/support/hotel.ts';
import { type CommitProxy, startCommitProxy } from '#test/support/lost-commit.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import type { Answer } from '#test/support/http.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { causeEvent, eventually, isSignedWith, onlyDelivery, placeOrder, register } from '#test/support/webhooks.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';

/**
 * Time limit in milliseconds for the arrival of an event at the receiver. The process that writes an event also claims its delivery with a
 * lease, and sends the event. If this process does not send the event, a worker sends it only after the lease has ended, which is much
 * later than this limit.
 */
const SOON_MS = 5_000;

describe('an event whose COMMIT fails, or whose COMMIT response is lost', {
  skip: (await isTestCluster()) && 'a cluster has no triggers, which these tests use',
}, () => {
  let service: TestService;
  let api: TestService;
  let loser: CommitProxy;
  let receiver: Receiver;
  let hotel: TestHotel;
  let act: () => Promise<Answer>;

  before(async () => {
    service = await startService();
    loser = await startCommitProxy(service.database.url);
    const database = { ...service.database, db: loser.db };
    api = await startService({ beside: { ...service, database }, worker: true });
  });
  after(async () => {
    await api.close();
    await loser.close();
    await service.close();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    hotel = await openHotel(api);
  });
  afterEach(() => receiver.close());

  /** Changes that cause an event, by name. Each function prepares the data, and returns a function that makes the change. */
  const causes: Record<string, () => Promise<() => Promise<Answer>>> = {
    'a status change of an order': async () => {
      const { orderId } = await placeOrder(api, hotel.partner);
      const path = `/v1/staff/orders/${orderId}/status/`;
      return () => api.call('POST', path, { headers: hotel.staff, json: { status: 'confirmed' } });
    },
    'a booking': async () => () => book(api, hotel),
    'a status change of a reservation': async () => {
      const { body } = await book(api, hotel);
      return () => setStayStatus(api, hotel, body.reservation_id, 'no_show');
    },
  };

  /**
   * Calls `act`, the function that makes the change of the current test. This change causes an event. During this call, PostgreSQL refuses
   * the first `times` COMMITs of transactions that write an event, with the SQLSTATE `state`. Returns the response to the change.
   */
  async function actWhereCommitsFail(times: number, state: string): Promise<Answer> {
    const { db } = service.database;
    await sql`CREATE SEQUENCE commits`.execute(db);
    await sql`
      CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('commits') <= ${sql.lit(times)} THEN RAISE 'refused' USING ERRCODE = ${sql.lit(state)}; END IF;
        RETURN NULL;
      END $$`.execute(db);
    await sql`
      CREATE CONSTRAINT TRIGGER refuse_commit AFTER INSERT ON event DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION refuse_commit()`.execute(db);
    const answer = await act();
    await sql`DROP FUNCTION refuse_commit CASCADE`.execute(db);
    await sql`DROP SEQUENCE commits`.execute(db);
    return answer;
  }

  it('200: a webhook registration returns the right signing secret even if the response to its COMMIT is lost', async () => {
    const lostBefore = loser.lostCount;
    loser.dropNextCommitResponse();
    const secret = await register(api, hotel.partner, receiver.url);
    assert.equal(loser.lostCount, lostBefore + 1);
    assert.notEqual(secret, '');
    assert.equal(await register(api, hotel.partner, receiver.url), '');
    await causeEvent(api, hotel);
    const [request] = await receiver.waitFor(1);
    assert.ok(request && isSignedWith(secret, request));
  });

  it('200: if the connection is lost and the COMMIT of a status change arrives 500 ms later, the receiver gets one event', async () => {
    act = await (causes['a status change of an order'] ?? assert.fail)();
    await register(api, hotel.partner, receiver.url);
    const lostBefore = loser.lostCount;
    loser.dropNextCommitResponse(500);
    assert.equal((await act()).status, 200);
    // PostgreSQL first releases the locks of the transaction, and then responds to its COMMIT. So the service may respond earlier than the
    // proxy gets this response.
    await eventually(() => loser.lostCount > lostBefore, 'lost response to the COMMIT');
    await assertSentOnce();
  });

  async function assertSentOnce(): Promise<void> {
    await eventually(() => receiver.requests.length > 0, 'delivery from memory', SOON_MS);
    const { attempts } = await onlyDelivery(api, hotel, 'delivered');
    assert.deepEqual(
      attempts.map(({ error }) => error),
      [null],
    );
    await sleep(200);
    assert.equal(receiver.requests.length, 1);
  }

  for (const [name, prepare] of Object.entries(causes)) {
    describe(name, () => {
      beforeEach(async () => {
        act = await prepare();
        await register(api, hotel.partner, receiver.url);
      });

      it(`200 or 201: if the response to the COMMIT is lost, the event of ${name} is sent within 5 s and only once`, async () => {
        const lostBefore = loser.lostCount;
        loser.dropNextCommitResponse();
        const { status, text } = await act();
        assert.ok(status === 200 || status === 201, text);
        assert.equal(loser.lostCount, lostBefore + 1);
        await assertSentOnce();
      });

      it(`200 or 201: if the COMMIT fails and the retry succeeds, the event of ${name} is sent only once`, async () => {
        const { status, text } = await actWhereCommitsFail(1, '40001');
        assert.ok(status === 200 || status === 201, text);
        await assertSentOnce();
      });

      it(`500: if every COMMIT fails, the event of ${name} is neither stored nor sent`, async () => {
        const rowsBefore = (await eventRows(service.database.db, hotel.tenantId)).length;
        const { status } = await actWhereCommitsFail(1_000, 'P0001');
        assert.equal(status, 500);
        await sleep(300);
        assert.equal(receiver.requests.length, 0);
        assert.equal((await eventRows(service.database.db, hotel.tenantId)).length, rowsBefore);
      });
    });
  }
});
