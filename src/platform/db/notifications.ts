import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { inTime } from '../lib/in-time.ts';
import type { Database } from './database.ts';
import { newClient } from './new-client.ts';

/** Time in milliseconds within which a listening connection must receive its own test notification. */
const TEST_WITHIN_MS = 2_000;
/** Pause in milliseconds before a listener opens a new connection, after the previous connection was lost or could not be opened. */
const RECONNECT_AFTER_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Prefix of each test notification. A listener ignores the test notifications that other listeners send to the channel. */
const TEST_MARK = 'test ';

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
  /**
   * Called if the connection does not receive its own test notification, for example because of a pooler in transaction mode. The listener
   * then ends, so it calls this function at most once.
   */
  onDeaf: () => void;
  /** Time in milliseconds within which the test notification must arrive. Default: 2,000. */
  testWithinMs?: number;
}

/**
 * Listens to notifications of PostgreSQL on a connection of its own. If this connection is lost, notifications get lost too, so the caller
 * must also check for new work at regular intervals.
 *
 * Behind a pooler in transaction mode, a listener receives no notifications. To find out if there is such a pooler, the listener first
 * sends a test notification to itself.
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
    while (!signal.aborted) {
      // This error needs no report. If the database is out of reach, the connections of the pool report the outage.
      const isDeaf = await this.#listenOnce().catch(() => false);
      if (isDeaf) {
        this.#options.onDeaf();
        return;
      }
      await sleep(RECONNECT_AFTER_MS, null, { signal }).catch(() => {});
    }
  }

  /**
   * Listens until the connection is lost or the listener is closed.
   * @returns true if the connection did not receive its own test notification within the time limit
   */
  async #listenOnce(): Promise<boolean> {
    const { url, channel, onNotification, testWithinMs = TEST_WITHIN_MS } = this.#options;
    const client = newClient(url, {
      application_name: 'roomservice listener',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    client.on('end', end).on('error', () => end());
    const { signal } = this.#closing;
    const onAbort = () => end();
    signal.addEventListener('abort', onAbort);
    let isOpen = false;
    try {
      await Promise.race([client.connect(), ended]);
      isOpen = true;
      if (signal.aborted) {
        return false;
      }
      const test = TEST_MARK + randomUUID();
      const heard = new Promise<boolean>((resolve) => {
        client.on('notification', ({ payload = '' }) => {
          if (payload === test) {
            resolve(true);
          } else if (!payload.startsWith(TEST_MARK)) {
            onNotification(payload);
          }
        });
      });
      await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      await client.query('SELECT pg_notify($1, $2)', [channel, test]);
      if (!(await inTime(testWithinMs, () => Promise.race([heard, ended.then(() => true)])).catch(() => false))) {
        return true;
      }
      onNotification('');
      await ended;
      return false;
    } finally {
      signal.removeEventListener('abort', onAbort);
      const closing = client.end().catch(() => {});
      // The client of pg never ends if the server has refused the TLS handshake. So the function waits only for an open connection.
      if (isOpen) {
        await closing;
      }
    }
  }
}
