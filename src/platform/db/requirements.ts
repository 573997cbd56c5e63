import { sql } from 'kysely';
import { OperatorError } from '../errors.ts';
import type { Database } from './database.ts';
import { MARK, MIN_POSTGRES_MAJOR } from './session.ts';
import { TABLES } from './tables.ts';

export interface Fitness {
  version: string;
  encoding: string;
  isStandby: boolean;
  hasSettings: boolean;
  role: string;
  /** Name of a table that the role may not read and change, or null if there is no such table. */
  closedTable: string | null;
}

/** Refuses a database that the service cannot use. It may have no tables yet. Changes nothing. @throws OperatorError with the first reason */
export async function refuseUnfit(db: Database): Promise<Fitness> {
  const fitness = await readFitness(db);
  const fault = faultOf(fitness);
  if (fault !== null) {
    throw new OperatorError(`${fault} Nothing was changed.`);
  }
  return fitness;
}

async function readFitness(db: Database): Promise<Fitness> {
  const { rows } = await sql<Fitness>`
    SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
      current_setting('server_encoding') AS encoding,
      pg_is_in_recovery() AS "isStandby",
      coalesce(current_setting(${MARK}, true), '') <> '' AS "hasSettings",
      current_user AS role,
      (SELECT min(relname) FROM pg_class
        WHERE oid IN (SELECT to_regclass(quote_ident(name)) FROM unnest(${Object.keys(TABLES)}::text[]) AS name)
          AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
            AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
      ) AS "closedTable"`.execute(db);
  return rows[0] as Fitness;
}

/** Returns the first reason why the service cannot use a database, and what the operator must do. */
export function faultOf({ version, encoding, isStandby, hasSettings, role, closedTable }: Fitness): string | null {
  if (Number.parseInt(version, 10) < MIN_POSTGRES_MAJOR) {
    return `The database server is PostgreSQL ${version}. Use version ${MIN_POSTGRES_MAJOR} or later.`;
  }
  if (encoding !== 'UTF8') {
    return `The encoding of the database is ${encoding}. Create a database with ENCODING 'UTF8' TEMPLATE template0, and use it instead.`;
  }
  if (isStandby) {
    return 'The database server is a standby, which refuses writes. Use the URL of the primary.';
  }
  if (!hasSettings) {
    return 'A connection pooler in front of the database drops the settings of the service. Set DATABASE_POOLER to true (docs/operating/connections.md).';
  }
  return closedTable === null
    ? null
    : `The role ${role} may not read and change the table ${closedTable}. ` +
        `Use the role that owns the tables, or run GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}.`;
}
