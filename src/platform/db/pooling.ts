import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { clientConfig, DIRECT, type Pooling } from './session.ts';

const TIMEOUT_MS = 5_000;

/** Results of `readPooling`, by URL. */
const known = new Map<string, Pooling>();

/**
 * Finds out if a connection pooler is between this process and PostgreSQL. A pooler gives its client a process id that differs from the
 * result of `pg_backend_pid()`. If there is a pooler, also finds out if it keeps prepared statements, as PgBouncer does from version 1.21. A process asks once for each URL.
 * @throws an error of pg if the database is out of reach
 */
export async function readPooling(url: string): Promise<Pooling> {
  const pooling = known.get(url) ?? (await askFor(url));
  known.set(url, pooling);
  return pooling;
}

async function askFor(url: string): Promise<Pooling> {
  const client = await connect(url);
  try {
    const { rows } = await client.query<{ pid: number; major: number }>(
      `SELECT pg_backend_pid() AS pid, current_setting('server_version_num')::int / 10000 AS major`,
    );
    const { pid = 0, major = 0 } = rows[0] ?? {};
    const isPooled = pid !== (client as unknown as { processID: number }).processID;
    return { isPooled, keepsPreparedStatements: !isPooled || (await keepsPreparedStatements(client)), major };
  } finally {
    // The client of pg never ends if the server has refused the TLS handshake. So this function does not wait for the end.
    void client.end().catch(() => {});
  }
}

/**
 * Connects with the settings of the service that each version of PostgreSQL knows, because the role may have a time limit that is too short
 * for the first statement. If a pooler refuses the settings, connects without them.
 */
async function connect(url: string): Promise<pg.Client> {
  const connectWith = async (config: pg.ClientConfig) => {
    const client = new pg.Client({
      ...config,
      application_name: 'roomservice pooling',
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
    });
    client.on('error', () => {}); // If the connection is lost, the running statement fails too, so this event needs no handling.
    return await client.connect().catch((error: unknown) => {
      // The client of pg never ends if the server has refused the TLS handshake. So this function does not wait for the end.
      void client.end().catch(() => {});
      throw error;
    });
  };
  return await connectWith(clientConfig(url, { ...DIRECT, major: 0 })).catch((error: Error) => {
    if (/\boptions\b/.test(error.message)) {
      return connectWith({ connectionString: url });
    }
    throw error;
  });
}

/**
 * Returns true if the pooler keeps prepared statements. Prepares a statement that looks for its own name in `pg_prepared_statements`:
 * - A pooler that keeps prepared statements gives them other names. So the statement does not find its name, and the result is true.
 * - If the statement finds its name, the pooler has not renamed it, and the result is false. A DEALLOCATE then removes the statement.
 *
 * One transaction contains all these steps, so that the DEALLOCATE runs on the connection that prepared the statement.
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
