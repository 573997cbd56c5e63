import { poolerOf } from '../lib/postgres-url.ts';
import { newClient } from './session.ts';

const TIMEOUT_MS = 5_000;

/**
 * Returns true if a connection pooler is between this process and PostgreSQL, but the settings name none. A pooler gives its client a
 * process id that differs from the result of `pg_backend_pid()`.
 */
export async function hasUnnamedPooler(url: string): Promise<boolean> {
  if (poolerOf(url) !== 'none') {
    return false;
  }
  const client = newClient(url, {
    application_name: 'roomservice pooling',
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return rows[0]?.pid !== (client as unknown as { processID: number }).processID;
  } finally {
    // The client of pg never ends if the server has refused the TLS handshake. So this function does not wait for the end.
    void client.end().catch(() => {});
  }
}
