import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findBinaries } from './binaries.ts';
import { NAME, prepareCluster } from './cluster.ts';
import { codeOf, EmbeddedPostgresError } from './failure.ts';
import { type Location, PASSWORD_FILE, prepareSocketDir } from './location.ts';
import { findPostmaster, type Launch, launch, logFile, stopPostmaster } from './postmaster.ts';
import { appear, claimServing, connect, createDatabase, leaveAsLast, type Presence, type Role } from './presence.ts';

/** One embedded PostgreSQL, running or not, and what it takes to run it. */
export interface Server {
  location: Location;
  password: string;
  settings: Record<string, string>;
  /** Whether a missing database is a first start. One that vanishes while in use must not come back empty. */
  mayCreate: boolean;
  log: (message: string) => void;
}

const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 25;
const RESTART_WAIT_MS = 200;
const MAX_STARTS = 3;
const MAINTENANCE_DATABASE = 'postgres';

/** The connection string of a database of this server: over its Unix socket, with the password. */
export function databaseUrl({ location, password }: Server, database = NAME): string {
  return `postgres://${NAME}:${password}@${encodeURIComponent(location.socketDir)}:5432/${database}?sslmode=disable`;
}

/**
 * Joins the running PostgreSQL, or starts it where none runs, and waits for one that is on its way up or down.
 * @throws EmbeddedPostgresError where it cannot be had within 60 s; AlreadyServedError where there is another `serve`
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
        return await connectAndSettle(server, role, signal);
      } catch (error) {
        throwUnlessPassing(error, server);
        lastError = error;
      }
    }
    await sleep(POLL_MS, undefined, { signal });
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL in ${clusterDir} takes no connections after ${READY_TIMEOUT_MS / 1000} s. See ${logFile(clusterDir)}.`,
    { cause: lastError },
  );
}

async function connectAndSettle(server: Server, role: Role, signal: AbortSignal): Promise<Presence> {
  const presence = await connect(databaseUrl(server, MAINTENANCE_DATABASE), role);
  try {
    await appear(presence);
    await createDatabase(presence, NAME);
    if (role === 'serve') {
      await claimServing(presence, server.location.dataDir, signal);
    }
    return presence;
  } catch (error) {
    await (isPassing(error) ? presence.client.end() : leave(server, presence));
    throw error;
  }
}

/**
 * Whether an error says that PostgreSQL is starting, stopping, full or out of reach, rather than that it refuses us.
 */
function isPassing(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    return /^(57P0[123]|53300)$/.test(error.code ?? '');
  }
  return !(error instanceof EmbeddedPostgresError || (error instanceof Error && error.name === 'AbortError'));
}

function throwUnlessPassing(error: unknown, { location }: Server): void {
  if (isPassing(error)) {
    return;
  }
  if (codeOf(error) === '28P01') {
    throw new EmbeddedPostgresError(
      `The password in ${join(location.dataDir, PASSWORD_FILE)} does not open the database in ` +
        `${location.clusterDir}. Bring back the file, or remove DATA_DIR to start with an empty database.`,
      { cause: error },
    );
  }
  throw error;
}

/**
 * Gives a function that starts PostgreSQL unless its last start is still under way, and after three failures says
 * why.
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
      // The backends of a killed PostgreSQL may outlive it for a moment, and the next one rightly refuses to run
      // beside them.
      failures += failure.includes('shared memory block') ? 0 : 1;
      if (failures === MAX_STARTS) {
        throw new EmbeddedPostgresError(`PostgreSQL does not start: ${failure}`);
      }
      await sleep(RESTART_WAIT_MS);
    }
    current = await start(server);
  };
}

async function start(server: Server): Promise<Launch> {
  const { location, password, settings, mayCreate, log } = server;
  if (!mayCreate && !existsSync(location.clusterDir)) {
    throw new EmbeddedPostgresError(`The database in ${location.clusterDir} was removed while it was in use.`);
  }
  const binaries = await findBinaries(location.account, dirname(location.clusterDir));
  await prepareCluster(location, { binaries, password, sync: settings.fsync !== 'off', log });
  await prepareSocketDir(location);
  return launch(location, { binaries, settings });
}

/** Ends a presence, and PostgreSQL with it where it was the last one. */
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

/** For one whose connection is lost: whether nobody is there, as where PostgreSQL is down, or only on its way up. */
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
