import { randomUUID } from 'node:crypto';
import pg from 'pg';

const TIMEOUT_MS = 5_000;

/** Properties of the connections from this process to PostgreSQL, with or without a connection pooler between them. */
export interface Pooling {
  /** True if a connection pooler, for example PgBouncer, may send the statements of one client on different connections to the server. */
  isPooled: boolean;
  /** True if a prepared statement can be used again in a later transaction. */
  keepsPreparedStatements: boolean;
}

export const DIRECT: Pooling = { isPooled: false, keepsPreparedStatements: true };

/**
 * Finds out if a connection pooler is between this process and PostgreSQL. A pooler tells its client another process id than the one that
 * `pg_backend_pid()` returns. If there is a pooler, also finds out if it keeps prepared statements, as PgBouncer does from version 1.21.
 * @throws an error of pg if the database is out of reach
 */
export async function readPooling(url: string): Promise<Pooling> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'roomservice pooling',
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  client.on('error', () => {}); // A lost connection also makes the statement under way fail.
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    if (rows[0]?.pid === (client as unknown as { processID: number }).processID) {
      return DIRECT;
    }
    return { isPooled: true, keepsPreparedStatements: await keepsPreparedStatements(client) };
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Returns true if the pooler keeps prepared statements. Prepares a statement that searches for its own name. A pooler that keeps prepared
 * statements has changed this name, so the statement finds no row. All of this runs in one transaction, so the statement is removed on the
 * connection that prepared it.
 */
async function keepsPreparedStatements(client: pg.Client): Promise<boolean> {
  const name = `roomservice_${randomUUID()}`;
  await client.query('BEGIN');
  const { rows } = await client.query({
    name,
    text: 'SELECT FROM pg_prepared_statements WHERE name = $1',
    values: [name],
  });
  if (rows.length === 0) {
    await client.query('ROLLBACK');
    return true;
  }
  await client.query(`DEALLOCATE "${name}"; ROLLBACK`);
  return false;
}
