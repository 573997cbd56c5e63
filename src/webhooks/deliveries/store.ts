import { type RawBuilder, sql } from 'kysely';
import type { Database, Db } from '#platform/db/database.ts';
import { type Share, sharesOf } from '#platform/db/inputs.ts';
import { isUnavailable } from '#platform/db/failures.ts';
import { executeByIndex } from '#platform/db/transaction.ts';
import type { ClaimedDelivery, DeliveryStatus, DueQueue, Lease } from '../events/events.ts';
import { MAX_ATTEMPTS } from './retry.ts';

/** SQL condition for a delivery that no worker has leased, so a worker may claim it. */
const IS_FREE = sql`(leased_until IS NULL OR leased_until <= now())`;

const BEFORE_ALL = { tenantId: 0, credentialId: '00000000-0000-0000-0000-000000000000' };

/** Search for credentials with due deliveries. */
export interface DueQueueSearch {
  /**
   * Last credential that the previous search found. The search continues with the next credential, in the order of tenants and credentials.
   * Null: the search begins with the first credential of the first tenant.
   */
  after: DueQueue | null;
  limit: number;
  /**
   * Webhook URLs of receivers without a free sending slot. The search for credentials leaves out each active credential with such a URL. It
   * does not leave out revoked credentials. The worker stops their deliveries without an attempt, so they need no slot.
   */
  passOver: string[];
}

/**
 * Condition for a credential whose deliveries are sent. Deliveries are stopped if the credential is revoked, or if its URL was removed.
 */
const IS_SENT = sql`c.is_active AND c.webhook_url <> ''`;

/**
 * Returns credentials of any tenant that have due deliveries, in the order of tenants and credentials. This is one of the few statements
 * that may read rows of several tenants. It looks for a due delivery of each credential, so a long queue costs no more than a short queue.
 */
export async function findDueQueues(db: Db, { after, limit, passOver }: DueQueueSearch): Promise<DueQueue[]> {
  const { tenantId, credentialId } = after ?? BEFORE_ALL;
  const statement = sql<DueQueue>`
    SELECT c.tenant_id AS "tenantId", c.id AS "credentialId", c.webhook_url AS "webhookUrl", ${IS_SENT} AS "isActive"
    FROM credential AS c CROSS JOIN LATERAL (
      SELECT tenant_id FROM delivery
      WHERE tenant_id = c.tenant_id AND credential_id = c.id AND status = 'pending' AND next_attempt_at <= now() AND ${IS_FREE} LIMIT 1
    ) AS due
    WHERE (c.tenant_id, c.id) > (${tenantId}, ${credentialId}::uuid) AND NOT (c.is_active AND c.webhook_url = ANY(${passOver}::text[]))
    ORDER BY c.tenant_id, c.id LIMIT ${limit}`;
  return (await executeByIndex(db, statement)).rows;
}

interface ClaimRow {
  tenant_id: number;
  id: string;
  credential_id: string;
  body: string;
  created_at_ms: number;
  attempt_count: number;
  status: DeliveryStatus;
  waited_seconds: number;
  webhook_url: string;
  webhook_secret: Buffer;
  claimed_at_ms: number;
}

/**
 * SQL for a new entry of `attempts` if the last attempt of a delivery has no recorded outcome, for example because its worker died. Null:
 * the last attempt has an outcome, or there was no attempt.
 */
const NO_OUTCOME = sql`CASE WHEN attempt_count > jsonb_array_length(attempts)
  THEN jsonb_build_object('at', claimed_at, 'http_status', NULL, 'duration_ms', NULL, 'error', 'no_outcome') END`;

/** Maximum number of deliveries in one claim. It is small, so that the attempt of the last delivery begins soon after the claim. */
export const CLAIM_SIZE = 200;

/** Number of deliveries to claim for one credential. */
export interface Wanted {
  tenantId: number;
  credentialId: string;
  count: number;
}

/**
 * Claims due deliveries of several credentials, at most `CLAIM_SIZE` deliveries in total. On one node, this is one of the few statements
 * that may write rows of several tenants. On a cluster, there is one statement for each tenant.
 *
 * The claim counts an attempt for each delivery before the event is sent. It also leases the delivery, so that no other worker claims it
 * before the lease ends. The same statement ends the deliveries that must not be sent. These are deliveries of a revoked credential
 * (decision 34) or of a credential whose URL was removed, and deliveries whose fifth attempt has no recorded outcome (decision 33).
 * @returns the deliveries to send, and the number of rows claimed for each credential
 */
export async function claimDue(db: Db, wanted: Wanted[], lease: Lease) {
  const rows = await executeReachableShares(
    db,
    sharesOf(db, wanted, ({ tenantId }) => tenantId),
    (share) => claim(share, lease),
  );
  const takenOf = new Map<string, number>();
  for (const { credential_id } of rows) {
    takenOf.set(credential_id, (takenOf.get(credential_id) ?? 0) + 1);
  }
  const toSend = rows.filter((row) => row.status === 'pending');
  return { deliveries: toSend.map((row) => claimed(row, lease)), takenOf };
}

/**
 * Runs one statement for each share. A share is a part of the input: on a cluster the input of one tenant, otherwise the whole input. If
 * the node of a tenant is down, the tenant's share gives no rows, but the statements of other tenants still run. A later claim takes the
 * tenant's deliveries when the node is back.
 */
async function executeReachableShares<Input, Row>(
  db: Db,
  shares: Share<Input>[],
  statementOf: (share: Share<Input>) => RawBuilder<Row>,
): Promise<Row[]> {
  const results = await Promise.allSettled(shares.map((share) => executeByIndex(db, statementOf(share))));
  const failures = results.filter((result) => result.status === 'rejected');
  const isOutageOfSome = failures.length < results.length && failures.every(({ reason }) => isUnavailable(reason));
  if (failures[0] !== undefined && !isOutageOfSome) {
    throw failures[0].reason;
  }
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value.rows : []));
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
function claim({ inputs, tenantOf }: Share<Wanted>, lease: Lease): RawBuilder<ClaimRow> {
  const of = <T>(value: (wanted: Wanted) => T) => inputs.map(value);
  return sql<ClaimRow>`
    WITH wanted AS MATERIALIZED (
      SELECT given.*, ${IS_SENT} AS is_active, c.webhook_url, c.webhook_secret
      FROM unnest(${of(({ tenantId }) => tenantId)}::bigint[], ${of(({ credentialId }) => credentialId)}::uuid[],
                  ${of(({ count }) => count)}::int[]) AS given (tenant_id, credential_id, count)
      CROSS JOIN LATERAL (
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
    SELECT claimed.*, e.body, e.created_at_ms
    FROM claimed CROSS JOIN LATERAL (
      SELECT body, extract(epoch FROM created_at)::float8 * 1000 AS created_at_ms FROM event
      WHERE tenant_id = ${tenantOf('claimed')} AND id = claimed.id LIMIT 1
    ) AS e`;
}

function claimed(row: ClaimRow, lease: Lease): ClaimedDelivery {
  return {
    tenantId: row.tenant_id,
    eventId: row.id,
    credentialId: row.credential_id,
    body: row.body,
    createdAtMs: row.created_at_ms,
    attempt: row.attempt_count,
    lease,
    waitedSeconds: row.waited_seconds,
    webhookUrl: row.webhook_url,
    webhookSecret: row.webhook_secret,
    claimedAtMs: row.claimed_at_ms,
  };
}

/** Entry of the column `attempts`: one attempt with its outcome. */
interface AttemptResult {
  at: string;
  http_status: number | null;
  duration_ms: number;
  error: string | null;
  /** Timestamp of the signature, in seconds of Unix time. Null: no request was signed. */
  timestamp: number | null;
}

/** Result of an attempt, and the status of the delivery after the attempt. */
export interface Outcome {
  delivery: ClaimedDelivery;
  /** Null: the delivery was not sent. Its attempt does not count, and the time of its next attempt stays the same. */
  result: AttemptResult | null;
  /** First bytes of the response to a failed attempt, as text. Null: no response is kept. */
  answer: string | null;
  status: DeliveryStatus;
  /** Milliseconds until the next attempt if the delivery stays pending, otherwise 0. */
  retryInMs: number;
}

/**
 * Records the outcomes of attempts. The outcomes may be of several tenants. On a cluster, there is one statement for each tenant. An
 * outcome is recorded only if the delivery still has the lease id of the attempt. If the lease id is different, another worker has claimed
 * the delivery, for example because the first worker was suspended until its lease ended. The first worker must not overwrite the outcome
 * of the other worker.
 * @returns the ids of the events whose outcomes were recorded
 */
export async function recordOutcomes(db: Db, outcomes: Outcome[]): Promise<Set<string>> {
  const shares = sharesOf(db, outcomes, ({ delivery }) => delivery.tenantId);
  const results = await Promise.all(shares.map((share) => executeByIndex(db, record(share))));
  return new Set(results.flatMap(({ rows }) => rows).map(({ id }) => id));
}

/**
 * Makes the statement that records outcomes. A delivery that was stopped during its attempt stays stopped, unless the receiver has accepted
 * it. The CTE `o` of the statement calls now(), because a cluster accepts only immutable functions in SET.
 */
function record({ inputs, tenantOf }: Share<Outcome>): RawBuilder<{ id: string }> {
  const of = <T>(value: (outcome: Outcome) => T) => inputs.map(value);
  return sql<{ id: string }>`
    WITH o AS MATERIALIZED (
      SELECT given.*, now() + make_interval(secs => given.retry_seconds) AS retry_at
      FROM unnest(${of(({ delivery }) => delivery.tenantId)}::bigint[], ${of(({ delivery }) => delivery.eventId)}::uuid[],
                  ${of(({ delivery }) => delivery.lease.id)}::uuid[], ${of(({ status }) => status)}::text[],
                  ${of(({ result }) => result && JSON.stringify(result))}::jsonb[], ${of(({ retryInMs }) => retryInMs / 1000)}::float8[],
                  ${of(keptAnswer)}::jsonb[])
        AS given (tenant_id, id, lease_id, status, result, retry_seconds, answer)
    )
    UPDATE delivery AS d SET
      status = CASE WHEN d.status = 'stopped' AND o.status <> 'delivered' THEN d.status ELSE o.status END,
      attempt_count = d.attempt_count - (o.result IS NULL)::int,
      attempts = CASE WHEN o.result IS NULL THEN d.attempts ELSE d.attempts || o.result END,
      answers = CASE WHEN o.answer IS NULL THEN d.answers ELSE coalesce(d.answers, '{}'::jsonb) || o.answer END,
      next_attempt_at = CASE WHEN o.result IS NULL THEN d.next_attempt_at ELSE o.retry_at END,
      leased_until = NULL,
      lease_id = NULL
    FROM o WHERE d.tenant_id = ${tenantOf('o')} AND d.id = o.id AND d.lease_id = o.lease_id
    RETURNING d.id`;
}

/** Returns the entry of `answers` for an attempt as JSON text. Null: no response is kept. */
function keptAnswer({ delivery, answer }: Outcome): string | null {
  return answer === null ? null : JSON.stringify({ [delivery.attempt]: answer });
}

export interface QueueState {
  /** Number of deliveries that are due, under way or waiting for a retry. */
  pending: number;
  /** Seconds for which the oldest due delivery has been due. 0: no delivery is due. */
  oldestDueSeconds: number;
}

/** Reads the number of pending deliveries of all tenants and the age of the oldest due delivery, for the metrics. */
export async function readQueueState(db: Database): Promise<QueueState> {
  const statement = sql<QueueState>`
    SELECT count(*) AS pending,
      coalesce(greatest(0, extract(epoch FROM now() - min(next_attempt_at) FILTER (WHERE ${IS_FREE}))), 0)::float8 AS "oldestDueSeconds"
    FROM delivery WHERE status = 'pending'`;
  const { rows } = await executeByIndex(db, statement);
  return rows[0] ?? { pending: 0, oldestDueSeconds: 0 };
}
