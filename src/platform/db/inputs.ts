import { type RawBuilder, sql } from 'kysely';
import type { Db } from './database.ts';
import { isCluster } from './layout.ts';

/** PostgreSQL's type of each field of an input. */
type FieldTypes<Input> = { [Name in keyof Input & string]-?: string };

/** The values of one input as a statement names them: parameters, or the columns of a list of inputs. */
type Named<Input> = Record<keyof Input & string, RawBuilder<unknown>>;

/**
 * The fields of an input with their types, named once for a statement of one input and of many. The parts of statements are made once:
 * put together anew for each call, they cost Node as much as everything else in it.
 */
export class Fields<Input extends object> {
  readonly #types: [name: keyof Input & string, type: string][];
  /** `"id", "status"` */
  readonly columns: RawBuilder<unknown>;
  /** The fields of a list, as `list` names it. */
  readonly listed: Named<Input>;
  readonly #listBegin: RawBuilder<unknown>;
  readonly #listEnd: RawBuilder<unknown>;

  constructor(types: FieldTypes<Input>) {
    this.#types = Object.entries<string>(types) as [keyof Input & string, string][];
    const names = this.#types.map(([name]) => `"${name}"`);
    this.columns = sql.raw(names.join(', '));
    this.listed = this.#named((name, type) => sql.raw(isJson(type) ? `given."${name}"::${type}` : `given."${name}"`));
    // JSON in the list is text, and stays as it was written.
    const fields = this.#types.map(([name, type]) => `"${name}" ${isJson(type) ? 'text' : type}`);
    this.#listBegin = sql.raw('ROWS FROM (json_to_recordset(');
    this.#listEnd = sql.raw(
      `) AS (${fields.join(', ')})) WITH ORDINALITY AS given (${names.join(', ')}, input_number)`,
    );
  }

  /** Many inputs as one parameter, which takes less to write and to read than an array for each field. */
  list(inputs: Input[]): RawBuilder<unknown> {
    return sql`${this.#listBegin}${JSON.stringify(inputs)}${this.#listEnd}`;
  }

  parameters(input: Input): Named<Input> {
    return this.#named((name, type) => sql`${input[name]}::${sql.raw(type)}`);
  }

  #named(value: (name: keyof Input & string, type: string) => RawBuilder<unknown>): Named<Input> {
    return Object.fromEntries(this.#types.map(([name, type]) => [name, value(name, type)])) as Named<Input>;
  }
}

/**
 * Selects for each input: a single one by parameters alone, as a cluster's router wants it, several by one list. The text is the same
 * for any number of several inputs, so PostgreSQL plans it once.
 * @param select gives one row at most for an input
 * @returns the rows, each with the `input_number` of its input, from 1
 */
export function selectForEach<Input extends object, Row>(
  fields: Fields<Input>,
  inputs: Input[],
  select: (input: Named<Input>) => RawBuilder<Row>,
): RawBuilder<Row & { input_number: number }> {
  const [only] = inputs;
  return only !== undefined && inputs.length === 1
    ? sql`SELECT 1 AS input_number, found.* FROM (${select(fields.parameters(only))}) AS found`
    : sql`SELECT given.input_number, found.* FROM ${fields.list(inputs)} CROSS JOIN LATERAL (${select(fields.listed)}) AS found`;
}

/** Runs `selectForEach`. @returns for each input in turn its row, undefined if there is none */
export async function selectEach<Input extends object, Row extends object>(
  db: Db,
  fields: Fields<Input>,
  inputs: Input[],
  select: (input: Named<Input>) => RawBuilder<Row>,
): Promise<(Row | undefined)[]> {
  const { rows } = await selectForEach(fields, inputs, select).execute(db);
  const found = new Map(rows.map(({ input_number, ...row }) => [input_number, row as unknown as Row]));
  return inputs.map((_, index) => found.get(index + 1));
}

/**
 * The columns and rows of an INSERT. Several rows go as one list, whose text is the same for any number of rows; a single row, and any
 * on a cluster, whose router wants that, as VALUES.
 * @param key the columns that the rows are sorted by: two statements with the same keys then never deadlock. Of rows with the same key
 *   the first comes first.
 */
export function rowsToInsert<Row extends object>(
  db: Db,
  fields: Fields<Row>,
  rows: Row[],
  key: (keyof Row & string)[],
): RawBuilder<unknown> {
  const sorted = rows.toSorted(by(key));
  if (rows.length > 1 && !isCluster(db)) {
    return sql`(${fields.columns}) SELECT ${sql.join(Object.values(fields.listed))} FROM ${fields.list(sorted)} ORDER BY given.input_number`;
  }
  const values = sorted.map((row) => sql`(${sql.join(Object.values(fields.parameters(row)))})`);
  return sql`(${fields.columns}) VALUES ${sql.join(values)}`;
}

function by<Row>(key: (keyof Row & string)[]): (a: Row, b: Row) => number {
  return (a, b) => {
    const name = key.find((each) => a[each] !== b[each]);
    return name === undefined ? 0 : a[name] < b[name] ? -1 : 1;
  };
}

function isJson(type: string): boolean {
  return type === 'json' || type === 'jsonb';
}
