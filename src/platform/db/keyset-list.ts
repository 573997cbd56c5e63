import { type RawBuilder, sql } from 'kysely';
import { searchName } from '../lib/unicode.ts';
import type { Database } from './database.ts';
import { executeByIndex, executeWithoutTableScan } from './transaction.ts';

export const MAX_EXAMINED = 10_000;

/** If fewer rows match a search, the page begins with them. Otherwise an examination in the order of the list finds some soon. */
const FEW = 2_000;

type Condition = RawBuilder<unknown>;

/** Condition whose rows an index finds, but in another order than the order of the list. */
export interface Search {
  isMatch: Condition;
  /** Query for the ids of the rows that match. Undefined: the rows of the tenant in the table of the list that match. */
  ids?: RawBuilder<unknown>;
}

/** Condition `column = value`. An index has the column before the key of the list, so it has the matching rows in the order of the list. */
export interface Indexed {
  column: string;
  type: 'uuid' | 'text';
  value: string;
  where?: Condition;
}

export interface KeysetList<Row> {
  /** Name of the list and of its order. A cursor contains the name, so a cursor of another list or order is refused. */
  name: string;
  from: RawBuilder<unknown>;
  ofTenant: Condition;
  /** Conditions of a partial index that has the order of the list. Rows that do not pass are not examined. */
  where?: Condition[];
  /** Bounds of the ids, if the key is the id: the smallest id of the list, and the smallest id after the list. */
  fromId?: string | undefined;
  beforeId?: string | undefined;
  /** Rows that do not match the first of these conditions are not examined. The other conditions are searches. */
  indexed?: Indexed[];
  searches?: Search[];
  filters?: Condition[];
  /** Columns of the order. No two rows have the same values in all of them. `column` is the SQL expression, if it is not the name. */
  key: readonly { name: string; column?: RawBuilder<unknown>; type: 'uuid' | 'date' }[];
  direction: 'ASC' | 'DESC';
  /** Subquery for the columns of a row. It finds the row by the key columns of the table `page`. */
  row: RawBuilder<Row>;
}

export const NEWEST_FIRST = { key: [{ name: 'id', type: 'uuid' }], direction: 'DESC' } as const satisfies object;

interface KeysetPage<Row> {
  rows: Row[];
  /** Values of the key of the row after which the next page begins. Null: the list has ended. */
  next: string[] | null;
}

type Numbered<Row> = Row & { list_key: string[]; passes: boolean | null; number: number };

/** Reads one page, which ends after `MAX_EXAMINED` rows. The last examined row comes too, so that the next page begins there. */
export async function readKeysetPage<Row>(
  db: Database,
  list: KeysetList<Row>,
  { after, limit }: { after: string[] | null; limit: number },
): Promise<KeysetPage<Row>> {
  const [first, ...others] = list.indexed ?? [];
  const searches = [...(list.searches ?? []), ...others.map((each) => ({ isMatch: equals(each) }))];
  const few = await findFew(db, list, searches);
  const checked = searches.flatMap((search) => (search === few?.search ? [] : [search.isMatch]));
  const filters = [...(list.filters ?? []), ...checked];
  const lead = few === null ? first : undefined;
  const names = [...given(lead, () => 'lead'), ...list.key.map(({ name }) => name)];
  const order = sql.raw(names.map((name) => `${name} ${list.direction}`).join(', '));
  const key = sql.join(list.key.map(({ name }) => sql`page.${sql.id(name)}::text`));
  const where = [
    list.ofTenant,
    ...(list.where ?? []),
    ...boundsOf(list, after, lead),
    ...given(lead?.where, (condition) => condition),
    ...(lead === undefined ? given(first, equals) : []),
  ];
  const statement = sql<Numbered<Row>>`
    SELECT "row".*, ARRAY[${key}] AS list_key, page.passes, page.number
    FROM (
      SELECT * FROM (
        SELECT *, row_number() OVER (ORDER BY ${order})::int4 AS number
        FROM (${examined(list, { where, filters, few, lead, order })}) AS examined
      ) AS numbered
      WHERE passes OR number = ${sql.lit(MAX_EXAMINED)}
      ORDER BY ${order} LIMIT ${limit + 1}
    ) AS page CROSS JOIN LATERAL (${list.row} LIMIT 1) AS "row"
    ORDER BY ${order}`;
  const { rows } = await (few === null ? executeByIndex(db, statement) : executeWithoutTableScan(db, statement));
  const last = rows[rows.length > limit ? limit - 1 : rows.length - 1];
  const isEnd = rows.length <= limit && last?.number !== MAX_EXAMINED;
  return {
    rows: rows.slice(0, limit).filter(({ passes }) => passes),
    next: isEnd || last === undefined ? null : last.list_key,
  };
}

interface FoundRows {
  search: Search;
  ids: string[];
}

async function findFew(
  db: Database,
  { from, ofTenant }: KeysetList<unknown>,
  searches: Search[],
): Promise<FoundRows | null> {
  if (searches.length === 0) {
    return null;
  }
  const few = sql.lit(FEW);
  const found = searches.map(({ isMatch, ids = sql`SELECT id FROM ${from} WHERE ${ofTenant} AND ${isMatch}` }) => {
    return sql`(SELECT CASE WHEN count(*) < ${few} THEN coalesce(json_agg(id), '[]') END FROM (${ids} LIMIT ${few}) AS found)`;
  });
  const statement = sql<{ found: (string[] | null)[] }>`SELECT json_build_array(${sql.join(found)}) AS found`;
  const { rows } = await executeWithoutTableScan(db, statement);
  return searches
    .map((search, index) => ({ search, ids: rows[0]?.found[index] ?? null }))
    .filter((each): each is FoundRows => each.ids !== null)
    .reduce<FoundRows | null>((least, each) => (least && least.ids.length <= each.ids.length ? least : each), null);
}

interface Examination {
  where: Condition[];
  filters: Condition[];
  few: FoundRows | null;
  lead: Indexed | undefined;
  order: RawBuilder<unknown>;
}

function examined(
  { from, key }: KeysetList<unknown>,
  { where, filters, few, lead, order }: Examination,
): RawBuilder<unknown> {
  const columns = [
    ...given(lead, ({ column }) => sql`${sql.id(column)} AS lead`),
    ...key.map(({ name, column = sql.id(name) }) => sql`${column} AS ${sql.id(name)}`),
  ];
  const select = sql`SELECT ${sql.join(columns)}, ${allOf(filters)} AS passes FROM ${from} WHERE ${allOf(where)}`;
  // OFFSET 0 keeps PostgreSQL from reading an index in the order of the list until it meets the few rows of the search.
  const rows = few === null ? select : sql`SELECT * FROM (${select} AND id = ANY (${few.ids}::uuid[]) OFFSET 0) AS few`;
  return sql`${rows} ORDER BY ${order} LIMIT ${sql.lit(MAX_EXAMINED)}`;
}

/** With `lead`, compares its column together with the key. With `column = value`, PostgreSQL might read the index of the key alone. */
function boundsOf(
  { key, direction, fromId, beforeId }: KeysetList<unknown>,
  after: string[] | null,
  lead: Indexed | undefined,
): Condition[] {
  const compare = (operator: string, values: string[]) => {
    const columns = key.slice(0, values.length).map(({ name, column = sql.id(name) }) => column);
    const bounds = values.map((value, index) => sql`${value}::${sql.raw(key[index]?.type ?? '')}`);
    const leadColumn = given(lead, ({ column }) => sql.id(column));
    const leadValue = given(lead, ({ value, type }) => sql`${value}::${sql.raw(type)}`);
    return sql`(${sql.join([...leadColumn, ...columns])}) ${sql.raw(operator)} (${sql.join([...leadValue, ...bounds])})`;
  };
  const isUp = direction === 'ASC';
  const [cursor = null] = after ?? [];
  const start = isUp ? fromId : beforeId;
  // A cursor is within the bounds, unless it belongs to a call with other filters.
  const isCursorLater = cursor !== null && (start === undefined || (isUp ? cursor >= start : cursor <= start));
  const fromStart = isCursorLater || start === undefined ? null : compare(isUp ? '>=' : '<', [start]);
  const fromCursor = isCursorLater && after !== null ? compare(isUp ? '>' : '<', after) : null;
  const end = isUp ? beforeId : fromId;
  const toEnd = end === undefined ? null : compare(isUp ? '<' : '>=', [end]);
  const ofLead = (operator: string) => (lead === undefined ? null : compare(operator, []));
  const bounds = [fromCursor ?? fromStart ?? ofLead(isUp ? '>=' : '<='), toEnd ?? ofLead(isUp ? '<=' : '>=')];
  return bounds.filter((bound) => bound !== null);
}

function equals({ column, type, value }: Indexed): Condition {
  return sql`${sql.id(column)} = ${value}::${sql.raw(type)}`;
}

/** Returns the condition or the search for a value of a query. Returns an empty array if the value is undefined. */
export function given<Value, Made>(value: Value | undefined, make: (value: Value) => Made): Made[] {
  return value === undefined ? [] : [make(value)];
}

function allOf(conditions: Condition[]): Condition {
  return conditions.length === 0 ? sql`true` : sql`(${sql.join(conditions, sql` AND `)})`;
}

/** Character that is greater than every other character in the collation "C". */
const LAST_CHARACTER = '\u{10FFFF}';

/** Returns an SQL condition that is true if the column, which has names as `searchName` returns them, begins with this prefix. */
export function beginsWith(column: RawBuilder<unknown>, prefix: string): Condition {
  const begin = searchName(prefix);
  return sql`${column} BETWEEN ${begin} AND ${begin + LAST_CHARACTER}`;
}
