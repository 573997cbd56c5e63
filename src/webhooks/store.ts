import { sql } from 'kysely';
import type { Database, Tx } from '../db/database.ts';
import type { SendOutcome } from './send.ts';
import { MAX_ATTEMPTS } from './retry.ts';
import type { DeliveryStatus, EventType } from './schema.ts';

export interface NewEvent {
  tenantId: number;
  id: string;
  credentialId: string;
  type: EventType;
  body: string;
  createdAt: Date;
}

/** Writes an event; it is due for delivery at once where its credential has a webhook at this moment (decision 32). */
export async function insertEvent(tx: Tx, event: NewEvent): Promise<void> {
  await tx
    .insertInto('event')
    .columns(['tenant_id', 'id', 'credential_id', 'type', 'body', 'created_at', 'delivery_status'])
    .expression((builder) =>
      builder
        .selectFrom('credential')
        .select([
          'tenant_id',
          sql<string>`${event.id}::uuid`.as('id'),
          'id as credential_id',
          sql<string>`${event.type}::text`.as('type'),
          sql<string>`${event.body}::text`.as('body'),
          sql<Date>`${event.createdAt}::timestamptz`.as('created_at'),
          sql<string | null>`CASE WHEN webhook_url <> '' AND is_active THEN 'pending' END`.as('delivery_status'),
        ])
        .where('tenant_id', '=', event.tenantId)
        .where('id', '=', event.credentialId),
    )
    .execute();
}

export async function hasEvent(tx: Tx, tenantId: number, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('event')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}

/** A delivery this process holds for now: `leaseId` is its right to record the outcome. */
export interface ClaimedDelivery {
  tenantId: number;
  eventId: string;
  credentialId: string;
  type: EventType;
  body: string;
  attempt: number;
  leaseId: string;
  webhookUrl: string;
  webhookSecret: Buffer;
}

interface ClaimRow {
  tenant_id: number;
  id: string;
  credential_id: string;
  type: EventType;
  body: string;
  attempt_count: number;
  lease_id: string;
  delivery_status: DeliveryStatus;
  webhook_url: string;
  webhook_secret: Buffer;
}

/**
 * Takes due deliveries, across tenants (one of the statements that may), counts an attempt for each before anything is sent,
 * and leases them: until `leaseSeconds` have passed nobody else takes them. The locks are taken in a materialised CTE, for the
 * LIMIT of an `IN (SELECT … SKIP LOCKED)` holds for each scan alone.
 *
 * The same statement ends what must not be sent: deliveries of a revoked credential (decision 34), and those whose fifth
 * attempt never reported back (decision 33).
 */
export async function claimDue(db: Database, limit: number, leaseSeconds: number, leaseId: string) {
  const { rows } = await sql<ClaimRow>`
    WITH due AS MATERIALIZED (
      SELECT tenant_id, id FROM event
      WHERE delivery_status = 'pending' AND next_attempt_at <= now()
      ORDER BY next_attempt_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    UPDATE event AS e SET
      delivery_status = CASE WHEN NOT c.is_active THEN 'stopped'
                             WHEN e.attempt_count >= ${MAX_ATTEMPTS} THEN 'failed' ELSE 'pending' END,
      attempt_count = e.attempt_count + (c.is_active AND e.attempt_count < ${MAX_ATTEMPTS})::int,
      attempts = CASE WHEN c.is_active AND e.attempt_count < ${MAX_ATTEMPTS}
        THEN e.attempts || jsonb_build_object('at', now(), 'http_status', NULL, 'duration_ms', NULL, 'error', 'no_outcome')
        ELSE e.attempts END,
      next_attempt_at = now() + make_interval(secs => ${leaseSeconds}),
      lease_id = ${leaseId}
    FROM due, credential AS c
    WHERE e.tenant_id = due.tenant_id AND e.id = due.id AND c.tenant_id = e.tenant_id AND c.id = e.credential_id
    RETURNING e.tenant_id, e.id, e.credential_id, e.type, e.body, e.attempt_count, e.lease_id, e.delivery_status,
      c.webhook_url, c.webhook_secret
  `.execute(db);
  return { taken: rows.length, deliveries: rows.filter((row) => row.delivery_status === 'pending').map(claimed) };
}

function claimed(row: ClaimRow): ClaimedDelivery {
  return {
    tenantId: row.tenant_id,
    eventId: row.id,
    credentialId: row.credential_id,
    type: row.type,
    body: row.body,
    attempt: row.attempt_count,
    leaseId: row.lease_id,
    webhookUrl: row.webhook_url,
    webhookSecret: row.webhook_secret,
  };
}

/**
 * Records how an attempt ended, if the lease is still ours: a worker that was away for longer must not overwrite.
 * @param retryInMs wait until the next attempt, where the delivery stays pending
 * @returns whether the lease was still ours
 */
export async function recordOutcome(
  db: Database,
  delivery: ClaimedDelivery,
  outcome: SendOutcome,
  next: { status: DeliveryStatus; retryInMs: number },
): Promise<boolean> {
  const result = { http_status: outcome.httpStatus, duration_ms: outcome.durationMs, error: outcome.error };
  const updated = await db
    .updateTable('event')
    .set({
      delivery_status: next.status,
      attempts: sql`jsonb_set(attempts, '{-1}', attempts -> -1 || ${JSON.stringify(result)}::jsonb)`,
      next_attempt_at: sql`now() + make_interval(secs => ${next.retryInMs / 1000})`,
      lease_id: null,
    })
    .where('tenant_id', '=', delivery.tenantId)
    .where('id', '=', delivery.eventId)
    .where('lease_id', '=', delivery.leaseId)
    .executeTakeFirst();
  return updated.numUpdatedRows > 0n;
}

export interface DeliveryRow {
  id: string;
  type: string;
  delivery_status: string | null;
  attempts: unknown;
  created_at: Date;
}

function deliveries(db: Database, tenantId: number, status: DeliveryStatus | undefined) {
  const all = db.selectFrom('event').where('tenant_id', '=', tenantId).where('delivery_status', 'is not', null);
  return status === undefined ? all : all.where('delivery_status', '=', status);
}

const DELIVERY_COLUMNS = ['id', 'type', 'delivery_status', 'attempts', 'created_at'] as const;

/** The deliveries after the given one, newest first. */
export async function readDeliveries(
  db: Database,
  tenantId: number,
  status: DeliveryStatus | undefined,
  afterId: string | null,
  limit: number,
): Promise<DeliveryRow[]> {
  const list = deliveries(db, tenantId, status);
  return await (afterId === null ? list : list.where('id', '<', afterId))
    .select(DELIVERY_COLUMNS)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export async function readDeliveryPage(
  db: Database,
  tenantId: number,
  status: DeliveryStatus | undefined,
  offset: number,
  limit: number,
): Promise<{ count: number; results: DeliveryRow[] }> {
  const list = deliveries(db, tenantId, status);
  const [{ count }, results] = await Promise.all([
    list.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
    list.select(DELIVERY_COLUMNS).orderBy('id', 'desc').offset(offset).limit(limit).execute(),
  ]);
  return { count, results };
}
