import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { newClient } from './new-client.ts';

const TIMEOUT_MS = 5_000;
/**
 * Time in milliseconds for which a process with an automatic pool size waits, so that it can count the processes that start at the same
 * time.
 */
const GATHER_MS = 500;
/** Number of connections of a process in addition to its pool: one for notifications, and one for short checks. */
const EXTRA_CONNECTIONS = 2;
/** Maximum automatic size of a pool. More connections would not help one process, because it uses one core. */
const MOST_AUTOMATIC = 20;
/**
 * Minimum automatic size of a pool. One tenant may hold three quarters of the connections, rounded up (`database.ts`). So one tenant might
 * hold all connections of a smaller pool.
 */
const LEAST_AUTOMATIC = 4;
/**
 * Automatic size of a pool behind a connection pooler. It is fixed, because the number of connections that the pooler allows is unknown.
 */
export const AUTOMATIC_BEHIND_POOLER = 10;

/** Connections of the PostgreSQL server, counted when this process starts. */
export interface ServerConnections {
  /** Setting `max_connections` of the server. */
  max: number;
  /** Number of connections that the server allows to users without special rights. */
  allowed: number;
  /** Number of other processes of this service that have connections at the time of the count. */
  processes: number;
  /** Maximum number of connections that the other processes of this service may open. */
  ofProcesses: number;
  /** Number of connections of other programs at the time of the count. */
  ofOthers: number;
}

/** Size of the pool of this process, and the name of its connections. */
export interface PoolSize {
  size: number;
  /**
   * Name under which the server lists the connections of this process. It contains the pool size, so that processes that start later can
   * read it.
   */
  applicationName: string;
  /** Limits of the server, and the connections of other processes and programs. */
  server: ServerConnections;
  /**
   * Closes the connection that announces the pool size. Called when the pool has opened its first connection, because each connection of
   * the pool has the name `applicationName` and so announces the pool size too.
   */
  close: () => Promise<void>;
}

/**
 * Counts the connections of the server, and chooses the pool size of this process. Announces this size to other processes by the name of a
 * connection that stays open.
 *
 * An automatic size is at least 4 and at most 20. Between these bounds, it depends on the number of processes that start at the same time:
 * - If one or two processes start, each of them takes half of the free connections.
 * - If more processes start, each of them takes an equal part of the free connections.
 *
 * So a process with an automatic size first waits half a second, until the other processes have connected too.
 * @param gatherMs overrides the half second, in milliseconds; used by tests
 * @throws an error of pg if the database is out of reach
 */
export async function announcePoolSize(url: string, wanted: number | 'auto', gatherMs = GATHER_MS): Promise<PoolSize> {
  const id = randomBytes(4).toString('hex');
  const nameOf = (size: number) => `roomservice pool ${size}/${id}`;
  const client = await newClient(url, {
    // Size 0 tells the other processes that this process has not chosen its pool size yet.
    application_name: nameOf(wanted === 'auto' ? 0 : wanted),
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  // The name of this connection shows the pool size to other processes. If the connection is lost, the error is ignored, because the
  // connections of the pool have the same name.
  client.on('error', () => {});
  const close = async () => await client.end().catch(() => {});
  try {
    await client.connect();
    if (wanted === 'auto') {
      await sleep(gatherMs);
    }
    const { undecided, ...server } = await readServer(client, id);
    const size = wanted === 'auto' ? automaticSize(server, undecided + 1) : wanted;
    const applicationName = nameOf(size);
    await client.query(`SET application_name = '${applicationName}'`);
    return { size, applicationName, server, close };
  } catch (error) {
    void close();
    throw error;
  }
}

/**
 * Returns the automatic size of the pool.
 * @param starting number of processes that start at the same time, including this process
 */
export function automaticSize({ allowed, ofProcesses, ofOthers }: ServerConnections, starting: number): number {
  const free = allowed - ofProcesses - ofOthers;
  // If no other process starts now, this process takes at most half of the free connections. The other half stays free for processes that
  // start later, for example in a rolling restart.
  const share = Math.floor(free / Math.max(2, starting)) - EXTRA_CONNECTIONS;
  return Math.min(MOST_AUTOMATIC, Math.max(LEAST_AUTOMATIC, share));
}

/**
 * Returns one line about the connections to PostgreSQL. It says how many connections this process takes, and how many processes with a pool
 * of the same size the server allows.
 */
export function tellOfPool({ size, server }: PoolSize, wanted: number | 'auto'): string {
  const { max, allowed, processes, ofProcesses } = server;
  const each = size + EXTRA_CONNECTIONS;
  const name = wanted === 'auto' ? `auto, which is ${size} here` : `${size}`;
  return (
    `DATABASE_POOL_SIZE is ${name}: this process takes up to ${each} connections. PostgreSQL allows ${allowed} (max_connections ${max}), ` +
    `so ${Math.floor(allowed / each)} processes of this size fit. ${processes} other processes run now, and take up to ${ofProcesses} connections.`
  );
}

/**
 * Returns a warning if this process, the other processes of the service and all other programs together may take more connections than the
 * server allows. Otherwise returns null.
 */
export function warnOfPool({ size, server }: PoolSize): string | null {
  const { allowed, ofProcesses, ofOthers } = server;
  const all = size + EXTRA_CONNECTIONS + ofProcesses + ofOthers;
  return all <= allowed
    ? null
    : `PostgreSQL allows ${allowed} connections, but all processes and other programs may take ${all}. Calls may get 503. Set a smaller ` +
        'DATABASE_POOL_SIZE, raise max_connections, or use a connection pooler (docs/operating/connections.md).';
}

/** Matches the name of a connection of a pool. The name contains the size of the pool, and the id of its process. */
const POOL_NAME = /^roomservice pool (\d+)\/([0-9a-f]{8})$/;
/** Matches the names of the connections that a process of this service has in addition to its pool. */
const EXTRA_NAME = /^roomservice (?:listener|look|pooling)$/;

/**
 * Counts the connections of the server, without the connections of this process. `undecided` is the number of other processes that have not
 * chosen their pool size yet.
 */
async function readServer(client: pg.Client, id: string): Promise<ServerConnections & { undecided: number }> {
  // In `pg_stat_activity`, a user without special rights can read only some columns of the connections of other users. This statement reads
  // only such columns. Background processes of the server have no `datid`, so they are not counted.
  const { rows } = await client.query<{ max: number; reserved: number; name: string; count: number }>(
    `SELECT current_setting('max_connections')::int AS max,
            current_setting('superuser_reserved_connections')::int
              + coalesce(current_setting('reserved_connections', true)::int, 0) AS reserved,
            application_name AS name, count(*)::int
       FROM pg_stat_activity WHERE datid IS NOT NULL GROUP BY application_name`,
  );
  // There is at least one row, because the server also lists the connection of this client.
  const [{ max, reserved } = { max: 0, reserved: 0 }] = rows;
  const server = { max, allowed: max - reserved, processes: 0, ofProcesses: 0, ofOthers: 0, undecided: 0 };
  for (const { name, count } of rows) {
    const [, size, idOfPool] = POOL_NAME.exec(name) ?? [];
    if (idOfPool === undefined) {
      server.ofOthers += EXTRA_NAME.test(name) ? 0 : count;
    } else if (idOfPool !== id) {
      server.processes += 1;
      server.ofProcesses += size === '0' ? 0 : Number(size) + EXTRA_CONNECTIONS;
      server.undecided += size === '0' ? 1 : 0;
    }
  }
  return server;
}
