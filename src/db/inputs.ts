import { type RawBuilder, sql } from 'kysely';
import type { Database, Tx } from './database.ts';
import { isCluster } from './layout.ts';

/** PostgreSQL's type of each field of an input. The fields are named here once, for one input and for many. */
export type FieldTypes<Input> = { [Name in keyof Input & string]-?: string };

/** The values of one input as a statement names them: parameters, or the columns of a list of inputs. */
type Named<Input> = Record<keyof Input & string, RawBuilder<unknown>>;

/**
 * Selects for each input: a single one by parameters alone, as a cluster's router wants it, several by one list. The text is the same
 * for any number of several inputs, so PostgreSQL plans it once.
 * @param select gives one row at most for an input
 * @returns the rows, each with the `place` of its input, from 1
 */
export function selectForEach<Input extends object, Row>(
  types: FieldTypes<Input>,
  inputs: Input[],
  select: (input: Named<Input>) => RawBuilder<Row>,
): RawBuilder<Row & { place: number }> {
  const [only] = inputs;
  return only !== undefined && inputs.length === 1
    ? sql`SELECT 1 AS place, found.* FROM (${select(parametersOf(types, only))}) AS found`
    : sql`
      SELECT given.place, found.* FROM ${listOf(types, inputs)}
      CROSS JOIN LATERAL (${select(columnsOf(types))}) AS found`;
}

/** Runs `selectForEach`. @returns for each input in turn its row, undefined if there is none */
export async function selectEach<Input extends object, Row extends object>(
  db: Database | Tx,
  types: FieldTypes<Input>,
  inputs: Input[],
  select: (input: Named<Input>) => RawBuilder<Row>,
): Promise<(Row | undefined)[]> {
  const { rows } = await selectForEach(types, inputs, select).execute(db);
  const found = new Map(rows.map(({ place, ...row }) => [place, row as unknown as Row]));
  return inputs.map((_, index) => found.get(index + 1));
}

/**
 * The columns and rows of an INSERT. Several rows go as one list, whose text is the same for any number of rows; a single row, and any
 * on a cluster, whose router wants that, as VALUES.
 * @param key the columns that the rows are sorted by: two statements with the same keys then never deadlock. Of rows with the same key
 *   the first comes first.
 */
export function rowsToInsert<Row extends object>(
  db: Database | Tx,
  types: FieldTypes<Row>,
  rows: Row[],
  key: (keyof Row & string)[],
): RawBuilder<unknown> {
  const columns = sql.join(namesOf(types).map((name) => sql.id(name)));
  if (rows.length > 1 && !isCluster(db)) {
    return sql`
      (${columns}) SELECT ${sql.join(Object.values(columnsOf(types)))} FROM ${listOf(types, rows)}
      ORDER BY ${sql.join([...key, 'place'].map((name) => sql.ref(`given.${name}`)))}`;
  }
  const values = rows.toSorted(by(key)).map((row) => sql`(${sql.join(Object.values(parametersOf(types, row)))})`);
  return sql`(${columns}) VALUES ${sql.join(values)}`;
}

function by<Row>(key: (keyof Row & string)[]): (a: Row, b: Row) => number {
  return (a, b) => {
    const name = key.find((each) => a[each] !== b[each]);
    return name === undefined ? 0 : a[name] < b[name] ? -1 : 1;
  };
}

function namesOf<Input>(types: FieldTypes<Input>): (keyof Input & string)[] {
  return Object.keys(types) as (keyof Input & string)[];
}

function parametersOf<Input>(types: FieldTypes<Input>, input: Input): Named<Input> {
  return named(types, (name) => sql`${input[name]}::${sql.raw(types[name])}`);
}

function columnsOf<Input>(types: FieldTypes<Input>): Named<Input> {
  return named(types, (name) =>
    isJson(types[name]) ? sql`${sql.ref(`given.${name}`)}::${sql.raw(types[name])}` : sql.ref(`given.${name}`),
  );
}

function named<Input>(
  types: FieldTypes<Input>,
  value: (name: keyof Input & string) => RawBuilder<unknown>,
): Named<Input> {
  return Object.fromEntries(namesOf(types).map((name) => [name, value(name)])) as Named<Input>;
}

/** One parameter, which takes less to write and to read than an array for each field. JSON in it is text, and stays as it was written. */
function listOf<Input>(types: FieldTypes<Input>, inputs: Input[]): RawBuilder<unknown> {
  const names = namesOf(types);
  const fields = names.map((name) => sql`${sql.id(name)} ${sql.raw(isJson(types[name]) ? 'text' : types[name])}`);
  return sql`
    ROWS FROM (json_to_recordset(${JSON.stringify(inputs)}) AS (${sql.join(fields)}))
      WITH ORDINALITY AS given (${sql.join([...names, 'place'].map((name) => sql.id(name)))})`;
}

function isJson(type: string): boolean {
  return type === 'json' || type === 'jsonb';
}
