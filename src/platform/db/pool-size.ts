import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const TIMEOUT_MS = 5_000;
/** Time in milliseconds for which a process with an automatic size waits for other processes that start at the same time. */
const GATHER_MS = 500;
/** Connections of a process beside its pool: one for notifications, and one that is open only for short times. */
const EXTRA_CONNECTIONS = 2;
/**
 * Bounds of the automatic size. More connections would not help one process, because it uses one core. With fewer connections, one tenant
 * might hold all of them.
 */
const MOST_AUTOMATIC = 20;
const LEAST_AUTOMATIC = 4;
/** Automatic size if it cannot be known what the server allows, because a connection pooler is in between. */
export const AUTOMATIC_BEHIND_POOLER = 10;

/** Connections of the PostgreSQL server at the start of a process. */
export interface ServerConnections {
  /** Setting `max_connections`. */
  max: number;
  /** Number of connections that the server allows to users without special rights. */
  allowed: number;
  /** Number of other processes of this service that have connections at present. */
  processes: number;
  /** Number of connections that these processes take at most. */
  ofProcesses: number;
  /** Number of connections of other programs at present. */
  ofOthers: number;
}

/** Size of the pool of this process, and the name of its connections. */
export interface PoolSize {
  size: number;
  /** Name of the connections of this process at the server, from which later processes learn the size. */
  applicationName: string;
  /** State of the server, without this process. */
  server: ServerConnections;
  /** Ends the announcement of the size. Called when the pool has its first connection, which then announces the size. */
  close: () => Promise<void>;
}

/**
 * Reads the connections of the server, and announces the size of the pool of this process there. If the size is automatic, it is half of
 * the free connections, and at least 4 and at most 20. Processes that start at the same time divide this half. Waits half a second for
 * them.
 * @param gatherMs overrides this time, in milliseconds; used by tests
 * @throws an error of pg if the database is out of reach
 */
export async function announcePoolSize(url: string, wanted: number | 'auto', gatherMs = GATHER_MS): Promise<PoolSize> {
  const id = randomBytes(4).toString('hex');
  const nameOf = (size: number) => `roomservice pool ${size}/${id}`;
  const client = new pg.Client({
    connectionString: url,
    // Size 0 says that this process has not decided yet.
    application_name: nameOf(wanted === 'auto' ? 0 : wanted),
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  client.on('error', () => {}); // If this connection is lost, only the announcement ends early.
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
    await close();
    throw error;
  }
}

/**
 * Returns the automatic size of the pool.
 * @param starting number of processes that start at the same time, including this process
 */
export function automaticSize({ allowed, ofProcesses, ofOthers }: ServerConnections, starting: number): number {
  const free = allowed - ofProcesses - ofOthers;
  // One process alone leaves half of the free connections to the processes that start later, for example in a rolling restart.
  const share = Math.floor(free / Math.max(2, starting)) - EXTRA_CONNECTIONS;
  return Math.min(MOST_AUTOMATIC, Math.max(LEAST_AUTOMATIC, share));
}

/** Returns one line that says what the pool takes, and how many processes of this size fit. */
export function tellOfPool({ size, server }: PoolSize, wanted: number | 'auto'): string {
  const { max, allowed, processes, ofProcesses } = server;
  const each = size + EXTRA_CONNECTIONS;
  const name = wanted === 'auto' ? `auto, which is ${size} here` : `${size}`;
  return (
    `DATABASE_POOL_SIZE is ${name}: this process takes up to ${each} connections. PostgreSQL allows ${allowed} (max_connections ${max}), ` +
    `so ${Math.floor(allowed / each)} processes of this size fit. ${processes} other processes run now, and take up to ${ofProcesses} connections.`
  );
}

/** Returns a warning if the server allows fewer connections than all processes may take, or null. */
export function warnOfPool({ size, server }: PoolSize): string | null {
  const { allowed, ofProcesses, ofOthers } = server;
  const all = size + EXTRA_CONNECTIONS + ofProcesses + ofOthers;
  return all <= allowed
    ? null
    : `PostgreSQL allows ${allowed} connections, but all processes and other programs may take ${all}. Calls may get 503. Set a smaller ` +
        'DATABASE_POOL_SIZE, raise max_connections, or use a connection pooler (docs/operating/connections.md).';
}

/** Matches the name of the connections of a pool: its size, and the id of its process. */
const POOL_NAME = /^roomservice pool (\d+)\/([0-9a-f]{8})$/;
/** Matches the names of connections that EXTRA_CONNECTIONS counts. */
const EXTRA_NAME = /^roomservice (?:listener|look|pooling)$/;

/** Reads the connections of the server without those of this process. `undecided` is the number of processes without a size. */
async function readServer(client: pg.Client, id: string): Promise<ServerConnections & { undecided: number }> {
  // Each user may see `application_name` and `datid`. Only sessions of clients, and their helpers, have a `datid`.
  const { rows } = await client.query<{ max: number; reserved: number; name: string; count: number }>(
    `SELECT current_setting('max_connections')::int AS max,
            current_setting('superuser_reserved_connections')::int
              + coalesce(current_setting('reserved_connections', true)::int, 0) AS reserved,
            application_name AS name, count(*)::int
       FROM pg_stat_activity WHERE datid IS NOT NULL GROUP BY application_name`,
  );
  const [{ max, reserved } = { max: 0, reserved: 0 }] = rows; // The connection of the client itself is always there.
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
