import { type RawBuilder, sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { given, type KeysetList, NEWEST_FIRST } from '#platform/db/keyset-list.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import type { EventSubject, StoredAttempts } from '../events/events.ts';
import type { DeliveryQuery } from './staff-schema.ts';

export interface DeliveryFilter extends Pick<DeliveryQuery, 'status' | 'credential_id' | 'event'> {
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
  subject: EventSubject;
}

/**
 * Delivery with the body of its event. `answers` has the kept responses of the receiver, keyed by the number of the attempt, from 1. Null:
 * no response is kept.
 */
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
    indexed: [
      ...(status === undefined || status === 'delivered'
        ? []
        : [{ column: 'status', type: 'text', value: status, where: sql`status <> 'delivered'` } as const]),
      ...given(credential_id, (value) => ({ column: 'credential_id', type: 'uuid', value }) as const),
    ],
    filters: [
      ...(status === 'delivered' ? [sql`status = 'delivered'`] : []),
      ...given(createdFromMs, (ms) => sql`${createdAt} >= ${new Date(ms)}`),
      ...given(createdToMs, (ms) => sql`${createdAt} < ${new Date(ms)}`),
    ],
    searches: [
      ...given(ids, (some) => ({ isMatch: sql`id = ANY (${some}::uuid[])` })),
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
