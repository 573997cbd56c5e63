import type pg from 'pg';
import { OperatorError } from '../errors.ts';
import { MIN_POSTGRES_MAJOR } from './inspect.ts';

/** Properties of a server and of the role of the connection, which decide if the database can be the target of a transfer. */
export interface Fitness {
  /** Full version of the server, for example `14.9`. */
  version: string;
  /** Major version, for example 14. */
  major: number;
  /** Character encoding of the database, for example `UTF8`. */
  encoding: string;
  role: string;
  /** True if the role may create tables in the schema in which PostgreSQL creates them by default (the first of the search path). */
  mayCreate: boolean;
  /** True if the server is a standby, which refuses writes. */
  isStandby: boolean;
}

/**
 * Refuses a database that cannot be the target of a transfer.
 * @throws OperatorError for example if the role may not create tables
 */
export async function refuseUnfit(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Fitness>(`
    SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
      current_setting('server_version_num')::int / 10000 AS major,
      current_setting('server_encoding') AS encoding,
      current_user AS role,
      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreate",
      pg_is_in_recovery() AS "isStandby"`);
  const fault = rows[0] === undefined ? null : faultOf(rows[0]);
  if (fault !== null) {
    throw new OperatorError(`${fault} Nothing was changed.`);
  }
}

/**
 * Returns a message with the first reason why a database cannot be the target of a transfer, and with the action that the operator must
 * take. Returns null if there is no reason.
 */
export function faultOf(fitness: Fitness): string | null {
  if (fitness.major < MIN_POSTGRES_MAJOR) {
    return `The database server is PostgreSQL ${fitness.version}. Use version ${MIN_POSTGRES_MAJOR} or later.`;
  }
  if (fitness.encoding !== 'UTF8') {
    return `The encoding of the database is ${fitness.encoding}. Create the database with ENCODING 'UTF8' TEMPLATE template0.`;
  }
  if (fitness.isStandby) {
    return 'The database server is a standby, which refuses writes. Use the URL of the primary.';
  }
  if (!fitness.mayCreate) {
    return `The role ${fitness.role} may not create tables in the database. Make the role the owner of the database, or run GRANT CREATE ON SCHEMA public TO ${fitness.role}.`;
  }
  return null;
}
