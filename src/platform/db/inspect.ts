import { sql } from 'kysely';
import type { Database } from './database.ts';
import { type Comparison, compareMigrations } from './migrate.ts';

/** Oldest major version of PostgreSQL on which the service runs. */
export const MIN_POSTGRES_MAJOR = 15;

export interface DatabaseState {
  /** Version of PostgreSQL, such as `18.4`. */
  version: string;
  /** True if the server is a standby, which accepts no writes. */
  isStandby: boolean;
  /** True if the database user may create tables, which is needed only for migrations. */
  mayCreateTables: boolean;
  migrations: Comparison;
}

/** Reads the state of a database, which may have no migrations yet. Does not change the database. */
export async function readDatabaseState(db: Database): Promise<DatabaseState> {
  const { rows } = await sql<Omit<DatabaseState, 'migrations'>>`
    SELECT split_part(current_setting('server_version'), ' ', 1) AS version, pg_is_in_recovery() AS "isStandby",
      COALESCE(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreateTables"
  `.execute(db);
  return { ...(rows[0] as Omit<DatabaseState, 'migrations'>), migrations: await compareMigrations(db) };
}
