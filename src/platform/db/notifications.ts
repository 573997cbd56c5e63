import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { hasPooler } from '../lib/postgres-url.ts';
import type { Database } from './database.ts';
import { newClient } from './session.ts';

/** Pause in milliseconds before a listener opens a new connection, after the previous connection was lost or could not be opened. */
const RECONNECT_AFTER_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Sends a notification in a separate transaction. All processes that listen to the channel receive the notification. PostgreSQL commits
 * transactions with notifications one after the other. So a transaction that changes data must not send a notification, because it would
 * then wait for other transactions.
 *
 * The commit of the notification does not wait for the disk. If the notification gets lost, it does no harm, because receivers also check
 * for new work at regular intervals.
 * @param payload at most 8,000 bytes
 */
export async function notify(db: Database, channel: string, payload: string): Promise<void> {
  await sql`SELECT set_config('synchronous_commit', 'off', true), pg_notify(${channel}, ${payload})`.execute(db);
}

export interface ListenerOptions {
  url: string;
  channel: string;
  /**
   * Called with the payload of each notification. Also called with an empty text each time the listener has begun to listen. With an empty
   * text, this function must check for new work, because the listener may have missed notifications before.
   */
  onNotification: (payload: string) => void;
}

/**
 * Listens to notifications of PostgreSQL on a connection of its own. If this connection is lost, notifications get lost too, so the caller
 * must also check for new work at regular intervals. Behind a pooler, no notifications would arrive, so the listener opens no connection.
 */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted && !hasPooler(this.#options.url)) {
      // An error needs no report. If the database is out of reach, the connections of the pool report the outage.
      await this.#listenOnce(signal);
      await sleep(RECONNECT_AFTER_MS, null, { signal }).catch(() => {});
    }
  }

  /** Listens until the connection is lost or the listener is closed. */
  async #listenOnce(signal: AbortSignal): Promise<void> {
    const { url, channel, onNotification } = this.#options;
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
}
