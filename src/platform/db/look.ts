import type pg from 'pg';
import { newClient } from './new-client.ts';

/**
 * Runs work on a connection of its own, because statements that hang may hold all connections of the pools.
 * @param timeoutMs time limit of the connection and of each query, in milliseconds. A query that exceeds it makes the connection unusable.
 */
export async function look<T>(url: string, timeoutMs: number, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await newClient(url, {
    application_name: 'roomservice look',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    void client.end().catch(() => {});
  }
}
