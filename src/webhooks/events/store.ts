import { type RawBuilder, sql } from 'kysely';
import { type Database, type Db, isCluster, type Tx } from '#platform/db/database.ts';
import { Fields, selectForEach } from '#platform/db/inputs.ts';
import { given, type KeysetList, NEWEST_FIRST } from '#platform/db/keyset-list.ts';
import { executeByIndex } from '#platform/db/transaction.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import type { EventType } from './event-types.ts';
import type { StaffEventQuery } from './schema.ts';

/** `createdAt` is the time of the change that the event reports. `subject` is JSON (`EventSubject`). */
export interface NewEvent {
  tenantId: number;
  id: string;
  credentialId: string;
  type: EventType;
  body: string;
  createdAt: Date;
  subject: string;
}

const NEW_EVENT = new Fields<NewEvent>({
  tenantId: 'bigint',
  id: 'uuid',
  credentialId: 'uuid',
  type: 'text',
  body: 'text',
  createdAt: 'timestamptz',
  subject: 'json',
});

export interface DueCredential {
  tenantId: number;
  credentialId: string;
  webhookUrl: string;
}

/**
 * Writes events. An event gets a delivery if its credential has a webhook URL when the statement runs (rule 32). On a cluster, all events
 * must belong to one tenant, and each part is a statement of its own, because a cluster cannot send an INSERT into two tables to one node
 * (database rule 4). On one node, more round trips would cost more than a tenth of the change that causes the event.
 * @returns the credential of each event that gets a delivery
 */
export async function insertEvents(tx: Tx, events: NewEvent[]): Promise<DueCredential[]> {
  const receivers = receiversOf(tx, events);
  if (!isCluster(tx)) {
    const parts = partsFrom(sql`receiver`);
    const { rows } = await sql<DueCredential>`
      WITH receiver AS (${receivers}), event_row AS (${parts.insertEvents}), delivery_row AS (${parts.insertDeliveries}) ${parts.readDue}
    `.execute(tx);
    return rows;
  }
  const { insertEvents: intoEvents, insertDeliveries, readDue } = partsFrom(sql`(${receivers}) AS receiver`);
  await intoEvents.execute(tx);
  await insertDeliveries.execute(tx);
  return (await readDue.execute(tx)).rows;
}

/** With `LIMIT 1`, PostgreSQL uses an index for each event. It could turn a subquery without it into a join that reads all credentials. */
function receiversOf(tx: Tx, events: NewEvent[]): RawBuilder<unknown> {
  return selectForEach(
    tx,
    NEW_EVENT,
    events,
    (event) => sql`
      SELECT tenant_id, ${event.id} AS id, id AS credential_id, ${event.type} AS type, ${event.body} AS body,
        ${event.createdAt} AS created_at, ${event.subject} AS subject, webhook_url, webhook_url <> '' AND is_active AS is_delivered
      FROM credential WHERE tenant_id = ${event.tenantId} AND id = ${event.credentialId} LIMIT 1
    `,
  );
}

function partsFrom(receiver: RawBuilder<unknown>) {
  return {
    insertEvents: sql`
      INSERT INTO event (tenant_id, id, credential_id, type, body, created_at, subject)
      SELECT receiver.tenant_id, id, credential_id, type, body, created_at, subject FROM ${receiver}`,
    insertDeliveries: sql`
      INSERT INTO delivery (tenant_id, id, credential_id, status)
      SELECT receiver.tenant_id, id, credential_id, 'pending' FROM ${receiver} WHERE is_delivered`,
    readDue: sql<DueCredential>`
      SELECT tenant_id AS "tenantId", credential_id AS "credentialId", webhook_url AS "webhookUrl" FROM ${receiver} WHERE is_delivered`,
  };
}

export interface StoredAttempts {
  /** Attempts whose outcome is recorded, oldest first. */
  attempts: unknown;
  /** Number of attempts. If it is greater than the length of `attempts`, the last attempt has no recorded outcome. */
  attempt_count: number;
  /** Time at which a process claimed the delivery for the last attempt. Null: there was no attempt. */
  claimed_at: Date | null;
}

/** Event with its delivery. If it has none, `status` and the attempts are null. */
export interface EventRow extends StoredAttempts {
  body: string;
  status: string | null;
}

export type EventFilter = Pick<StaffEventQuery, 'credential_id' | 'type'> & { ids?: string[] | undefined };

export interface ListedEvent extends EventRow {
  credential_id: string;
}

export function listEvents(tenantId: number, { credential_id, type, ids }: EventFilter): KeysetList<ListedEvent> {
  return {
    ...NEWEST_FIRST,
    name: 'events',
    from: sql`event`,
    ofTenant: sql`tenant_id = ${tenantId}`,
    indexed: given(type, (value) => ({ column: 'type', type: 'text', value })),
    searches: [
      ...given(ids, (some) => ({ isMatch: sql`id = ANY (${some}::uuid[])` })),
      ...given(credential_id, (id) => ({ isMatch: sql`credential_id = ${id}::uuid` })),
    ],
    row: sql`
      SELECT e.credential_id, e.body, d.* FROM event AS e ${withDelivery(tenantId)}
      WHERE e.tenant_id = ${tenantId} AND e.id = page.id`,
  };
}

/** SQL that joins the delivery `d` of an event `e`, or nulls. The LIMIT makes the planner look it up by its key. */
function withDelivery(tenantId: number): RawBuilder<unknown> {
  return sql`LEFT JOIN LATERAL (
      SELECT status, attempts, attempt_count, claimed_at FROM delivery WHERE tenant_id = ${tenantId} AND id = e.id LIMIT 1
    ) AS d ON true`;
}

/**
 * Removes the oldest events of the tenant with their deliveries, at most `limit`, and none whose delivery is pending. PostgreSQL may run an
 * `IN (SELECT … LIMIT … SKIP LOCKED)` several times, and would then remove more, but it runs a materialised CTE only once.
 * @returns the ids of the removed events, in no particular order
 */
export async function removeEvents(
  db: Database,
  tenantId: number,
  range: { afterId: string; beforeId: string },
  limit: number,
): Promise<string[]> {
  const statement = sql<{ id: string }>`
    WITH old AS MATERIALIZED (
      SELECT id FROM event AS e
      WHERE tenant_id = ${tenantId} AND id > ${range.afterId} AND id < ${range.beforeId} AND NOT EXISTS (
        SELECT FROM delivery WHERE tenant_id = ${tenantId} AND id = e.id AND status = 'pending'
      )
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), delivery_row AS (
      DELETE FROM delivery AS d USING old WHERE d.tenant_id = ${tenantId} AND d.id = old.id
    )
    DELETE FROM event AS e USING old WHERE e.tenant_id = ${tenantId} AND e.id = old.id RETURNING e.id`;
  const { rows } = await executeByIndex(db, statement);
  return rows.map((row) => row.id);
}

export interface Feed {
  tenantId: number;
  credentialId: string;
}

export interface FeedEnd {
  era: number;
  /** Highest committed position of an event. 0: no event has a position. */
  lastPosition: number;
  isBehind: boolean;
}

/** One statement reads all fields, so that they agree even if another call gives positions to events at the same time. */
export async function readEnd(db: Database, feed: Feed): Promise<FeedEnd> {
  const { rows } = await sql<FeedEnd>`
    SELECT era, (${oldestUnnumbered(feed)} LIMIT 1) IS NOT NULL AS "isBehind", coalesce((
      SELECT last_position FROM event_feed WHERE tenant_id = ${feed.tenantId} AND credential_id = ${feed.credentialId}
    ), 0) AS "lastPosition"
    FROM feed_era`.execute(db);
  return rows[0] as FeedEnd;
}

/** PostgreSQL uses the index `event_in_feed` only if the statement sorts by `feed_position`, which is null here, and then by id. */
function oldestUnnumbered({ tenantId, credentialId }: Feed, afterId = firstIdAt(0)): RawBuilder<{ id: string }> {
  return sql`
    SELECT id FROM event
    WHERE tenant_id = ${tenantId} AND credential_id = ${credentialId} AND feed_position IS NULL AND id > ${afterId}
    ORDER BY feed_position, id`;
}

export async function raiseEra(db: Database, atLeast: number): Promise<number> {
  const { rows } = await sql<{ era: number }>`
    UPDATE feed_era SET era = greatest(era + 1, ${atLeast}::bigint) RETURNING era`.execute(db);
  return rows[0]?.era ?? 0;
}

export async function readNumbered(db: Db, { tenantId, credentialId }: Feed, after: number, limit: number) {
  const { rows } = await sql<EventRow & { feed_position: number }>`
    SELECT e.feed_position, e.body, d.* FROM event AS e ${withDelivery(tenantId)}
    WHERE e.tenant_id = ${tenantId} AND e.credential_id = ${credentialId} AND e.feed_position > ${after}
    ORDER BY e.feed_position LIMIT ${limit}`.execute(db);
  return rows;
}

/**
 * Gives the next positions to the oldest events without one. Locks the feed, so that only one transaction at a time does so.
 * @param afterId last event of the previous batch, if there is one. PostgreSQL would otherwise first read the dead index entries of all events
 * that already got a position
 * @returns the ids of these events, in the order of their positions
 */
export async function numberOldest(tx: Tx, feed: Feed, limit: number, afterId?: string): Promise<string[]> {
  const { tenantId, credentialId } = feed;
  const locked = await sql<{ last_position: number }>`
    INSERT INTO event_feed AS feed (tenant_id, credential_id) VALUES (${tenantId}, ${credentialId})
    ON CONFLICT (tenant_id, credential_id) DO UPDATE SET last_position = feed.last_position RETURNING last_position`.execute(
    tx,
  );
  const lastPosition = locked.rows[0]?.last_position ?? 0;
  const { rows } = await sql<{ id: string }>`
    ${oldestUnnumbered(feed, afterId)} LIMIT ${limit} FOR NO KEY UPDATE`.execute(tx);
  const ids = rows.map((row) => row.id);
  if (ids.length > 0) {
    await sql`
      UPDATE event SET feed_position = ${lastPosition}::bigint + array_position(${ids}::uuid[], id)
      WHERE tenant_id = ${tenantId} AND id = ANY (${ids}::uuid[])`.execute(tx);
    await sql`
      UPDATE event_feed SET last_position = ${lastPosition + ids.length}
      WHERE tenant_id = ${tenantId} AND credential_id = ${credentialId}`.execute(tx);
  }
  return ids;
}
