import { type RawBuilder, sql } from 'kysely';
import type { AuditAction } from '#access/audit/audit.ts';
import type { Database } from '#platform/db/database.ts';
import { Fields, selectEach } from '#platform/db/inputs.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import type { Topic } from './topics.ts';

type SubjectOf<Action> = Action extends `${infer Subject}.${string}` ? Subject : never;

/** Topics of the audit trail, each with the first parts of the actions that change it. Other sources report the other changes. */
const SUBJECTS: [topic: Topic, subjects: SubjectOf<AuditAction>[]][] = [
  ['rates', ['rate_plan', 'rates', 'restrictions']],
  ['credentials', ['channel', 'credential', 'webhook']],
  ['people', ['display', 'session', 'user']],
];

/** Topic of each number of a look. The second number counts the events of orders, because an order's new status shows as its event. */
export const TOPIC_OF_NUMBER: Topic[] = [
  'orders',
  'orders',
  'events',
  ...SUBJECTS.map(([topic]) => topic),
  'reservations',
];

/**
 * Numbers of the rows of one tenant since two moments, with spaces between the numbers. Each number grows with every row that comes, however
 * late it is committed, and with every change of a stay. It is a number of rows, but for stays the sum of the times of their last changes.
 */
export interface Look {
  sinceFirst: string;
  sinceSecond: string;
}

const FIELDS = new Fields<{ tenantId: number }>({ tenantId: 'bigint' });

/**
 * Each condition has an upper bound that no row exceeds, so that the planner expects few rows and uses an index.
 * @param moments two moments in milliseconds of Unix time, the earlier one first
 * @returns the look of each tenant, in the order of the tenants
 */
export async function look(db: Database, tenantIds: number[], [first, second]: [number, number]): Promise<Look[]> {
  const isSecond = sql`id >= ${firstIdAt(second)}::uuid`;
  const counts = (conditions: RawBuilder<unknown>[]) => {
    const ofFirst = conditions.map((each) => sql`count(*) FILTER (WHERE ${each})`);
    const ofSecond = conditions.map((each) => sql`count(*) FILTER (WHERE ${each} AND ${isSecond})`);
    return sql`concat_ws(' ', ${sql.join(ofFirst)}) AS first, concat_ws(' ', ${sql.join(ofSecond)}) AS second`;
  };
  const time = sql`date_part('epoch', changed_at)`;
  const hasSubject = SUBJECTS.map(([, subjects]) => sql`subject IN (${sql.join(subjects)})`);
  const inputs = tenantIds.map((tenantId) => ({ tenantId }));
  const looks = await selectEach(db, FIELDS, inputs, ({ tenantId }) => {
    const ofTenant = (column: string, value: RawBuilder<unknown>, most: string) =>
      sql`tenant_id = ${tenantId} AND ${sql.ref(column)} BETWEEN (SELECT ${value}) AND ${sql.lit(most)}`;
    const isNew = ofTenant('id', sql`${firstIdAt(first)}::uuid`, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
    return sql<Look>`
      SELECT concat_ws(' ', o.first, e.first, a.first, s.first) AS "sinceFirst",
        concat_ws(' ', o.second, e.second, a.second, s.second) AS "sinceSecond"
      FROM (SELECT count(*) AS first, count(*) FILTER (WHERE ${isSecond}) AS second FROM restaurant_order WHERE ${isNew}) AS o,
        (SELECT ${counts([sql`type LIKE 'order.%'`, sql`true`])} FROM event WHERE ${isNew}) AS e,
        (SELECT ${counts(hasSubject)}
         FROM (SELECT id, split_part(action, '.', 1) AS subject FROM audit_entry WHERE ${isNew} OFFSET 0) AS entry) AS a,
        (SELECT coalesce(sum(${time}), 0) AS first, coalesce(sum(${time}) FILTER (WHERE changed_at >= ${new Date(second)}), 0) AS second
         FROM reservation WHERE ${ofTenant('changed_at', sql`${new Date(first)}::timestamptz`, 'infinity')}) AS s`;
  });
  return looks as Look[];
}
