import { type RawBuilder, sql } from 'kysely';
import { type Account, SERVICE, SERVICE_ACCOUNT } from '../lib/account.ts';
import type { Db } from './database.ts';
import { isCluster } from './layout.ts';

/** PostgreSQL type of each field of an input. */
type FieldTypes<Input> = { [Name in keyof Input & string]-?: string };

/** SQL expressions for the values of one input: parameters of the statement, or columns of a list of inputs. */
type Named<Input> = Record<keyof Input & string, RawBuilder<unknown>>;

/** Names of the fields that hold the id of the tenant. */
const TENANT_FIELDS: ReadonlySet<string> = new Set(['tenantId', 'tenant_id']);

/**
 * Names and types of the fields of an input. An input is the set of values that one call gives to a statement. The same fields serve a
 * statement for one input and a statement for many inputs. The constructor makes the fixed parts of the statements once. If each call made
 * them again, this process would need twice as much CPU time for a call.
 */
export class Fields<Input extends object> {
  readonly #types: [name: keyof Input & string, type: string][];
  /** Names of the fields as a list of columns, for example `"id", "status"`. */
  readonly columns: RawBuilder<unknown>;
  /** SQL expressions that read the fields of one input from the table expression that `list` makes. */
  readonly listed: Named<Input>;
  readonly #tenant: (keyof Input & string) | undefined;
  readonly #listBegin: RawBuilder<unknown>;
  readonly #listEnd: RawBuilder<unknown>;

  constructor(types: FieldTypes<Input>) {
    this.#types = Object.entries<string>(types) as [keyof Input & string, string][];
    this.#tenant = this.#types.map(([name]) => name).find((name) => TENANT_FIELDS.has(name));
    const names = this.#types.map(([name]) => `"${name}"`);
    this.columns = sql.raw(names.join(', '));
    this.listed = this.#named((name, type) => sql.raw(isJson(type) ? `given."${name}"::${type}` : `given."${name}"`));
    // A JSON field is passed as text in the list, so that PostgreSQL does not change how the JSON is written.
    const fields = this.#types.map(([name, type]) => `"${name}" ${isJson(type) ? 'text' : type}`);
    this.#listBegin = sql.raw('ROWS FROM (json_to_recordset(');
    this.#listEnd = sql.raw(
      `) AS (${fields.join(', ')})) WITH ORDINALITY AS given (${names.join(', ')}, input_number)`,
    );
  }

  /**
   * Makes a table expression with one row for each input, from one JSON parameter. With one array parameter for each field, the statement
   * would take longer.
   */
  list(inputs: Input[]): RawBuilder<unknown> {
    return sql`${this.#listBegin}${JSON.stringify(inputs)}${this.#listEnd}`;
  }

  /**
   * Returns SQL expressions that read the fields of one input from the table expression that `list` makes. On a cluster, the expression for
   * the tenant is a parameter, because the cluster finds the node by this parameter. All inputs must then belong to one tenant.
   */
  listedFor(db: Db, [first]: Input[]): Named<Input> {
    const tenant = this.#tenant;
    return isCluster(db) && tenant !== undefined && first !== undefined
      ? { ...this.listed, [tenant]: sql`${first[tenant]}::bigint` }
      : this.listed;
  }

  /** Returns one parameter for each field of the input. */
  parameters(input: Input): Named<Input> {
    return this.#named((name, type) => sql`${input[name]}::${sql.raw(type)}`);
  }

  #named(value: (name: keyof Input & string, type: string) => RawBuilder<unknown>): Named<Input> {
    return Object.fromEntries(this.#types.map(([name, type]) => [name, value(name, type)])) as Named<Input>;
  }
}

/**
 * Makes one SELECT for all inputs. An input is the set of values that one call gives to the statement. A single input is passed with one
 * parameter for each field. Several inputs are passed as one JSON list. The text of the statement is then the same for every number of
 * inputs, so PostgreSQL plans the statement only once.
 *
 * On a cluster, all inputs must belong to one tenant. The id of this tenant is a parameter in both forms, because the cluster finds the
 * node by this parameter.
 * @param select must return at most one row for an input
 * @returns a statement for the rows. Each row has the `input_number` of its input, counted from 1.
 */
export function selectForEach<Input extends object, Row>(
  db: Db,
  fields: Fields<Input>,
  inputs: Input[],
  select: (input: Named<Input>) => RawBuilder<Row>,
): RawBuilder<Row & { input_number: number }> {
  const [only] = inputs;
  return only !== undefined && inputs.length === 1
    ? sql`SELECT 1 AS input_number, found.* FROM (${select(fields.parameters(only))}) AS found`
    : sql`SELECT given.input_number, found.* FROM ${fields.list(inputs)} CROSS JOIN LATERAL (${select(fields.listedFor(db, inputs))}) AS found`;
}

/**
 * Runs the SELECT that `selectForEach` makes.
 * @returns an array with one element for each input, in the order of the inputs. The element is the row of the input, or undefined if the
 * SELECT returns no row for this input.
 */
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

/** Part of the inputs of `sharesOf` that one statement handles. */
export interface Share<Input> {
  inputs: Input[];
  /**
   * Account to which the database connection of the statement is charged. On a cluster, this is the account of the tenant of the inputs. On
   * one node, it is the account of the service itself.
   */
  account: Account;
  /**
   * Returns the SQL expression for the tenant of the inputs, for use in conditions. On one node, it is the column `tenant_id` of the named
   * table or CTE. On a cluster, it is a parameter.
   */
  tenantOf: (table: string) => RawBuilder<unknown>;
}

/**
 * Divides inputs among statements. On one node, one statement takes the inputs of all tenants, so its lists and CTEs need a column for the
 * tenant. On a cluster there is one statement for each tenant. Each of its conditions has the tenant as a parameter, because the cluster
 * finds the node by this parameter.
 */
export function sharesOf<Input>(db: Db, inputs: Input[], tenantIdOf: (input: Input) => number): Share<Input>[] {
  if (!isCluster(db)) {
    return [{ inputs, account: SERVICE_ACCOUNT, tenantOf: (table) => sql.ref(`${table}.tenant_id`) }];
  }
  return Array.from(Map.groupBy(inputs, tenantIdOf), ([tenantId, ofTenant]) => ({
    inputs: ofTenant,
    account: { tenant: String(tenantId), caller: SERVICE },
    tenantOf: () => sql`${tenantId}::bigint`,
  }));
}

/**
 * Makes the columns and rows of an INSERT. Several rows become one JSON list, so that the text of the statement is the same for every
 * number of rows. A single row becomes VALUES. On a cluster, all rows become VALUES, because the router of the cluster needs that.
 * @param key columns by which the rows are sorted, so that two statements with the same keys never deadlock. Rows with the same key keep
 * their order.
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
    if (name === undefined) {
      return 0;
    }
    // A row in which the value is undefined comes first. Without this rule, `undefined < value` and `value < undefined` would both be
    // false. The order would then contradict itself, and the sort could also reorder rows with the same key.
    const isMissing = a[name] === undefined;
    return isMissing || a[name] < b[name] ? -1 : 1;
  };
}

function isJson(type: string): boolean {
  return type === 'json' || type === 'jsonb';
}
