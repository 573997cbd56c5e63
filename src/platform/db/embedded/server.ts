import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findBinaries } from './binaries.ts';
import { NAME, prepareCluster } from './cluster.ts';
import { codeOf, EmbeddedPostgresError, programError } from './failure.ts';
import { type Location, PASSWORD_FILE, prepareSocketDir } from './location.ts';
import { findPostmaster, type Launch, launch, logFile, stopPostmaster } from './postmaster.ts';
import { claimRole, connect, createDatabase, leaveAsLast, type Presence, type Role } from './presence.ts';

/** Embedded PostgreSQL, running or not, with the values that are needed to start it. */
export interface Server {
  location: Location;
  password: string;
  settings: Record<string, string>;
  /** True if a missing database is created. False after the first start, so that a database that is removed during use is not replaced. */
  mayCreate: boolean;
  log: (message: string) => void;
}

/** Values that are needed to connect to the server while it runs. */
interface Connectable {
  location: Pick<Location, 'socketDir'>;
  password: string;
}

const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 25;
const RESTART_WAIT_MS = 200;
const MAX_STARTS = 3;
const MAINTENANCE_DATABASE = 'postgres';

/** Returns the connection string of a database of this server. It uses the Unix socket and contains the password. */
export function databaseUrl({ location, password }: Connectable, database = NAME): string {
  return `postgres://${NAME}:${password}@${encodeURIComponent(location.socketDir)}:5432/${database}?sslmode=disable`;
}

/**
 * Connects to the running PostgreSQL, or starts PostgreSQL. If PostgreSQL is starting or stopping, first waits for its end.
 * @throws EmbeddedPostgresError if PostgreSQL cannot be used within 60 s, or if another process forbids the role
 */
export async function enter(server: Server, role: Role, signal: AbortSignal): Promise<Presence> {
  const { clusterDir } = server.location;
  const startUnlessStarting = createStarter(server);
  let lastError: unknown;
  for (const deadlineMs = Date.now() + READY_TIMEOUT_MS; Date.now() < deadlineMs; ) {
    const postmaster = await findPostmaster(clusterDir);
    if (postmaster === undefined) {
      await startUnlessStarting();
    } else if (postmaster.isReady) {
      try {
        return await connectAndClaim(server, role, signal);
      } catch (error) {
        throwUnlessTemporary(error, server);
        lastError = error;
      }
    }
    await sleep(POLL_MS, undefined, { signal });
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL in ${clusterDir} did not accept connections within ${READY_TIMEOUT_MS / 1000} s. Read its log ${logFile(clusterDir)}.`,
    { cause: lastError },
  );
}

async function connectAndClaim(server: Server, role: Role, signal: AbortSignal): Promise<Presence> {
  const presence = await connect(databaseUrl(server, MAINTENANCE_DATABASE), role);
  try {
    await claimRole(presence, role, server.location.dataDir, signal);
    await createDatabase(presence, NAME);
    return presence;
  } catch (error) {
    await (isTemporary(error) ? presence.client.end() : leave(server, presence));
    throw error;
  }
}

/** Returns true if PostgreSQL is starting, stopping or out of reach, or has too many connections. Then a later attempt may succeed. */
function isTemporary(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    return /^(57P0[123]|53300)$/.test(error.code ?? '');
  }
  return !(error instanceof EmbeddedPostgresError || (error instanceof Error && error.name === 'AbortError'));
}

function throwUnlessTemporary(error: unknown, { location }: Server): void {
  if (isTemporary(error)) {
    return;
  }
  if (codeOf(error) === '28P01') {
    throw new EmbeddedPostgresError(
      `The password in ${join(location.dataDir, PASSWORD_FILE)} is not the password of the database in ` +
        `${location.clusterDir}. Restore the file, or remove DATA_DIR to start with an empty database.`,
      { cause: error },
    );
  }
  throw error;
}

/**
 * Returns a function that starts PostgreSQL, unless a PostgreSQL that an earlier call started still runs. After three failed starts, the
 * function throws an error with the reason.
 */
function createStarter(server: Server): () => Promise<void> {
  let current: Launch | undefined;
  let failures = 0;
  return async () => {
    const failure = await current?.failure();
    if (current !== undefined && failure === undefined) {
      return;
    }
    if (failure !== undefined) {
      // The backends of a killed PostgreSQL may still run for a short time, and a new PostgreSQL refuses to start beside them.
      failures += failure.includes('shared memory block') ? 0 : 1;
      if (failures === MAX_STARTS) {
        throw programError('PostgreSQL does not start', failure, dirname(server.location.clusterDir));
      }
      await sleep(RESTART_WAIT_MS);
    }
    current = await start(server);
  };
}

async function start(server: Server): Promise<Launch> {
  const { location, password, settings, mayCreate, log } = server;
  if (!mayCreate && !existsSync(location.clusterDir)) {
    throw new EmbeddedPostgresError(
      `The database in ${location.clusterDir} was removed while it was in use. Restore that folder, and start the service again.`,
    );
  }
  const binaries = await findBinaries(location.account, dirname(location.clusterDir));
  await prepareCluster(location, { binaries, password, sync: settings['fsync'] !== 'off', log });
  await prepareSocketDir(location);
  return launch(location, { binaries, settings });
}

/** Stops PostgreSQL if this process is the last one that uses it. Then ends the connection of this process. */
export async function leave(server: Server, presence: Presence): Promise<void> {
  const { clusterDir } = server.location;
  try {
    const isLast = await leaveAsLast(presence).catch(() => isDeserted(server));
    const postmaster = isLast ? await findPostmaster(clusterDir) : undefined;
    if (postmaster !== undefined) {
      await stopPostmaster(clusterDir, postmaster.pid);
    }
  } finally {
    await presence.client.end();
  }
}

/**
 * Returns true if no other process uses PostgreSQL, for a process whose own connection is lost. Also returns true if PostgreSQL is still
 * starting, because each process that waits for PostgreSQL starts it again.
 */
async function isDeserted(server: Server): Promise<boolean> {
  try {
    const visitor = await connect(databaseUrl(server, MAINTENANCE_DATABASE), 'visitor');
    const isLast = await leaveAsLast(visitor);
    await visitor.client.end();
    return isLast;
  } catch {
    return true;
  }
}
