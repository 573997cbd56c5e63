import pg from 'pg';

/**
 * Returns host, port and name of the database that pg connects to with a URL, for example `db.example:5432/roomservice`. The URL may leave
 * out each of them. The result contains no password.
 */
export function databaseName(url: string): string {
  const { host, port, database } = new pg.Client({ connectionString: url });
  return `${host}:${port}/${database ?? ''}`;
}
