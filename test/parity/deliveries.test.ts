import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { newId } from '#platform/lib/ids.ts';
import * as deliveries from '#webhooks/deliveries/store.ts';
import type { DeliveryStatus, Lease } from '#webhooks/events/events.ts';
import { startService, type TestService } from '../support/service.ts';
import { testEachForm, type Operation } from './forms.ts';
import { Hotels, instantAt, oddText, times } from './odd-inputs.ts';
import { isTestCluster } from '../support/test-cluster.ts';

let service: TestService;
let hotels: Hotels;
before(async () => {
  service = await startService();
  hotels = await Hotels.open(service);
});
after(() => service.close());

const LEASE: Lease = { id: newId(), seconds: 3_000, beginBeforeMs: 0 };
const LEASE_OF_OTHER_WORKER = newId();
const FIRST_ATTEMPT = { at: '2030-01-01T00:00:00+00:00', http_status: 500, duration_ms: 7, error: 'http_status' };

interface StoredDelivery {
  id: string;
  status: DeliveryStatus;
  attemptCount: number;
  attempts: object[];
  answers: object | null;
  /** Seconds from now until the delivery is due. A negative number means that it is already due. */
  dueIn: number;
  /** Seconds from now until the lease ends, or null if no worker has claimed the delivery. */
  leasedFor: number | null;
  leaseId: string | null;
}

/** Credential with its deliveries. If `hasUrl` is false, the webhook URL of the credential was removed. */
interface Receiver {
  tenantId: number;
  credentialId: string;
  isActive: boolean;
  hasUrl: boolean;
  stored: StoredDelivery[];
}

function receiverAt(index: number, stored: StoredDelivery[]): Receiver {
  const { tenantId } = hotels.at(index);
  return { tenantId, credentialId: newId(), isActive: index % 5 !== 4, hasUrl: index % 7 !== 5, stored };
}

/**
 * Returns a delivery that has been due for one second and that no process has claimed. `changes` replaces fields of the
 * delivery.
 */
function deliveryWith(changes: Partial<StoredDelivery>): StoredDelivery {
  const due = { status: 'pending', attemptCount: 0, dueIn: -1, leasedFor: null, leaseId: null } as const;
  return { ...due, id: newId(), attempts: [], answers: null, ...changes };
}

const urlOf = ({ credentialId, hasUrl }: Pick<Receiver, 'credentialId' | 'hasUrl'>) =>
  hasUrl ? `https://${credentialId}.example/` : '';

async function store(db: Database, receivers: Receiver[]): Promise<void> {
  await sql`DELETE FROM event`.execute(db);
  await sql`DELETE FROM delivery`.execute(db);
  for (const { tenantId, credentialId, isActive, hasUrl, stored } of receivers) {
    await sql`
      INSERT INTO credential (tenant_id, id, audience, label, api_key, secret_hash, webhook_url, webhook_secret, is_active)
      VALUES (${tenantId}, ${credentialId}, 'third_party', 'parity', ${credentialId}, 'x', ${urlOf({ credentialId, hasUrl })},
        ${hasUrl ? 'secret' : null}, ${isActive})
      ON CONFLICT DO NOTHING
    `.execute(db);
    for (const [index, delivery] of stored.entries()) {
      await sql`
        INSERT INTO event (tenant_id, id, credential_id, type, body, created_at)
        VALUES (${tenantId}, ${delivery.id}, ${credentialId}, 'order.status_changed', ${oddText(index)}, ${instantAt(index)})
      `.execute(db);
      await sql`
        INSERT INTO delivery (tenant_id, id, credential_id, status, attempt_count, attempts, next_attempt_at, leased_until, claimed_at,
          lease_id, answers)
        VALUES (${tenantId}, ${delivery.id}, ${credentialId}, ${delivery.status}, ${delivery.attemptCount},
          ${JSON.stringify(delivery.attempts)}::jsonb, now() + make_interval(secs => ${delivery.dueIn}),
          now() + make_interval(secs => ${delivery.leasedFor}), ${delivery.attemptCount > 0 ? instantAt(index) : null},
          ${delivery.leaseId}, ${delivery.answers && JSON.stringify(delivery.answers)}::jsonb)
      `.execute(db);
    }
  }
}

interface ClaimInput extends Receiver {
  count: number;
}

/**
 * Three deliveries, each given by some of its fields. A claim must take no delivery of this list. The first delivery is not due yet, the
 * second is claimed by another worker, and the third is delivered already.
 */
const NOT_DUE: Partial<StoredDelivery>[] = [
  { dueIn: 3_600 },
  { leasedFor: 3_600, attemptCount: 1, leaseId: LEASE_OF_OTHER_WORKER },
  { status: 'delivered', attemptCount: 1, attempts: [FIRST_ATTEMPT] },
];

const claimDue: Operation<ClaimInput, object> = {
  name: 'claim of deliveries',
  writes: { table: 'delivery', key: ['id'], without: ['next_attempt_at', 'leased_until', 'claimed_at'] },
  inputs: (count) =>
    times(count, (index) => {
      const due = [
        deliveryWith({ dueIn: -40, attemptCount: 1, attempts: [FIRST_ATTEMPT] }),
        deliveryWith({ dueIn: -30, leasedFor: -20, attemptCount: 2, attempts: [FIRST_ATTEMPT], leaseId: newId() }),
        deliveryWith({ dueIn: -20, leasedFor: -10, attemptCount: 5, leaseId: newId() }),
        deliveryWith({ dueIn: -10 }),
      ];
      // An input of a claim is a credential and the number of deliveries to claim for it. One claim takes at most `CLAIM_SIZE` deliveries
      // for all inputs together. If there are many inputs, each input asks for only one delivery, so that the claim does not exceed this
      // limit.
      const wanted = count > 64 ? 1 : 1 + (index % 3);
      const first = index % due.length;
      const stored = [...due.slice(first), ...NOT_DUE.map((changes) => deliveryWith(changes))];
      return { ...receiverAt(index, stored), count: wanted };
    }),
  prepare: store,
  async run(db, inputs) {
    const claimed = await deliveries.claimDue(db, inputs, LEASE);
    for (const { waitedSeconds, claimedAtMs } of claimed.deliveries) {
      assert.ok(waitedSeconds > 9 && waitedSeconds < 1_000, `waited for ${waitedSeconds} s`);
      assert.ok(Math.abs(Date.now() - claimedAtMs) < 60_000, `claimed at ${claimedAtMs}`);
    }
    return [
      ...claimed.deliveries.map(({ waitedSeconds: _, claimedAtMs: __, webhookSecret, ...delivery }) => ({
        ...delivery,
        webhookSecret: webhookSecret.toString(),
      })),
      ...Array.from(claimed.takenOf, ([credentialId, taken]) => ({ credentialId, taken })),
    ];
  },
  order: byKey,
  async check(db, inputs, outputs) {
    const { rows } = await sql<{
      id: string;
      status: string;
      attempt_count: number;
      attempts: object[];
      is_leased: boolean;
    }>`
      SELECT id, status, attempt_count, attempts, lease_id = ${LEASE.id} AND leased_until > now() + interval '2000 s' AS is_leased
      FROM delivery
    `.execute(db);
    const expected: object[] = [];
    for (const input of inputs) {
      const { tenantId, credentialId, hasUrl, stored } = input;
      const isActive = input.isActive && hasUrl;
      const claimed = stored.filter(isDue).slice(0, input.count);
      expected.push(...(claimed.length > 0 ? [{ credentialId, taken: claimed.length }] : []));
      for (const [index, delivery] of stored.entries()) {
        const { id, attemptCount, attempts } = delivery;
        const row = rows.find((each) => each.id === id) ?? assert.fail();
        if (!claimed.includes(delivery)) {
          assert.deepEqual([row.status, row.attempt_count, row.attempts], [delivery.status, attemptCount, attempts]);
          assert.notEqual(row.is_leased, true);
          continue;
        }
        const isSent = isActive && attemptCount < 5;
        assert.equal(row.status, isActive ? (isSent ? 'pending' : 'failed') : 'stopped');
        assert.equal(row.attempt_count, attemptCount + (isSent ? 1 : 0));
        const lost = attemptCount > attempts.length ? ['no_outcome'] : [];
        assert.deepEqual(errorsOf(row.attempts), [...errorsOf(attempts), ...lost]);
        assert.equal(row.is_leased, true);
        if (isSent) {
          expected.push({
            tenantId,
            eventId: id,
            credentialId,
            body: oddText(index),
            createdAtMs: instantAt(index).getTime(),
            attempt: attemptCount + 1,
            lease: LEASE,
            webhookUrl: urlOf(input),
            webhookSecret: 'secret',
          });
        }
      }
    }
    assert.deepEqual(outputs, expected.sort(byKey));
  },
};

function isDue({ status, dueIn, leasedFor }: StoredDelivery): boolean {
  return status === 'pending' && dueIn < 0 && (leasedFor ?? 0) <= 0;
}

function errorsOf(attempts: object[]): unknown[] {
  return attempts.map((attempt) => (attempt as { error: unknown }).error);
}

function byKey(a: object, b: object): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

interface OutcomeInput extends Receiver {
  outcome: Pick<deliveries.Outcome, 'result' | 'answer' | 'status' | 'retryInMs'>;
  /** False if another worker claimed the delivery during the attempt of this worker. */
  isMine: boolean;
}

const AT = '2031-01-01T00:00:00.123Z';
const TIMESTAMP = 1_900_000_000;
const OUTCOMES: OutcomeInput['outcome'][] = [
  {
    result: { at: AT, http_status: 204, duration_ms: 3, error: null, timestamp: TIMESTAMP },
    answer: null,
    status: 'delivered',
    retryInMs: 0,
  },
  {
    result: { at: AT, http_status: 500, duration_ms: 4, error: 'http_status', timestamp: TIMESTAMP },
    answer: '"a", {b}\n\\ \u{FFFD} 🛎',
    status: 'pending',
    retryInMs: 50_000,
  },
  { result: null, answer: null, status: 'pending', retryInMs: 0 },
  {
    result: { at: AT, http_status: null, duration_ms: 10_000, error: 'timeout', timestamp: null },
    answer: null,
    status: 'failed',
    retryInMs: 0,
  },
  {
    result: { at: AT, http_status: 400, duration_ms: 5, error: 'http_status', timestamp: TIMESTAMP },
    answer: '',
    status: 'failed',
    retryInMs: 0,
  },
];

const recordOutcomes: Operation<OutcomeInput, string | null> = {
  name: 'record of outcomes',
  writes: { table: 'delivery', key: ['id'], without: ['next_attempt_at', 'leased_until'] },
  inputs: (count) =>
    times(count, (index) => {
      const isMine = index % 7 !== 6;
      const leaseId = isMine ? LEASE.id : LEASE_OF_OTHER_WORKER;
      // Every third delivery is stopped, as if the webhook URL had been removed during the attempt.
      const status = index % 3 === 1 ? 'stopped' : 'pending';
      const answers = index % 2 === 0 ? null : { 1: oddText(index) };
      const stored = deliveryWith({
        status,
        leasedFor: 3_600,
        attemptCount: 2,
        attempts: [FIRST_ATTEMPT],
        answers,
        leaseId,
      });
      return { ...receiverAt(index, [stored]), outcome: OUTCOMES[index % OUTCOMES.length] ?? assert.fail(), isMine };
    }),
  prepare: store,
  async run(db, inputs) {
    const outcomes = inputs.map(({ tenantId, credentialId, stored, outcome }) => ({
      ...outcome,
      delivery: {
        tenantId,
        credentialId,
        eventId: stored[0]?.id ?? '',
        lease: LEASE,
        body: '',
        createdAtMs: 0,
        attempt: 2,
        waitedSeconds: 0,
        claimedAtMs: 0,
        webhookUrl: '',
        webhookSecret: Buffer.of(),
      },
    }));
    const recorded = await deliveries.recordOutcomes(db, outcomes);
    return outcomes.map(({ delivery }) => (recorded.has(delivery.eventId) ? delivery.eventId : null));
  },
  async check(db, inputs, outputs) {
    const { rows } = await sql<{
      id: string;
      status: string;
      attempt_count: number;
      attempts: object[];
      answers: object | null;
      lease_id: string | null;
      due_in: number;
    }>`
      SELECT id, status, attempt_count, attempts, answers, lease_id, extract(epoch FROM next_attempt_at - now())::float8 AS due_in FROM delivery
    `.execute(db);
    for (const [index, { stored, outcome, isMine }] of inputs.entries()) {
      const id = stored[0]?.id;
      assert.equal(outputs[index], isMine ? id : null);
      const row = rows.find((each) => each.id === id) ?? assert.fail();
      if (!isMine) {
        const kept = [stored[0]?.status, [FIRST_ATTEMPT], LEASE_OF_OTHER_WORKER];
        assert.deepEqual([row.status, row.attempts, row.lease_id], kept);
        assert.deepEqual(row.answers, stored[0]?.answers);
        continue;
      }
      const { result, answer, status, retryInMs } = outcome;
      const kept = stored[0]?.answers ?? null;
      assert.deepEqual(row.answers, answer === null ? kept : { ...kept, 2: answer });
      const attempt = result === null ? [] : [result];
      assert.deepEqual(row.attempts, [FIRST_ATTEMPT, ...attempt]);
      const expected = stored[0]?.status === 'stopped' && status !== 'delivered' ? 'stopped' : status;
      assert.deepEqual([row.status, row.attempt_count, row.lease_id], [expected, result === null ? 1 : 2, null]);
      const expectedDueIn = result === null ? -1 : retryInMs / 1000;
      assert.ok(Math.abs(row.due_in - expectedDueIn) < 30, `due in ${row.due_in} s`);
    }
  },
};

describe('the statements of the delivery queue, with one input and with several inputs', {
  skip: (await isTestCluster()) && 'the forms for one node do not run on a cluster',
}, () => {
  testEachForm(() => service, claimDue);
  testEachForm(() => service, recordOutcomes);
});

describe('the searches of the delivery queue over all tenants', {
  skip: (await isTestCluster()) && 'the forms for one node do not run on a cluster',
}, () => {
  it('the statements for a cluster find the same credentials and the same queue state as the statements for one node', async () => {
    const { db, url } = service.database;
    const cluster = createDatabase({ url, poolSize: 2, layout: 'cluster' });
    try {
      const receivers = times(30, (index) =>
        receiverAt(index, [
          ...(index % 3 === 0 ? [] : [deliveryWith({ dueIn: -5 - index }), deliveryWith({ dueIn: -3 })]),
          ...NOT_DUE.map((changes) => deliveryWith(changes)),
        ]),
      );
      await store(db, receivers);
      const find = async (on: Database) => {
        const first = await deliveries.findDueQueues(on, { after: null, limit: 7, passOver: [] });
        const next = await deliveries.findDueQueues(on, { after: first.at(-1) ?? null, limit: 100, passOver: [] });
        const passOver = first.map(({ webhookUrl }) => webhookUrl);
        const others = await deliveries.findDueQueues(on, { after: null, limit: 100, passOver });
        return { first, next, others };
      };
      const found = await find(db);
      const due = receivers.filter((_, index) => index % 3 !== 0);
      assert.equal(found.first.length, 7);
      assert.deepEqual(
        [...found.first, ...found.next].map(({ credentialId }) => credentialId).sort(),
        due.map(({ credentialId }) => credentialId).sort(),
      );
      assert.ok(
        found.others.every(
          (queue) => !queue.isActive || !found.first.some((each) => each.credentialId === queue.credentialId),
        ),
      );
      assert.deepEqual(await find(cluster), found);

      const [state, ofCluster] = [await deliveries.readQueueState(db), await deliveries.readQueueState(cluster)];
      assert.equal(state.pending, due.length * 2 + receivers.length * 2);
      assert.equal(ofCluster.pending, state.pending);
      assert.ok(
        Math.abs(state.oldestDueSeconds - 34) < 30 && state.oldestDueSeconds >= 34,
        String(state.oldestDueSeconds),
      );
      assert.ok(Math.abs(ofCluster.oldestDueSeconds - state.oldestDueSeconds) < 10);
    } finally {
      await cluster.destroy();
    }
  });
});
