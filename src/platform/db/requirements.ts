import { sql } from 'kysely';
import { OperatorError } from '../errors.ts';
import type { Database, Tx } from './database.ts';
import { TABLES } from './types.ts';
import { type Comparison, compareMigrations, namesOfThisVersion } from './migrate.ts';
import { MIN_POSTGRES_MAJOR } from './session.ts';
import { runTransaction } from './transaction.ts';

/** Properties of a database and of the role of the connection, which decide if the service can write to the database. */
export interface Fitness {
  /** Full version of the server, for example `14.9`. */
  version: string;
  /** Major version, for example 14. */
  major: number;
  /** Character encoding of the database, for example `UTF8`. */
  encoding: string;
  /** True if the server is a standby, which refuses writes. */
  isStandby: boolean;
  role: string;
  /** First existing schema of the search path that the role may use, or null if there is no such schema. */
  schema: string | null;
  /** True if the role may create tables in this schema. Only missing migrations need this right. */
  mayCreate: boolean;
  /** Name of a table that the role may not read and change, or null if there is no such table. */
  closedTable: string | null;
  /** Table whose owner is another role, and this owner, or null. Only the owner of a table may apply a migration that changes it. */
  foreignTable: { name: string; owner: string } | null;
  /** The list of applied migrations counts as empty if the role may not read it. */
  migrations: Comparison;
}

/** Rights of the role on a table of the service. */
interface TableRights {
  name: string;
  owner: string;
  /** True if the role has the rights of the owner. */
  isOwned: boolean;
  /** True if the role may do with the table what the service does. */
  isOpen: boolean;
}

/** Table in which the names of the applied migrations are stored. The service only reads it, except in a migration. */
const LIST = 'kysely_migration';

/** Reads the properties of a database, which may have no tables yet. Changes nothing. */
export async function readFitness(db: Database): Promise<Fitness> {
  // A standby allows only a transaction that says that it reads.
  return await runTransaction(db, readIn, 'read only');
}

async function readIn(tx: Tx): Promise<Fitness> {
  const { rows } = await sql<Omit<Fitness, 'migrations' | 'closedTable' | 'foreignTable'>>`
    SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
      current_setting('server_version_num')::int / 10000 AS major,
      current_setting('server_encoding') AS encoding,
      pg_is_in_recovery() AS "isStandby",
      current_user AS role,
      current_schema() AS schema,
      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreate"`.execute(tx);
  const tables = await readRights(tx);
  const foreign = tables.find(({ isOwned }) => !isOwned);
  return {
    ...(rows[0] as Omit<Fitness, 'migrations' | 'closedTable' | 'foreignTable'>),
    closedTable: tables.find(({ isOpen }) => !isOpen)?.name ?? null,
    foreignTable: foreign === undefined ? null : { name: foreign.name, owner: foreign.owner },
    migrations: await compareIn(tx, tables),
  };
}

async function compareIn(tx: Tx, tables: TableRights[]): Promise<Comparison> {
  const list = tables.find(({ name }) => name === LIST);
  if (list === undefined) {
    return { missing: await namesOfThisVersion(), newer: [] };
  }
  return list.isOpen ? await compareMigrations(tx) : { missing: [], newer: [] };
}

/** Reads the rights on the tables of this version that exist in the database. */
async function readRights(tx: Tx): Promise<TableRights[]> {
  const tables = [LIST, ...Object.keys(TABLES)];
  const { rows } = await sql<TableRights>`
    SELECT c.relname AS name, pg_get_userbyid(c.relowner) AS owner, pg_has_role(c.relowner, 'USAGE') AS "isOwned",
      has_table_privilege(c.oid, 'SELECT') AND (c.relname = ${LIST} OR (has_table_privilege(c.oid, 'INSERT')
        AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))) AS "isOpen"
    FROM unnest(${tables}::text[]) AS given (name) JOIN pg_class AS c ON c.oid = to_regclass(quote_ident(given.name))
    ORDER BY c.relname`.execute(tx);
  return rows;
}

/**
 * Refuses a database that the service cannot use, before anything is written to it.
 * @throws OperatorError with the first reason
 */
export async function refuseUnfit(db: Database): Promise<void> {
  const [fault] = faultsOf(await readFitness(db));
  if (fault !== undefined) {
    throw new OperatorError(`${fault} Nothing was changed.`);
  }
}

/** Returns a message for each reason why the service cannot use a database. Each message says what the operator must do. */
export function faultsOf(fitness: Fitness): string[] {
  const faults: string[] = [];
  if (fitness.major < MIN_POSTGRES_MAJOR) {
    faults.push(`The database server is PostgreSQL ${fitness.version}. Use version ${MIN_POSTGRES_MAJOR} or later.`);
  }
  if (fitness.encoding !== 'UTF8') {
    faults.push(
      `The encoding of the database is ${fitness.encoding}. Create a database with ENCODING 'UTF8' TEMPLATE template0, and use it instead.`,
    );
  }
  if (fitness.isStandby) {
    faults.push('The database server is a standby, which refuses writes. Use the URL of the primary.');
  }
  return [...faults, ...faultsOfRights(fitness)];
}

function faultsOfRights({ role, schema, mayCreate, closedTable, foreignTable, migrations }: Fitness): string[] {
  const isMissing = migrations.missing.length > 0;
  if (schema === null) {
    return [
      `The role ${role} may use no schema of its search path. Run GRANT USAGE, CREATE ON SCHEMA public TO ${role}, or set a search path.`,
    ];
  }
  if (closedTable !== null) {
    return [
      `The role ${role} may not read and change the table ${closedTable}. ` +
        `Use the role that owns the tables, or run GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}.`,
    ];
  }
  if (isMissing && !mayCreate) {
    return [
      `The role ${role} may not create tables in the database, and migrations are missing. ` +
        `Make the role the owner of the database, or run GRANT CREATE ON SCHEMA ${schema} TO ${role}.`,
    ];
  }
  return isMissing && foreignTable !== null
    ? [
        `The role ${role} does not own the table ${foreignTable.name}, so it cannot apply the missing migrations. ` +
          `Run "roomservice migrate" as the role ${foreignTable.owner}, or run GRANT ${foreignTable.owner} TO ${role}.`,
      ]
    : [];
}
