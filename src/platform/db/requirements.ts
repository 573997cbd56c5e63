import { sql } from 'kysely';
import { OperatorError } from '../errors.ts';
import type { Database } from './database.ts';
import { TABLES } from './types.ts';
import { type Comparison, compareMigrations } from './migrate.ts';
import { MIN_POSTGRES_MAJOR } from './session.ts';

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
  /** Name of a table that the role may not read and change, or null if there is no such table. */
  closedTable: string | null;
  /** Not compared if the role may not read a table. */
  migrations: Comparison;
}

/** Table in which the names of the applied migrations are stored. The service only reads it, except in a migration. */
const LIST = 'kysely_migration';

/** Reads the properties of a database, which may have no tables yet. Changes nothing. */
export async function readFitness(db: Database): Promise<Fitness> {
  const tables = [LIST, ...Object.keys(TABLES)];
  const { rows } = await sql<Omit<Fitness, 'migrations'>>`
    SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
      current_setting('server_version_num')::int / 10000 AS major,
      current_setting('server_encoding') AS encoding,
      pg_is_in_recovery() AS "isStandby",
      current_user AS role,
      (SELECT min(relname) FROM pg_class
        WHERE oid IN (SELECT to_regclass(quote_ident(name)) FROM unnest(${tables}::text[]) AS name)
          AND NOT (has_table_privilege(oid, 'SELECT') AND (relname = ${LIST} OR (has_table_privilege(oid, 'INSERT')
            AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))))
      ) AS "closedTable"`.execute(db);
  const found = rows[0] as Omit<Fitness, 'migrations'>;
  const migrations = found.closedTable === null ? await compareMigrations(db) : { missing: [], newer: [] };
  return { ...found, migrations };
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
  if (fitness.closedTable !== null) {
    faults.push(
      `The role ${fitness.role} may not read and change the table ${fitness.closedTable}. ` +
        `Use the role that owns the tables, or run GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${fitness.role}.`,
    );
  }
  return faults;
}
