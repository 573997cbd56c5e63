import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { type KeysetList, keysetList, NEWEST_FIRST, type PageForm } from '#platform/db/keyset-list.ts';
import type { TalliedList } from '#platform/db/list-tallies.ts';
import type { DB } from '#platform/db/types.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import {
  type DeliveryStatus,
  type EventSubject,
  type EventType,
  readIdsOfKinds,
  type StoredAttempts,
} from '../events/events.ts';

/** Filter of a list of deliveries. A missing field excludes no delivery of the tenant. */
export interface DeliveryFilter {
  status?: DeliveryStatus | undefined;
  credentialId?: string | undefined;
  type?: EventType | undefined;
  ids?: string[] | undefined;
  /** Earliest time of an event in the list, in milliseconds of Unix time. */
  createdFromMs?: number | undefined;
  /** Time before which all events of the list happened, in milliseconds of Unix time. */
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
  subject: EventSubject | null;
}

/**
 * Delivery with the body of its event. `answers` has the kept responses of the receiver, keyed by the number of the attempt, from 1. Null:
 * no response is kept.
 */
export type DetailRow = DeliveryRow & { body: string; answers: Record<string, string> | null };

type Deliveries = SelectQueryBuilder<DB, 'delivery', object>;

/** Returns the tenant's deliveries that pass the filter, newest first. */
export async function listDeliveries(
  db: Database,
  tenantId: number,
  filter: DeliveryFilter,
): Promise<KeysetList<DeliveryRow>> {
  const conditions = [...conditionsOf(tenantId, filter), ...(await conditionsOfType(db, tenantId, filter))];
  const all: Deliveries = db.selectFrom('delivery').where('tenant_id', '=', tenantId);
  const list = conditions.reduce((deliveries, condition) => deliveries.where(condition), all);
  return keysetList(db, list, (deliveries) => withFacts(deliveries, tenantId), NEWEST_FIRST, pagesOf(tenantId, filter));
}

/**
 * Statuses that never change again. `stopped` is missing here, because a delivery may be stopped during its last attempt. If this attempt
 * succeeds, the delivery still becomes `delivered`.
 */
const FINAL_STATUSES: readonly DeliveryStatus[] = ['delivered', 'failed'];
const HOUR_MS = 3_600_000;

function pagesOf(tenantId: number, filter: DeliveryFilter): PageForm<'delivery'> {
  const { status, credentialId, type, ids, createdFromMs, createdToMs } = filter;
  if (ids !== undefined || (status !== undefined && !FINAL_STATUSES.includes(status))) {
    return { form: 'in order' };
  }
  const list: TalliedList = {
    name: 'deliveries',
    table: 'delivery',
    tenantId,
    facts: sql`SELECT id, status, ${ofEvent(tenantId, 'type')} AS kind, credential_id FROM delivery WHERE tenant_id = ${tenantId}`,
    isOpen: sql`status IN ('pending', 'stopped')`,
    partMs: HOUR_MS,
  };
  const fromId = createdFromMs === undefined ? undefined : firstIdAt(Math.max(0, createdFromMs + TIME_OF_CHANGE_MS));
  const beforeId = createdToMs === undefined ? undefined : firstIdAt(Math.max(0, createdToMs - TIME_OF_CHANGE_MS));
  return { form: 'tallied', tallied: { list, filter: { status, kind: type, credentialId, fromId, beforeId } } };
}

/**
 * Returns a delivery with the body of its event, and with the stored responses to its failed attempts. Returns undefined if the tenant has
 * no delivery with this id.
 */
export async function findDelivery(db: Database, tenantId: number, id: string): Promise<DetailRow | undefined> {
  const found = db.selectFrom('delivery').where('tenant_id', '=', tenantId).where('delivery.id', '=', id);
  return await withFacts(found, tenantId)
    .select('answers')
    .select(ofEvent<string>(tenantId, 'body').as('body'))
    .$castTo<DetailRow>()
    .executeTakeFirst();
}

function withFacts(deliveries: Deliveries, tenantId: number) {
  return deliveries
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('event')
          .select(['type', 'created_at', 'subject'])
          // The subquery also has the tenant as a condition, because a cluster needs this condition to find the node of the tenant.
          .where('event.tenant_id', '=', tenantId)
          .whereRef('event.id', '=', 'delivery.id')
          .limit(1)
          .as('event'),
      (join) => join.onTrue(),
    )
    .select([
      'id',
      'status',
      'attempts',
      'attempt_count',
      'claimed_at',
      'next_attempt_at',
      'type',
      'created_at',
      'subject',
    ])
    .select(['credential_id', labelOf(tenantId).as('credential_label')])
    .$castTo<DeliveryRow>();
}

function labelOf(tenantId: number): RawBuilder<string> {
  return sql`(SELECT c.label FROM credential AS c WHERE c.tenant_id = ${tenantId} AND c.id = delivery.credential_id)`;
}

/**
 * Returns the SQL expression for a column of the event of a delivery. Its form leaves the planner only one plan: to look up each event by
 * its key.
 */
function ofEvent<Value>(tenantId: number, column: 'body' | 'type' | 'created_at'): RawBuilder<Value> {
  return sql`(SELECT e.${sql.id(column)} FROM event AS e WHERE e.tenant_id = ${tenantId} AND e.id = delivery.id)`;
}

function conditionsOf(tenantId: number, filter: DeliveryFilter): RawBuilder<boolean>[] {
  const { status, credentialId, ids, createdFromMs, createdToMs } = filter;
  const conditions = [
    // The status is a literal in the SQL text. With a parameter, the planner could not use a partial index, which has only the rows of one
    // status.
    status !== undefined && sql<boolean>`status = ${sql.lit(status)}`,
    credentialId !== undefined && sql<boolean>`credential_id = ${credentialId}::uuid`,
    ids !== undefined && sql<boolean>`id = ANY (${ids}::uuid[])`,
    createdFromMs !== undefined && createdFrom(tenantId, createdFromMs),
    createdToMs !== undefined && createdBefore(tenantId, createdToMs),
  ];
  return conditions.filter((condition) => condition !== false);
}

/**
 * Longest time in milliseconds between the two times of an event: `created_at`, which is the time of the change, and the time in its id.
 * The id may get its time later, because the transaction of the change may wait for a lock, or may run again.
 */
const TIME_OF_CHANGE_MS = 60_000;

/** Returns the smallest possible event id for this time, in milliseconds of Unix time. */
function idAt(ms: number): RawBuilder<string> {
  return sql`${firstIdAt(Math.max(0, ms))}::uuid`;
}

/**
 * Returns the condition for events whose `created_at` is `ms` or later. For most events, the time in the id decides, and the id is in the
 * index. The query reads `created_at` of an event only if the time in its id is close to `ms`.
 */
function createdFrom(tenantId: number, ms: number): RawBuilder<boolean> {
  const isLater = sql`${ofEvent(tenantId, 'created_at')} >= ${new Date(ms)}`;
  return sql`id >= ${idAt(ms - TIME_OF_CHANGE_MS)} AND (id >= ${idAt(ms + TIME_OF_CHANGE_MS)} OR ${isLater})`;
}

function createdBefore(tenantId: number, ms: number): RawBuilder<boolean> {
  const isEarlier = sql`${ofEvent(tenantId, 'created_at')} < ${new Date(ms)}`;
  return sql`id < ${idAt(ms + TIME_OF_CHANGE_MS)} AND (id < ${idAt(ms - TIME_OF_CHANGE_MS)} OR ${isEarlier})`;
}

/**
 * Limit for a condition that lists the ids of events. If fewer events than this number have the event type of the filter, the query selects
 * the deliveries by these ids. This is cheaper than reading all deliveries, newest first.
 */
const FEW = 5_000;

/**
 * Returns the conditions for the event type of the filter. The row of a delivery does not contain the type of its event. If few events have
 * the type, the condition lists their ids. Otherwise the query reads the deliveries in the order of the list, and looks up the event of
 * each delivery until the page is full. Returns an empty array if the filter has no event type.
 */
async function conditionsOfType(
  db: Database,
  tenantId: number,
  { type, credentialId, ids, createdFromMs, createdToMs }: DeliveryFilter,
): Promise<RawBuilder<boolean>[]> {
  if (type === undefined) {
    return [];
  }
  const range = {
    tenantId,
    credentialId,
    type,
    fromId: createdFromMs === undefined ? undefined : firstIdAt(Math.max(0, createdFromMs - TIME_OF_CHANGE_MS)),
    beforeId: createdToMs === undefined ? undefined : firstIdAt(createdToMs + TIME_OF_CHANGE_MS),
  };
  const few = ids === undefined ? await readIdsOfKinds(db, range, FEW) : [];
  return ids === undefined && few.length < FEW
    ? [sql`id = ANY (${few}::uuid[])`]
    : [sql`${ofEvent(tenantId, 'type')} = ${type}`];
}
