import { type Insertable, type RawBuilder, sql } from 'kysely';
import { type Db, type DB, isCluster } from './database.ts';
import { TABLES } from './tables.ts';

type FieldTypes<Input> = { [Name in keyof Input & string]-?: string };

type Named<Input> = Record<keyof Input & string, RawBuilder<unknown>>;

const TENANT_FIELDS: ReadonlySet<string> = new Set(['tenantId', 'tenant_id']);

/** Fields of an input. A list of inputs is one JSON parameter, so the text of a statement is the same for every number of inputs. */
export class Fields<Input extends object> {
  readonly columns: RawBuilder<unknown>;
  readonly #listed: Named<Input>;
  readonly #tenant: (keyof Input & string) | undefined;
  readonly #types: RawBuilder<unknown>;

  constructor(types: FieldTypes<Input>) {
    const fields = Object.entries<string>(types) as [keyof Input & string, string][];
    this.columns = sql.raw(fields.map(([name]) => `"${name}"`).join(', '));
    this.#tenant = fields.map(([name]) => name).find((name) => TENANT_FIELDS.has(name));
    this.#listed = Object.fromEntries(
      fields.map(([name, type]) => [name, sql.raw(isJson(type) ? `given."${name}"::${type}` : `given."${name}"`)]),
    ) as Named<Input>;
    // A JSON field is passed as text in the list, so that PostgreSQL does not change how the JSON is written.
    this.#types = sql.raw(fields.map(([name, type]) => `"${name}" ${isJson(type) ? 'text' : type}`).join(', '));
  }

  /** Makes a table expression with one row for each input. With one array parameter for each field, PostgreSQL would take longer. */
  list(inputs: Input[]): RawBuilder<unknown> {
    return sql`
      ROWS FROM (json_to_recordset(${JSON.stringify(inputs)}) AS (${this.#types}))
      WITH ORDINALITY AS given (${this.columns}, input_number)`;
  }

  /** Returns SQL expressions for the fields of one input. The tenant is a `tenantOf` expression. */
  listed(db: Db, inputs: Input[]): Named<Input> {
    const tenant = this.#tenant;
    if (tenant === undefined) {
      return this.#listed;
    }
    const ofAll = isCluster(db) && inputs[0] !== undefined ? Number(inputs[0][tenant]) : null;
    return { ...this.#listed, [tenant]: tenantOf(ofAll, this.#listed[tenant]) };
  }
}

/** Fields of the rows of a table, except the given columns. A column that a row leaves out becomes null, even if it has a default. */
export function fieldsOfTable<Table extends keyof DB, Left extends keyof DB[Table] & string = never>(
  table: Table,
  left: readonly Left[] = [],
) {
  const types = Object.entries<string>(TABLES[table])
    .filter(([name]) => !(left as readonly string[]).includes(name))
    .map(([name, type]) => [name, type.replace(/[?=]$/, '')]);
  type Row = Omit<Insertable<DB[Table]>, Left>;
  return new Fields<Row>(Object.fromEntries(types) as FieldTypes<Row>);
}

/** The same text on one node, where `tenantId` is null, and on a cluster, which finds the node of the statement by `tenantId`. */
function tenantOf(tenantId: number | null, ofInput: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce(${tenantId}::bigint, ${ofInput})`;
}

/** Makes one SELECT for all inputs, with at most one row for each. A row has the `input_number` of its input, counted from 1. */
export function selectForEach<Input extends object, Row>(
  db: Db,
  fields: Fields<Input>,
  inputs: Input[],
  select: (input: Named<Input>) => RawBuilder<Row>,
): RawBuilder<Row & { input_number: number }> {
  return sql`
    SELECT given.input_number, found.*
    FROM ${fields.list(inputs)} CROSS JOIN LATERAL (${select(fields.listed(db, inputs))}) AS found`;
}

/** Runs `selectForEach`. Returns the row of each input in their order, or undefined if an input has no row. */
export async function selectEach<Input extends object, Row extends object>(
  db: Db,
  fields: Fields<Input>,
  inputs: Input[],
  select: (input: Named<Input>) => RawBuilder<Row>,
): Promise<(Row | undefined)[]> {
  const { rows } = await selectForEach(db, fields, inputs, select).execute(db);
  const found = new Map(rows.map(({ input_number, ...row }) => [input_number, row as unknown as Row]));
  return inputs.map((_, index) => found.get(index + 1));
}

export interface Share<Input> {
  inputs: Input[];
  /** Returns the SQL expression for the tenant of the inputs. The named table or CTE has the tenant of each input in `tenant_id`. */
  tenantOf: (table: string) => RawBuilder<unknown>;
}

/** Divides inputs among statements: on one node, one statement for the inputs of all tenants, and on a cluster one for each tenant. */
export function sharesOf<Input>(db: Db, inputs: Input[], tenantIdOf: (input: Input) => number): Share<Input>[] {
  const share = (tenantId: number | null, ofShare: Input[]): Share<Input> => ({
    inputs: ofShare,
    tenantOf: (table) => tenantOf(tenantId, sql.ref(`${table}.tenant_id`)),
  });
  return isCluster(db)
    ? Array.from(Map.groupBy(inputs, tenantIdOf), ([tenantId, ofTenant]) => share(tenantId, ofTenant))
    : [share(null, inputs)];
}

/** Does the work of one share after the other, so that on a cluster other work gets a connection between two. Then throws a failure. */
export async function forEachShare<Input>(
  db: Db,
  inputs: Input[],
  tenantIdOf: (input: Input) => number,
  work: (inputs: Input[]) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const share of inputs.length === 0 ? [] : sharesOf(db, inputs, tenantIdOf)) {
    await work(share.inputs).catch((error: unknown) => failures.push(error));
  }
  for (const failure of failures) {
    throw failure;
  }
}

/** Row to which each row of an INSERT belongs, for example its credential. It must exist, and is never deleted. */
export interface Owner<Row> {
  table: string;
  idColumn: keyof Row & string;
  /** Columns by which the rows are sorted, so that two statements with the same keys never deadlock. */
  key: (keyof Row & string)[];
}

/** Makes columns and rows of an INSERT. A cluster can route it only if its SELECT reads the tenant from a table, here the owner's. */
export function rowsToInsert<Row extends { tenant_id: unknown }>(
  db: Db,
  fields: Fields<Row>,
  rows: Row[],
  { table, idColumn, key }: Owner<Row>,
): RawBuilder<unknown> {
  const listed = fields.listed(db, rows);
  const values = { ...listed, tenant_id: sql`owner.tenant_id` };
  return sql`
    (${fields.columns}) SELECT ${sql.join(Object.values(values))} FROM ${fields.list(rows.toSorted(by(key)))}
    CROSS JOIN LATERAL (
      SELECT tenant_id FROM ${sql.table(table)} WHERE tenant_id = ${listed.tenant_id} AND id = ${listed[idColumn]} LIMIT 1
    ) AS owner
    ORDER BY given.input_number`;
}

function by<Row>(key: (keyof Row & string)[]): (a: Row, b: Row) => number {
  return (a, b) => {
    const name = key.find((each) => a[each] !== b[each]);
    if (name === undefined) {
      return 0;
    }
    // A row in which the value is undefined comes first, because `undefined < value` and `value < undefined` are both false.
    const isMissing = a[name] === undefined;
    return isMissing || a[name] < b[name] ? -1 : 1;
  };
}

function isJson(type: string): boolean {
  return type === 'json' || type === 'jsonb';
}

/** Makes the SET of an upsert that gives the stored row all values of the new row, except those of its key. */
export function excludedValues<Row extends object, Key extends keyof Row & string>(rows: Row[], key: readonly Key[]) {
  const names = Object.keys(rows[0] ?? {}).filter((name) => !(key as readonly string[]).includes(name));
  return Object.fromEntries(names.map((name) => [name, sql.ref(`excluded.${name}`)])) as unknown as Record<
    Exclude<keyof Row & string, Key>,
    RawBuilder<never>
  >;
}
