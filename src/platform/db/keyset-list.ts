import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';
import { executeByIndex, executeWithoutTableScan } from './transaction.ts';

/** Maximum number of rows that the service examines for one page. */
export const MAX_EXAMINED = 10_000;

/**
 * Number of rows that decides how a search is read. If fewer rows match, the page begins with these rows. Otherwise matching rows are
 * frequent, so an examination in the order of the list finds them soon.
 */
const FEW = 2_000;

type Condition = RawBuilder<boolean>;

/** Condition whose rows an index finds, but in another order than the order of the list. */
export interface Search {
  isMatch: Condition;
  /** Query for the ids of the rows that match. Undefined: the rows of the tenant in the table of the list that match. */
  ids?: RawBuilder<unknown>;
}

/** List of any length that staff read page by page. */
export interface KeysetList<Row> {
  /** Name of the list and of its order. A cursor contains the name, so a cursor of another list or order is refused. */
  name: string;
  /** Tables of the list, as in an SQL `FROM`. */
  from: RawBuilder<unknown>;
  /** Condition that the row is of the tenant. */
  ofTenant: Condition;
  /** Conditions on the key. Rows that do not pass are not examined. */
  range?: Condition[];
  /**
   * Conditions for which an index has the order of the list. Rows that do not pass the first condition are not examined. The others are
   * searches, because PostgreSQL reads one index only.
   */
  indexed?: Condition[];
  searches?: Search[];
  /** Conditions that the service checks for each examined row. */
  filters?: Condition[];
  /** Columns of the order. No two rows have the same values in all of them. `column` is the SQL expression, if it is not the name. */
  key: readonly { name: string; column?: RawBuilder<unknown>; type: 'uuid' | 'date' }[];
  direction: 'ASC' | 'DESC';
  /** Subquery for the columns of a row. It finds the row by the key columns of the table `page`. */
  row: RawBuilder<Row>;
}

/** Order of a list in which the newest row comes first. */
export const NEWEST_FIRST = { key: [{ name: 'id', type: 'uuid' }], direction: 'DESC' } as const satisfies object;

export interface KeysetPage<Row> {
  rows: Row[];
  /** Values of the key of the row after which the next page begins. Null: the list has ended. */
  next: string[] | null;
}

type Numbered<Row> = Row & { list_key: string[]; passes: boolean | null; number: number };

/**
 * Reads one page of a list. Ends after `MAX_EXAMINED` rows, and then returns the rows found so far, which may be fewer than `limit`.
 *
 * The statement numbers the rows that it examines. Besides the rows that pass, it returns the last row that a page may examine. So the
 * caller knows where the next page begins, and PostgreSQL stops as soon as the page is full.
 * @param after values of the key of the row after which the page begins. Null: the page begins with the first row.
 */
export async function readKeysetPage<Row>(
  db: Database,
  list: KeysetList<Row>,
  { after, limit }: { after: string[] | null; limit: number },
): Promise<KeysetPage<Row>> {
  const [ordered, ...others] = list.indexed ?? [];
  const searches = [...(list.searches ?? []), ...others.map((isMatch) => ({ isMatch }))];
  const search = await findFew(db, list, searches);
  const checked = searches.flatMap((each) => (each === search ? [] : [each.isMatch]));
  const where = [
    list.ofTenant,
    ...(list.range ?? []),
    ...given(ordered, (condition) => condition),
    ...(after === null ? [] : [isAfter(list, after)]),
  ];
  const filters = [...(list.filters ?? []), ...checked];
  const order = sql.raw(list.key.map(({ name }) => `${name} ${list.direction}`).join(', '));
  const key = sql.join(list.key.map(({ name }) => sql`page.${sql.id(name)}::text`));
  const statement = sql<Numbered<Row>>`
    SELECT "row".*, ARRAY[${key}] AS list_key, page.passes, page.number
    FROM (
      SELECT * FROM (
        SELECT *, row_number() OVER (ORDER BY ${order})::int4 AS number FROM (${examined(list, { where, filters, search })}) AS examined
      ) AS numbered
      WHERE passes OR number = ${sql.lit(MAX_EXAMINED)}
      ORDER BY ${order} LIMIT ${limit + 1}
    ) AS page CROSS JOIN LATERAL (${list.row} LIMIT 1) AS "row"
    ORDER BY ${order}`;
  const { rows } = await (search === null ? executeByIndex(db, statement) : executeWithoutTableScan(db, statement));
  const last = rows[rows.length > limit ? limit - 1 : rows.length - 1];
  const isEnd = rows.length <= limit && last?.number !== MAX_EXAMINED;
  return {
    rows: rows.slice(0, limit).filter(({ passes }) => passes),
    next: isEnd || last === undefined ? null : last.list_key,
  };
}

/** Returns the search that the fewest rows match, or null if all searches match many rows. */
async function findFew(db: Database, list: KeysetList<unknown>, searches: Search[]): Promise<Search | null> {
  if (searches.length === 0) {
    return null;
  }
  const counts = searches.map(
    (search) => sql`(SELECT count(*)::int4 FROM (${idsOf(list, search)} LIMIT ${sql.lit(FEW)}) AS found)`,
  );
  const statement = sql<{ counts: number[] }>`SELECT ARRAY[${sql.join(counts)}] AS counts`;
  const { rows } = await executeWithoutTableScan(db, statement);
  const found = rows[0]?.counts ?? [];
  const least = Math.min(...found);
  return least < FEW ? (searches[found.indexOf(least)] ?? null) : null;
}

function idsOf({ from, ofTenant }: KeysetList<unknown>, { isMatch, ids }: Search): RawBuilder<unknown> {
  return ids ?? sql`SELECT id FROM ${from} WHERE ${ofTenant} AND ${isMatch}`;
}

/** Selects the rows that the page examines: their keys, and whether they pass the filters. */
function examined(
  list: KeysetList<unknown>,
  { where, filters, search }: { where: Condition[]; filters: Condition[]; search: Search | null },
): RawBuilder<unknown> {
  const { from, key, direction } = list;
  const columns = key.map(({ name, column = sql.id(name) }) => sql`${column} AS ${sql.id(name)}`);
  const select = sql`SELECT ${sql.join(columns)}, ${allOf(filters)} AS passes FROM ${from} WHERE ${allOf(where)}`;
  const sorted = (order: RawBuilder<unknown>[]) =>
    sql`ORDER BY ${sql.join(order.map((column) => sql`${column} ${sql.raw(direction)}`))} LIMIT ${sql.lit(MAX_EXAMINED)}`;
  if (search === null) {
    return sql`${select} ${sorted(key.map(({ name, column = sql.id(name) }) => column))}`;
  }
  // OFFSET 0 keeps PostgreSQL from reading an index in the order of the list until it meets the few rows of the search.
  const few = sql`${select} AND id = ANY (ARRAY(${idsOf(list, search)})) OFFSET 0`;
  return sql`SELECT * FROM (${few}) AS few ${sorted(key.map(({ name }) => sql.id(name)))}`;
}

function isAfter({ key, direction }: KeysetList<unknown>, after: string[]): Condition {
  const columns = key.map(({ name, column = sql.id(name) }) => column);
  const values = key.map(({ type }, index) => sql`${after[index]}::${sql.raw(type)}`);
  return sql<boolean>`(${sql.join(columns)}) ${sql.raw(direction === 'ASC' ? '>' : '<')} (${sql.join(values)})`;
}

/** Returns the condition for a value of a query, or no condition if the value is undefined. */
export function given<Value>(
  value: Value | undefined,
  make: (value: Value) => RawBuilder<boolean>,
): RawBuilder<boolean>[] {
  return value === undefined ? [] : [make(value)];
}

/** Returns one condition that is true if all conditions are true. */
function allOf(conditions: Condition[]): Condition {
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`(${sql.join(conditions, sql` AND `)})`;
}
