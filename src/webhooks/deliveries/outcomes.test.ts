import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type DatabaseProxy, startDatabaseProxy } from '#test/support/database-proxy.ts';
import { deliveryRows, insertBacklog } from '#test/support/events.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { register } from '#test/support/webhooks.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { isCluster } from '#platform/db/database.ts';
import { layoutOf } from '#test/support/test-cluster.ts';
import { UnavailableError } from '#platform/errors.ts';
import { newId } from '#platform/lib/ids.ts';
import type { Attempted } from './attempt.ts';
import { type ClaimedDelivery, type Lease, type Outcome, outcomeOf } from './outcomes.ts';
import { CLAIM_SIZE, recordAndClaim } from './store.ts';

const ANSWERED_500: Attempted = {
  ok: false,
  httpStatus: 500,
  durationMs: 7,
  error: 'http_status',
  phase: 'after',
  answer: 'why',
  timestampSeconds: 1,
};

describe('recordAndClaim', () => {
  let service: TestService;
  let tenant: TestTenant;
  let db: Database;
  let statements: string[] = [];

  before(async () => {
    service = await startService();
    db = createDatabase({
      url: service.database.url,
      poolSize: 4,
      layout: layoutOf(service.database.db),
      log: ({ query }) => void (query.sql.includes('UPDATE') && statements.push(query.sql)),
    });
  });
  after(async () => {
    await db.destroy();
    await service.close();
  });
  beforeEach(async () => {
    tenant = await service.tenant();
    await register(service, tenant.partner, 'https://127.0.0.1:1/nobody');
    statements = [];
  });

  const newLease = (): Lease => ({ id: newId(), seconds: 15, beginBeforeMs: Number.POSITIVE_INFINITY });

  async function claim(count: number, of = tenant): Promise<ClaimedDelivery[]> {
    await insertBacklog(service.database.db, of, count);
    const wanted = [{ tenantId: of.tenantId, credentialId: of.credential.id, count }];
    const claimed: ClaimedDelivery[] = [];
    while (claimed.length < count) {
      const turn = await recordAndClaim(service.database.db, [], wanted, newLease());
      assert.equal(turn.claimed.length, Math.min(CLAIM_SIZE, count - claimed.length));
      claimed.push(...turn.claimed);
    }
    return claimed;
  }

  /** Records outcomes in one transaction. Returns for each outcome if it was recorded. */
  async function record(outcomes: Outcome[], on = db): Promise<boolean[]> {
    const { recorded, failed } = await recordAndClaim(on, outcomes, [], newLease());
    for (const error of failed.values()) {
      throw error;
    }
    return outcomes.map(({ delivery }) => recorded.has(delivery.eventId));
  }

  function delivered(delivery: ClaimedDelivery): Outcome {
    const sent = { ...ANSWERED_500, ok: true, httpStatus: 204, error: null, phase: null };
    return { delivery, sent, status: 'delivered', retryInMs: 0 };
  }

  async function statuses(of = tenant): Promise<Record<string, number>> {
    const rows = await deliveryRows(service.database.db, of.tenantId);
    const byStatus = Map.groupBy(rows, (row) => row.status);
    return Object.fromEntries([...byStatus].map(([status, all]) => [status, all.length]));
  }

  it('600 outcomes of two tenants are recorded with one statement, or on a cluster with one for each tenant', async () => {
    const other = await service.tenant();
    await register(service, other.partner, 'https://127.0.0.1:1/nobody');
    const deliveries = [...(await claim(300)), ...(await claim(300, other))];
    const recorded = await record(deliveries.map(delivered));
    assert.ok(recorded.every((isRecorded) => isRecorded));
    assert.equal(statements.length, isCluster(db) ? 2 : 1);
    assert.deepEqual([await statuses(), await statuses(other)], [{ delivered: 300 }, { delivered: 300 }]);
    const [row] = await deliveryRows(service.database.db, other.tenantId);
    const [attempt, ...others] = (row?.attempts ?? []) as Record<string, unknown>[];
    assert.deepEqual([attempt?.['http_status'], attempt?.['duration_ms'], attempt?.['error']], [204, 7, null]);
    assert.deepEqual([others, row?.lease_id], [[], null]);
  });

  it('the statuses delivered, failed and pending are recorded, and a pending delivery is due after the wait for its retry', async () => {
    const [done, failed, waiting] = await claim(3);
    assert.ok(done && failed && waiting);
    await record([
      delivered(done),
      { delivery: failed, sent: ANSWERED_500, status: 'failed', retryInMs: 0 },
      { delivery: waiting, sent: ANSWERED_500, status: 'pending', retryInMs: 90_500 },
    ]);
    const rows = new Map((await deliveryRows(service.database.db, tenant.tenantId)).map((row) => [row.id, row]));
    const statusOf = ({ eventId }: ClaimedDelivery) => rows.get(eventId)?.status;
    assert.deepEqual([done, failed, waiting].map(statusOf), ['delivered', 'failed', 'pending']);
    const dueInMs = (rows.get(waiting.eventId)?.next_attempt_at.getTime() ?? 0) - Date.now();
    assert.ok(dueInMs > 80_000 && dueInMs < 91_000, `the delivery is due in ${dueInMs} ms`);
  });

  it('if a claimed delivery was not sent, the delivery is due again immediately, and its attempt does not count', async () => {
    const [tried, unsent] = await claim(2);
    assert.ok(tried && unsent);
    const ofTenant = { tenantId: tenant.tenantId, credentialId: tenant.credential.id };
    const outcome: Outcome = { delivery: tried, sent: ANSWERED_500, status: 'pending', retryInMs: 0 };
    // The claim comes after the record in the same transaction, so it takes the delivery that is due again.
    const { recorded, claimed } = await recordAndClaim(db, [outcome], [{ ...ofTenant, count: 1 }], newLease());
    assert.equal(recorded.size, 1);
    const [again] = claimed;
    assert.deepEqual([again?.eventId, again?.attempt], [tried.eventId, 2]);
    assert.deepEqual(await record([unsent, again ?? tried].map((each) => outcomeOf(each, null, () => 0))), [
      true,
      true,
    ]);
    const rows = new Map((await deliveryRows(service.database.db, tenant.tenantId)).map((row) => [row.id, row]));
    const stateOf = ({ eventId }: ClaimedDelivery) => {
      const row = rows.get(eventId);
      return [row?.status, row?.attempt_count, (row?.attempts as unknown[] | undefined)?.length, row?.lease_id];
    };
    assert.deepEqual([tried, unsent].map(stateOf), [
      ['pending', 1, 1, null],
      ['pending', 0, 0, null],
    ]);
    const due = await recordAndClaim(db, [], [{ ...ofTenant, count: 2 }], newLease());
    assert.deepEqual(new Set(due.claimed.map(({ attempt }) => attempt)), new Set([1, 2]));
  });

  it('an outcome in a batch is recorded only if its delivery still has the lease under which the attempt was made', async () => {
    const deliveries = await claim(20);
    const outcomes = deliveries.map((delivery, index) =>
      delivered(index % 2 === 0 ? delivery : { ...delivery, lease: newLease() }),
    );
    const recorded = await record(outcomes);
    assert.deepEqual(
      recorded,
      deliveries.map((_, index) => index % 2 === 0),
    );
    assert.deepEqual(await statuses(), { delivered: 10, pending: 10 });
    const again = await record(deliveries.map(delivered));
    assert.equal(again.filter((isRecorded) => isRecorded).length, 10);
    assert.deepEqual(await statuses(), { delivered: 20 });
  });

  describe('while the database cannot be reached', () => {
    let proxy: DatabaseProxy;
    beforeEach(async () => {
      proxy = await startDatabaseProxy(service.database.url, 2);
    });
    afterEach(() => proxy.close());

    it('recording outcomes fails while the database cannot be reached, and succeeds when the database is back', async () => {
      const deliveries = await claim(30);
      await proxy.refuse();
      await assert.rejects(record(deliveries.map(delivered), proxy.db), UnavailableError);
      assert.deepEqual(await statuses(), { pending: 30 });
      await proxy.restore();
      await record(deliveries.map(delivered), proxy.db);
      assert.deepEqual(await statuses(), { delivered: 30 });
    });
  });
});
