import { type RawBuilder, sql } from 'kysely';
import type { Database, Db } from '#platform/db/database.ts';
import { Fields, type Share, sharesOf } from '#platform/db/inputs.ts';
import { given, type KeysetList, NEWEST_FIRST } from '#platform/db/keyset-list.ts';
import { executeAllByIndex, executeByIndex } from '#platform/db/transaction.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import type { DeliveryStatus, DueCredential, EventSubject, StoredAttempts } from '../events/events.ts';
import { type ClaimedDelivery, type Lease, MAX_ATTEMPTS, type Outcome } from './outcomes.ts';
import type { DeliveryQuery } from './schema.ts';

/** Row of a claim. Its delivery is sent if the status is still `pending`, otherwise it has ended with the claim. */
type ClaimedRow = ClaimedDelivery & { status: DeliveryStatus };

/** No worker has leased the delivery. */
const IS_FREE = sql`(leased_until IS NULL OR leased_until <= now())`;

const IS_SENT = sql`c.is_active AND c.webhook_url <> ''`;

/** SQL for a new entry of `attempts` if the last attempt has no recorded outcome, for example because its worker died, or else NULL. */
const NO_OUTCOME = sql`CASE WHEN attempt_count > jsonb_array_length(attempts)
  THEN jsonb_build_object('at', claimed_at, 'http_status', NULL, 'duration_ms', NULL, 'error', 'no_outcome') END`;

/** Maximum number of deliveries in one claim. It is small, so that the attempt of the last delivery begins soon after the claim. */
export const CLAIM_SIZE = 200;

/** Number of due deliveries up to which a search reads only them. Above it, a queue may be so long that it hides the others. */
const FEW = 200;
/** The URL is empty if the credential is revoked or has no webhook. Its deliveries are then stopped and not sent. */
const QUEUE = sql`c.tenant_id AS "tenantId", c.id AS "credentialId", CASE WHEN ${IS_SENT} THEN c.webhook_url ELSE '' END AS "webhookUrl"`;
const BEFORE_ALL = { tenantId: 0, credentialId: '00000000-0000-0000-0000-000000000000' };

/** Maximum number of deliveries that one statement stops. It is small, so that the statement holds its locks only briefly. */
const STOP_SIZE = 1_000;

export type Wanted = Omit<DueCredential, 'webhookUrl'> & { count: number };

/**
 * Returns credentials of any tenant that have due deliveries. Looks for a due delivery of each credential only if many deliveries are due.
 * @param after last credential that the previous search found; null: the search begins with the first credential of the first tenant
 */
export async function findDue(db: Db, after: DueCredential | null, limit: number): Promise<DueCredential[]> {
  const statement = sql<DueCredential>`
    SELECT ${QUEUE} FROM delivery AS d JOIN credential AS c ON c.tenant_id = d.tenant_id AND c.id = d.credential_id
    WHERE d.status = 'pending' AND d.next_attempt_at > '-infinity' AND d.next_attempt_at <= now() AND ${IS_FREE}
    ORDER BY d.next_attempt_at LIMIT ${FEW}`;
  const { rows } = await executeByIndex(db, statement);
  return rows.length < Math.min(FEW, limit) ? rows : await findDueQueues(db, after, limit);
}

/** Finds the same in the order of tenants and credentials. A long queue costs no more than a short queue. */
export async function findDueQueues(db: Db, after: DueCredential | null, limit: number): Promise<DueCredential[]> {
  const { tenantId, credentialId } = after ?? BEFORE_ALL;
  const statement = sql<DueCredential>`
    SELECT ${QUEUE} FROM credential AS c CROSS JOIN LATERAL (
      SELECT tenant_id FROM delivery
      WHERE tenant_id = c.tenant_id AND credential_id = c.id AND status = 'pending' AND next_attempt_at <= now() AND ${IS_FREE} LIMIT 1
    ) AS due
    WHERE (c.tenant_id, c.id) > (${tenantId}, ${credentialId}::uuid)
    ORDER BY c.tenant_id, c.id LIMIT ${limit}`;
  return (await executeByIndex(db, statement)).rows;
}

const WANTED = new Fields<{ tenant_id: number; credential_id: string; count: number }>({
  tenant_id: 'bigint',
  credential_id: 'uuid',
  count: 'int',
});

export interface Turn {
  /** Ids of the events whose outcomes were recorded. */
  recorded: Set<string>;
  claimed: ClaimedRow[];
  /** Errors of what could be neither recorded nor claimed. On a cluster, this is the work for the tenants whose node is down. */
  failed: Map<Outcome | Wanted, unknown>;
}

/**
 * Records the outcomes of attempts, and claims due deliveries of several credentials, at most `CLAIM_SIZE` in total. Both statements share
 * one transaction. On one node, they are of the few statements that may write rows of several tenants. On a cluster,
 * each tenant has a transaction of its own.
 *
 * The claim counts an attempt for each delivery before the event is sent, and leases the delivery. The same statement ends the deliveries
 * that must not be sent: those of a credential that is revoked (rule 34) or has no URL, and those whose fifth attempt has no recorded
 * outcome (rule 33). An outcome is recorded only if no other worker has claimed the delivery since, so only with the same lease id.
 */
export async function recordAndClaim(db: Db, outcomes: Outcome[], wanted: Wanted[], lease: Lease): Promise<Turn> {
  const inputs = [...outcomes.toSorted(byKey), ...wanted];
  const turn: Turn = { recorded: new Set(), claimed: [], failed: new Map() };
  const shares = sharesOf(db, inputs, (input) => ('delivery' in input ? input.delivery.tenantId : input.tenantId));
  await Promise.all(shares.map((share) => takeShare(db, share, lease, turn)));
  return turn;
}

async function takeShare(db: Db, share: Share<Outcome | Wanted>, lease: Lease, turn: Turn): Promise<void> {
  const { inputs, tenantOf } = share;
  const outcomes = inputs.filter((input) => 'delivery' in input);
  const wanted = inputs.filter((input) => 'count' in input);
  const recording = outcomes.length > 0 ? [record({ inputs: outcomes, tenantOf })] : [];
  const claiming = wanted.length > 0 ? [claim({ inputs: wanted, tenantOf }, lease)] : [];
  try {
    const results = await executeAllByIndex(db, [...recording, ...claiming]);
    const rows = results.flatMap((result) => result.rows as ({ id: string } | Omit<ClaimedRow, 'lease'>)[]);
    for (const row of rows) {
      if ('id' in row) {
        turn.recorded.add(row.id);
      } else {
        turn.claimed.push({ ...row, lease });
      }
    }
  } catch (error) {
    inputs.forEach((input) => turn.failed.set(input, error));
  }
}

/** Compares outcomes by the key of the delivery. All statements lock deliveries in this order, so that they cannot deadlock. */
function byKey({ delivery: a }: Outcome, { delivery: b }: Outcome): number {
  return a.tenantId - b.tenantId || (a.eventId < b.eventId ? -1 : 1);
}

/**
 * Returns the statement of a claim. Each part of the SQL has a reason:
 * - The UPDATE does not join the table of credentials, because the CTE `due` already has the fields of the credential. If the table of
 *   deliveries was empty at the last ANALYZE, PostgreSQL would plan such a join for an empty table. It could then read all deliveries of
 *   the tenant for each claimed delivery.
 * - `due` calls now(), and SET uses only the result, because a cluster accepts only immutable functions in SET.
 * - SET changes an indexed column only if the delivery becomes `failed` or `stopped`. So most updates need not write to an index.
 * - `due` is materialised and locks the rows. The shorter form `id IN (SELECT … LIMIT … SKIP LOCKED)` would be wrong. PostgreSQL could run
 *   this SELECT several times, and each run would claim as many rows as the LIMIT allows.
 * - The LIMIT of `due` is a number in the SQL text (`CLAIM_SIZE`) and not a parameter, so the planner knows the maximum number of claimed
 *   deliveries. Otherwise the planner would expect too many deliveries, and would read the whole table.
 */
function claim({ inputs, tenantOf }: Share<Wanted>, lease: Lease): RawBuilder<unknown> {
  const wanted = inputs.map(({ tenantId: tenant_id, credentialId: credential_id, count }) => ({
    tenant_id,
    credential_id,
    count,
  }));
  return sql`
    WITH wanted AS MATERIALIZED (
      SELECT given.*, ${IS_SENT} AS is_active, c.webhook_url, c.webhook_secret
      FROM ${WANTED.list(wanted)} CROSS JOIN LATERAL (
        SELECT is_active, webhook_url, webhook_secret FROM credential
        WHERE tenant_id = ${tenantOf('given')} AND id = given.credential_id LIMIT 1
      ) AS c
    ), due AS MATERIALIZED (
      SELECT picked.*, now() AS claimed_at, extract(epoch FROM now())::float8 * 1000 AS claimed_at_ms, now() + make_interval(secs => ${lease.seconds}) AS leased_until, wanted.is_active,
        wanted.webhook_url, wanted.webhook_secret
      FROM wanted CROSS JOIN LATERAL (
        SELECT tenant_id, id, ${NO_OUTCOME} AS no_outcome, attempt_count < ${MAX_ATTEMPTS} AS has_attempts_left,
          extract(epoch FROM now() - greatest(next_attempt_at, leased_until))::float8 AS waited_seconds
        FROM delivery
        WHERE tenant_id = ${tenantOf('wanted')} AND credential_id = wanted.credential_id AND status = 'pending' AND next_attempt_at <= now() AND ${IS_FREE}
        ORDER BY next_attempt_at LIMIT wanted.count FOR UPDATE SKIP LOCKED
      ) AS picked LIMIT ${sql.lit(CLAIM_SIZE)}
    ), claimed AS (
      UPDATE delivery AS d SET
        status = CASE WHEN NOT due.is_active THEN 'stopped' WHEN due.has_attempts_left THEN 'pending' ELSE 'failed' END,
        attempt_count = d.attempt_count + (due.is_active AND due.has_attempts_left)::int,
        attempts = CASE WHEN due.no_outcome IS NULL THEN d.attempts ELSE d.attempts || due.no_outcome END,
        leased_until = due.leased_until,
        claimed_at = CASE WHEN due.is_active AND due.has_attempts_left THEN due.claimed_at ELSE d.claimed_at END,
        lease_id = ${lease.id}
      FROM due WHERE d.tenant_id = ${tenantOf('due')} AND d.id = due.id
      RETURNING d.tenant_id, d.id, d.credential_id, d.attempt_count, d.status, due.waited_seconds, due.webhook_url, due.webhook_secret,
        due.claimed_at_ms
    )
    SELECT claimed.tenant_id AS "tenantId", claimed.id AS "eventId", claimed.credential_id AS "credentialId", status, attempt_count AS attempt,
      waited_seconds AS "waitedSeconds", webhook_url AS "webhookUrl", webhook_secret AS "webhookSecret", claimed_at_ms AS "claimedAtMs",
      e.body, e.created_at_ms AS "createdAtMs"
    FROM claimed CROSS JOIN LATERAL (
      SELECT body, extract(epoch FROM created_at)::float8 * 1000 AS created_at_ms FROM event
      WHERE tenant_id = ${tenantOf('claimed')} AND id = claimed.id LIMIT 1
    ) AS e`;
}

/** A delivery that was stopped during its attempt stays stopped, unless the receiver has accepted it. `o` calls now() for the cluster. */
function record({ inputs, tenantOf }: Share<Outcome>): RawBuilder<unknown> {
  return sql`
    WITH o AS MATERIALIZED (
      SELECT given.*, now() + make_interval(secs => given.retry_seconds) AS retry_at FROM ${OUTCOME.list(inputs.map(inputOf))}
    )
    UPDATE delivery AS d SET
      status = CASE WHEN d.status = 'stopped' AND o.status <> 'delivered' THEN d.status ELSE o.status END,
      attempt_count = d.attempt_count - (o.result IS NULL)::int,
      attempts = CASE WHEN o.result IS NULL THEN d.attempts ELSE d.attempts || o.result::jsonb END,
      answers = CASE WHEN o.answer IS NULL THEN d.answers ELSE coalesce(d.answers, '{}'::jsonb) || o.answer::jsonb END,
      next_attempt_at = CASE WHEN o.result IS NULL THEN d.next_attempt_at ELSE o.retry_at END,
      leased_until = NULL,
      lease_id = NULL
    FROM o WHERE d.tenant_id = ${tenantOf('o')} AND d.id = o.id AND d.lease_id = o.lease_id
    RETURNING d.id`;
}

/** `result` is an entry of the column `attempts`. Its `timestamp` is that of the signature, in seconds of Unix time. */
function inputOf({ delivery, sent, status, retryInMs }: Outcome) {
  const ids = { tenant_id: delivery.tenantId, id: delivery.eventId, lease_id: delivery.lease.id };
  const outcome = { ...ids, status, retry_seconds: retryInMs / 1000 };
  if (sent === null) {
    return { ...outcome, result: null, answer: null };
  }
  const at = new Date(delivery.claimedAtMs).toISOString();
  const { httpStatus: http_status, durationMs: duration_ms, error, timestampSeconds: timestamp, answer } = sent;
  return {
    ...outcome,
    result: JSON.stringify({ at, http_status, duration_ms, error, timestamp }),
    // Responses to successful attempts are not kept, because no person reads them.
    answer: sent.ok || answer === null ? null : JSON.stringify({ [delivery.attempt]: answer }),
  };
}

const OUTCOME = new Fields<ReturnType<typeof inputOf>>({
  tenant_id: 'bigint',
  id: 'uuid',
  lease_id: 'uuid',
  status: 'text',
  retry_seconds: 'float8',
  result: 'text',
  answer: 'text',
});

/**
 * Stops pending deliveries of events with an id below `beforeId`, but none that is locked. A delivery keeps its lease, so that the outcome
 * of an attempt under way is still recorded. Returns the number of stopped deliveries.
 */
export async function stopBatch(
  db: Database,
  tenantId: number,
  credentialId: string,
  beforeId: string,
): Promise<number> {
  const statement = sql`
    WITH waiting AS MATERIALIZED (
      SELECT id FROM delivery
      WHERE tenant_id = ${tenantId} AND credential_id = ${credentialId} AND status = 'pending' AND id < ${beforeId}
      ORDER BY next_attempt_at LIMIT ${sql.lit(STOP_SIZE)} FOR UPDATE SKIP LOCKED
    )
    UPDATE delivery AS d SET status = 'stopped' FROM waiting
    WHERE d.tenant_id = ${tenantId} AND d.id = waiting.id
    RETURNING d.id`;
  return (await executeByIndex(db, statement)).rows.length;
}

export interface DeliveryFilter extends Pick<DeliveryQuery, 'status' | 'credential_id' | 'event'> {
  ids?: string[] | undefined;
  /** Inclusive, in milliseconds of Unix time. */
  createdFromMs?: number | undefined;
  /** Exclusive. */
  createdToMs?: number | undefined;
}

export interface DeliveryRow extends StoredAttempts {
  id: string;
  status: string;
  next_attempt_at: Date;
  type: string;
  created_at: Date;
  credential_id: string;
  credential_label: string;
  subject: EventSubject;
}

/** `answers` has the kept responses of the receiver by the number of the attempt, from 1. */
export type DetailRow = DeliveryRow & { body: string; answers: Record<string, string> | null };

export function listDeliveries(tenantId: number, filter: DeliveryFilter): KeysetList<DeliveryRow> {
  const { status, credential_id, event, ids, createdFromMs, createdToMs } = filter;
  const createdAt = ofEvent(tenantId, 'created_at');
  return {
    ...NEWEST_FIRST,
    name: 'deliveries',
    from: sql`delivery`,
    ofTenant: sql`tenant_id = ${tenantId}`,
    fromId: createdFromMs === undefined ? undefined : firstIdAt(Math.max(0, createdFromMs - TIME_OF_CHANGE_MS)),
    beforeId: createdToMs === undefined ? undefined : firstIdAt(Math.max(0, createdToMs + TIME_OF_CHANGE_MS)),
    indexed:
      status === undefined || status === 'delivered'
        ? []
        : [{ column: 'status', type: 'text', value: status, where: sql`status <> 'delivered'` }],
    filters: [
      ...(status === 'delivered' ? [sql`status = 'delivered'`] : []),
      ...given(createdFromMs, (ms) => sql`${createdAt} >= ${new Date(ms)}`),
      ...given(createdToMs, (ms) => sql`${createdAt} < ${new Date(ms)}`),
    ],
    searches: [
      ...given(ids, (some) => ({ isMatch: sql`id = ANY (${some}::uuid[])` })),
      ...given(credential_id, (credentialId) => ({
        isMatch: sql`credential_id = ${credentialId}::uuid`,
        ids: sql`SELECT id FROM event WHERE tenant_id = ${tenantId} AND credential_id = ${credentialId}`,
      })),
      ...given(event, (type) => ({
        isMatch: sql`${ofEvent(tenantId, 'type')} = ${type}`,
        ids: sql`SELECT id FROM event WHERE tenant_id = ${tenantId} AND type = ${type}`,
      })),
    ],
    row: rowOf(tenantId, sql`page.id`),
  };
}

/**
 * Longest time in milliseconds between the two times of an event: `created_at`, which is the time of the change, and the time in its id.
 * The id may get its time later, because the transaction of the change may wait for a lock, or may run again.
 */
const TIME_OF_CHANGE_MS = 60_000;

export async function findDelivery(db: Database, tenantId: number, id: string): Promise<DetailRow | undefined> {
  const more = sql`, d.answers, e.body`;
  return (await rowOf<DetailRow>(tenantId, sql`${id}::uuid`, more).execute(db)).rows[0];
}

/** The LIMIT makes the planner look up the event by its key. */
function rowOf<Row extends DeliveryRow>(tenantId: number, id: RawBuilder<unknown>, more = sql``): RawBuilder<Row> {
  return sql`
    SELECT d.id, d.status, d.attempts, d.attempt_count, d.claimed_at, d.next_attempt_at, d.credential_id, e.type, e.created_at, e.subject,
      (SELECT c.label FROM credential AS c WHERE c.tenant_id = ${tenantId} AND c.id = d.credential_id) AS credential_label ${more}
    FROM delivery AS d CROSS JOIN LATERAL (
      SELECT type, created_at, subject, body FROM event WHERE tenant_id = ${tenantId} AND id = d.id LIMIT 1
    ) AS e
    WHERE d.tenant_id = ${tenantId} AND d.id = ${id}`;
}

function ofEvent(tenantId: number, column: 'type' | 'created_at'): RawBuilder<unknown> {
  return sql`(SELECT e.${sql.id(column)} FROM event AS e WHERE e.tenant_id = ${tenantId} AND e.id = delivery.id)`;
}
