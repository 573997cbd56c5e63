import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { Fields, selectForEach } from '#platform/db/inputs.ts';
import { firstIdAt } from '#platform/lib/ids.ts';

/** Moment from which rows are new: the smallest id of a row of this time, and the time. */
export interface Moment {
  id: string;
  at: string;
}

interface LookInput {
  tenantId: number;
  sinceId: string;
  sinceAt: string;
}

/**
 * Rows of one tenant and one kind. Each number grows with every row that comes, however late it is committed, and with every change of a
 * stay. For orders, events and audit entries it is the number of rows, and for stays it is the sum of the times of their last changes.
 */
export interface NewRows {
  /** `order`, `stay`, `event ` with the type of the events, or `audit ` with the action of the audit entries. */
  kind: string;
  /** Number of the rows since the moment of the input. */
  seen: number;
  /** Number of the rows since the next moment, with which the next look compares. Null: there are no such rows. */
  base: number | null;
}

const FIELDS = new Fields<LookInput>({ tenantId: 'bigint', sinceId: 'uuid', sinceAt: 'timestamptz' });

export function momentAt(ms: number): Moment {
  return { id: firstIdAt(ms), at: new Date(ms).toISOString() };
}

/**
 * Each condition has an upper bound that no row exceeds, so that the planner expects few rows and uses an index.
 * @param next moment of the inputs of the next look
 * @returns the rows of each input, in the order of the inputs
 */
export async function look(db: Database, inputs: LookInput[], next: Moment): Promise<NewRows[][]> {
  const statement = selectForEach(db, FIELDS, inputs, ({ tenantId, sinceId, sinceAt }) => {
    const count = sql`count(*) AS seen, count(*) FILTER (WHERE id >= ${next.id}::uuid) AS base`;
    const isNew = sql`tenant_id = ${tenantId} AND id BETWEEN ${sinceId} AND 'ffffffff-ffff-ffff-ffff-ffffffffffff'`;
    const changedAt = sql`coalesce(changed_at, created_at)`;
    const sum = sql`sum(date_part('epoch', ${changedAt}))`;
    return sql<NewRows>`
      SELECT 'order' AS kind, ${count} FROM restaurant_order WHERE ${isNew} HAVING count(*) > 0
      UNION ALL SELECT 'event ' || type, ${count} FROM event WHERE ${isNew} GROUP BY type
      UNION ALL SELECT 'audit ' || action, ${count} FROM audit_entry WHERE ${isNew} GROUP BY action
      UNION ALL SELECT 'stay', ${sum}, ${sum} FILTER (WHERE ${changedAt} >= ${next.at}::timestamptz) FROM reservation
      WHERE tenant_id = ${tenantId} AND ${changedAt} BETWEEN ${sinceAt} AND 'infinity' HAVING count(*) > 0`;
  });
  const { rows } = await statement.execute(db);
  const byInput = Map.groupBy(rows, (row) => row.input_number);
  return inputs.map((_, index) => byInput.get(index + 1) ?? []);
}
