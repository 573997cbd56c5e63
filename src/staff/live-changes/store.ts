import { type RawBuilder, sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { Fields, selectEach } from '#platform/db/inputs.ts';

/** Largest number of rows that a look (one read of the newest rows) reads from each table for one tenant. */
export const MAX_ROWS = 200;

export interface LookInput {
  tenantId: number;
  /** Age in milliseconds of the oldest rows to read. */
  backMs: number;
}

/**
 * Newest rows of a tenant that are at most `backMs` milliseconds old, at most `MAX_ROWS` rows of each table. A list without rows is null.
 */
export interface LookRow {
  /**
   * Time at which the read began, in milliseconds of Unix time, by the clock of the database. The rows include all changes that were
   * committed before this time.
   */
  momentMs: number;
  orderIds: string[] | null;
  eventIds: string[] | null;
  /** Id of the order of each event. Null for an event of a reservation. */
  eventOrderIds: (string | null)[] | null;
  auditIds: string[] | null;
  auditActions: string[] | null;
  reservationIds: string[] | null;
  /** Time of the last change of each reservation in milliseconds of Unix time. */
  reservationTimes: number[] | null;
}

const FIELDS = new Fields<LookInput>({ tenantId: 'bigint', backMs: 'integer' });
/**
 * SQL for the time of the read, in milliseconds of Unix time. PostgreSQL sets now() before it takes the snapshot of the statement, so the
 * snapshot has all changes committed before now().
 */
const NOW_MS = sql`(extract(epoch FROM now()) * 1000)::bigint`;

/**
 * Reads the newest rows of several tenants with one statement. Finds most rows by the time in their ids, which comes from the clock of the
 * process that wrote the row. A row of a long transaction becomes visible only at the commit, when this time is already old. So each look
 * also reads older rows, and the caller compares them with the rows of earlier looks.
 * @returns one row for each input, in the same order
 */
export async function look(db: Database, inputs: LookInput[]): Promise<(LookRow | undefined)[]> {
  return await selectEach(db, FIELDS, inputs, ({ tenantId, backMs }) => {
    // Smallest UUIDv7 with the time of the oldest rows to read.
    const firstId = sql`(lpad(to_hex(${NOW_MS} - ${backMs}), 12, '0') || '70008000000000000000')::uuid`;
    const newest = (table: string, columns: RawBuilder<unknown>) => sql`(
      SELECT ${columns} FROM ${sql.table(table)} WHERE tenant_id = ${tenantId} AND id >= ${firstId}
      ORDER BY id DESC LIMIT ${sql.lit(MAX_ROWS)}
    ) AS newest`;
    return sql<LookRow>`
      SELECT ${NOW_MS} AS "momentMs", o.*, e.*, a.*, r.*
      FROM (SELECT array_agg(id) AS "orderIds" FROM ${newest('restaurant_order', sql`id`)}) AS o
      CROSS JOIN (
        SELECT array_agg(id) AS "eventIds", array_agg(body::json #>> '{data,order_id}') AS "eventOrderIds"
        FROM ${newest('event', sql`id, body`)}
      ) AS e
      CROSS JOIN (
        SELECT array_agg(id) AS "auditIds", array_agg(action) AS "auditActions"
        FROM ${newest('audit_entry', sql`id, action`)}
      ) AS a
      CROSS JOIN (
        SELECT array_agg(id) AS "reservationIds", array_agg(extract(epoch FROM at)::float8 * 1000) AS "reservationTimes"
        FROM (
          SELECT id, coalesce(changed_at, created_at) AS at FROM reservation
          WHERE tenant_id = ${tenantId}
            AND coalesce(changed_at, created_at) >= now() - make_interval(secs => ${backMs} / 1000.0)
          ORDER BY coalesce(changed_at, created_at) DESC LIMIT ${sql.lit(MAX_ROWS)}
        ) AS newest
      ) AS r`;
  });
}
