import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { Fields, selectForEach } from '#platform/db/inputs.ts';
import { firstIdAt } from '#platform/lib/ids.ts';

/** Tenant to look at, and the times in milliseconds of Unix time from which its rows are new for this look and for the next look. */
export interface LookInput {
  tenantId: number;
  sinceMs: number;
  nextMs: number;
}

/**
 * Rows of one tenant, one source and one kind. Each number grows with every row that comes, however late it is committed, and with every
 * change of a stay. It says nothing in itself. For orders, events and the audit trail it is the number of rows, and for stays it is the sum
 * of the times of their last changes.
 */
export interface NewRows {
  source: 'order' | 'event' | 'audit' | 'stay';
  /** Type of the events, or action of the audit entries. Empty for orders and stays. */
  kind: string;
  /** Number of the rows since `sinceMs`. Null: there are no rows. */
  seen: number | null;
  /** Number of the rows since `nextMs`, which the next look compares with. */
  base: number | null;
}

const FIELDS = new Fields<Record<'tenantId' | 'sinceId' | 'nextId' | 'sinceAt' | 'nextAt', unknown>>({
  tenantId: 'bigint',
  sinceId: 'uuid',
  nextId: 'uuid',
  sinceAt: 'timestamptz',
  nextAt: 'timestamptz',
});

/**
 * Looks at the newest rows of tenants with one statement. Each condition has an upper bound that no row exceeds, so that the planner expects
 * few rows and uses an index.
 * @returns the rows of each input, in the order of the inputs
 */
export async function look(db: Database, inputs: LookInput[]): Promise<NewRows[][]> {
  const given = inputs.map(({ tenantId, sinceMs, nextMs }) => ({
    tenantId,
    sinceId: firstIdAt(sinceMs),
    nextId: firstIdAt(nextMs),
    sinceAt: new Date(sinceMs),
    nextAt: new Date(nextMs),
  }));
  const statement = selectForEach(db, FIELDS, given, ({ tenantId, sinceId, nextId, sinceAt, nextAt }) => {
    const count = sql`count(*) AS seen, count(*) FILTER (WHERE id >= ${nextId}) AS base`;
    const isNew = sql`tenant_id = ${tenantId} AND id BETWEEN ${sinceId} AND 'ffffffff-ffff-ffff-ffff-ffffffffffff'`;
    const changedAt = sql`coalesce(changed_at, created_at)`;
    const sum = sql`sum(date_part('epoch', ${changedAt}))`;
    return sql<NewRows>`
      SELECT 'order' AS source, '' AS kind, ${count} FROM restaurant_order WHERE ${isNew}
      UNION ALL SELECT 'event', type, ${count} FROM event WHERE ${isNew} GROUP BY type
      UNION ALL SELECT 'audit', action, ${count} FROM audit_entry WHERE ${isNew} GROUP BY action
      UNION ALL SELECT 'stay', '', ${sum}, ${sum} FILTER (WHERE ${changedAt} >= ${nextAt}) FROM reservation
      WHERE tenant_id = ${tenantId} AND ${changedAt} BETWEEN ${sinceAt} AND 'infinity'`;
  });
  const { rows } = await statement.execute(db);
  const byInput = Map.groupBy(rows, (row) => row.input_number);
  return inputs.map((_, index) => byInput.get(index + 1) ?? []);
}
