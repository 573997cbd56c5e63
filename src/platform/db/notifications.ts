import { sql } from 'kysely';
import pg from 'pg';
import { poll } from '../lib/poll.ts';
import { hasPooler } from '../lib/postgres-url.ts';
import type { Database } from './database.ts';
import { newClient } from './session.ts';

const RECONNECT_AFTER_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;

/** Sends at most 8,000 bytes in an own transaction, because PostgreSQL commits those with notifications one after the other. */
export async function notify(db: Database, channel: string, payload: string): Promise<void> {
  await sql`SELECT set_config('synchronous_commit', 'off', true), pg_notify(${channel}, ${payload})`.execute(db);
}

interface ListenerOptions {
  url: string;
  channel: string;
  /** Gets each payload, and an empty text when listening has begun, because notifications may have been missed before. */
  onNotification: (payload: string) => void;
}

export type Listener = ReturnType<typeof listenTo>;

/** Listens on a connection of its own. Notifications may get lost, so callers also poll. Behind a pooler, no notification would arrive. */
export function listenTo(options: ListenerOptions) {
  const closing = new AbortController();
  const listen = async () => (hasPooler(options.url) ? undefined : await listenOnce(options, closing.signal));
  // An error needs no report. If the database is out of reach, the connections of the pool report the outage.
  const listening = poll(RECONNECT_AFTER_MS, listen, () => {});
  return {
    async close(): Promise<void> {
      closing.abort();
      await listening.close();
    },
  };
}

async function listenOnce({ url, channel, onNotification }: ListenerOptions, signal: AbortSignal): Promise<void> {
  const client = newClient(url, {
    application_name: 'roomservice listener',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  client.on('notification', ({ payload = '' }) => onNotification(payload));
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  client.on('end', end).on('error', end);
  signal.addEventListener('abort', end);
  client
    .connect()
    .then(() => client.query(`LISTEN ${pg.escapeIdentifier(channel)}`))
    .then(() => !signal.aborted && onNotification(''))
    .catch(end);
  await ended;
  signal.removeEventListener('abort', end);
  // The client of pg never ends if the server has refused the TLS handshake. So this function does not wait for the end.
  void client.end().catch(() => {});
}
