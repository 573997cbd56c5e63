import pg from 'pg';
import type { NamedDatabase } from './fault-messages.ts';

/**
 * Returns host, port and name of the database that pg connects to with a URL, for example `db.example:5432/roomservice`. For a part that
 * the URL leaves out, the default of pg is used. The result contains no password.
 */
export function databaseName(url: string): string {
  const { host, port, database } = new pg.Client({ connectionString: url });
  return `${host}:${port}/${database ?? ''}`;
}

/** Names the database of a URL in messages. @param setting setting or option that has the URL */
export function nameDatabase(url: string, setting: string): NamedDatabase {
  const { host, port } = new pg.Client({ connectionString: url });
  return { subject: `The database at ${host}:${port}`, setting };
}
