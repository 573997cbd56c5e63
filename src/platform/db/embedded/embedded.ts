import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { codeOf, OperatorError } from '../failures.ts';
import { newClient } from '../session.ts';
import { findBinaries, readInstalledMajor } from './binaries.ts';
import {
  NAME,
  prepareCluster,
  programError,
  readMajor,
  readOrMakePassword,
  readPassword,
  refuseMissing,
  refuseOtherMajor,
} from './cluster.ts';
import { findDatabase, locate, type Location, PASSWORD_FILE, prepareSocketDir } from './location.ts';
import { refuseMoved } from './move-marker.ts';
import { findPostmaster, type Launch, launch, logFile, stopPostmaster } from './postmaster.ts';

/** Kind of process. One `serve` may use a DATA_DIR beside any number of `command`, and an `exclusive` process only alone. */
export type Role = 'serve' | 'command' | 'exclusive';

/** An open database. Its url contains the password, so it must never be logged. */
export type EmbeddedPostgres = Awaited<ReturnType<typeof openEmbeddedPostgres>>;

export interface EmbeddedOptions {
  dataDir: string;
  role: Role;
  settings?: Record<string, string>;
  mayCreate?: boolean;
  log?: (message: string) => void;
}

interface Server extends Required<Pick<EmbeddedOptions, 'role' | 'settings' | 'log'>> {
  location: Location;
  password: string;
}

/** Connection that shows that a process uses PostgreSQL. Its locks end with the process, even if the process is killed. */
type Presence = pg.Client;

const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 25;
const RESTART_WAIT_MS = 200;
const RETRY_WAIT_MS = 5_000;
const MAX_STARTS = 3;
const TIMEOUT_MS = 5_000;
/** Time in milliseconds to wait for a lock of another process, because a process that was just killed may still be connected. */
const CLAIM_MS = 3_000;
/** The same when this process stops, which it may do just after it has taken over. */
const LEAVE_MS = 100;
const MAINTENANCE_DATABASE = 'postgres';
/** Key of the advisory lock that each process holds in shared mode. An `exclusive` process, and the one that stops PostgreSQL, hold it alone. */
const USE_LOCK = 1;
const SERVE_LOCK = 2;

/** Connects to the PostgreSQL in DATA_DIR or starts it, also if it dies before `close`. @throws OperatorError with a remedy */
export async function openEmbeddedPostgres(options: EmbeddedOptions) {
  const { role, settings = {}, mayCreate = true, log = () => {} } = options;
  if (!mayCreate) {
    await refuseMissing(options.dataDir);
  }
  const location = await locate(options.dataDir, log);
  await refuseOtherMajor(location.clusterDir);
  const password = await readOrMakePassword(location.dataDir);
  const server: Server = { location, password, settings, role, log };
  const closing = new AbortController();
  const keeping = keepPresence(server, await enter(server, closing.signal), closing.signal);
  const close = async () => {
    closing.abort();
    await leave(server, await keeping);
  };
  let closed: Promise<void> | undefined;
  return {
    url: databaseUrl(server),
    clusterDir: location.clusterDir,
    /** Disconnects. If no other process is connected, stops PostgreSQL and waits until it has ended. */
    close: (): Promise<void> => (closed ??= close()),
  };
}

export function databaseUrl(
  { location, password }: { location: Pick<Location, 'socketDir'>; password: string },
  database = NAME,
): string {
  return `postgres://${NAME}:${password}@${encodeURIComponent(location.socketDir)}:5432/${database}?sslmode=disable`;
}

async function keepPresence(server: Server, first: Presence, closing: AbortSignal): Promise<Presence> {
  const closed = once(closing, 'abort');
  let presence: Presence | null = first;
  let last = first;
  while (!closing.aborted) {
    if (presence !== null) {
      await Promise.race([new Promise((resolve) => last.once('end', resolve)), closed]);
    }
    if (!closing.aborted) {
      server.log('The connection to PostgreSQL is lost. The service restores it.');
      presence = await enter(server, closing).catch(async (error: Error) => {
        if (!closing.aborted) {
          server.log(error.message);
        }
        await sleep(RETRY_WAIT_MS, undefined, { signal: closing }).catch(() => {});
        return null;
      });
      if (presence !== null) {
        last = presence;
        server.log('The connection to PostgreSQL is restored.');
      }
    }
  }
  return last;
}

async function enter(server: Server, signal: AbortSignal): Promise<Presence> {
  const { clusterDir } = server.location;
  let launched: Launch | undefined;
  let failures = 0;
  let lastError: unknown;
  for (const deadlineMs = Date.now() + READY_TIMEOUT_MS; Date.now() < deadlineMs; ) {
    const postmaster = await findPostmaster(clusterDir);
    const failure = await launched?.failure();
    if (postmaster?.isReady) {
      try {
        return await connectAndClaim(server);
      } catch (error) {
        throwUnlessTemporary(error, server);
        lastError = error;
      }
    } else if (postmaster === undefined && (launched === undefined || failure !== undefined)) {
      if (failure !== undefined) {
        // The backends of a killed PostgreSQL may still run for a short time, and a new PostgreSQL refuses to start beside them.
        failures += failure.includes('shared memory block') ? 0 : 1;
        if (failures === MAX_STARTS) {
          throw programError('PostgreSQL does not start', failure, dirname(clusterDir));
        }
        await sleep(RESTART_WAIT_MS);
      }
      launched = await start(server);
    }
    await sleep(POLL_MS, undefined, { signal });
  }
  throw new OperatorError(
    `PostgreSQL in ${clusterDir} did not accept connections within ${READY_TIMEOUT_MS / 1000} s. Read its log ${logFile(clusterDir)}.`,
    { cause: lastError },
  );
}

async function start({ location, password, settings, log }: Server): Promise<Launch> {
  const binaries = await findBinaries(location.account, dirname(location.clusterDir));
  await prepareCluster(location, { binaries, password, sync: settings['fsync'] !== 'off', log });
  await prepareSocketDir(location);
  return launch(location, { binaries, settings });
}

async function connectAndClaim(server: Server): Promise<Presence> {
  const client = newClient(databaseUrl(server, MAINTENANCE_DATABASE), {
    application_name: `roomservice ${server.role}`,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  await client.connect();
  try {
    await claimRole(client, server);
    await createDatabase(client);
    return client;
  } catch (error) {
    await (isTemporary(error) ? client.end() : leave(server, client));
    throw error;
  }
}

async function claimRole(client: Presence, { role, location: { dataDir } }: Server): Promise<void> {
  const claim = async (lock: string, refusal: string) => {
    await client.query(`SELECT ${lock}`).catch((error: unknown) => {
      throw codeOf(error) === '55P03' ? new OperatorError(refusal) : error;
    });
  };
  await client.query(`SET lock_timeout = ${CLAIM_MS}`);
  if (role === 'exclusive') {
    await claim(
      `pg_advisory_lock(${USE_LOCK})`,
      `Another process uses the data in ${dataDir}, for example "roomservice serve". Stop it, and run the command again. Nothing was changed.`,
    );
    return;
  }
  await claim(
    `pg_advisory_lock_shared(${USE_LOCK})`,
    `Another command, for example "roomservice move", must be the only process that uses the data in ${dataDir}. Wait until that command has ended, and try again.`,
  );
  if (role === 'serve') {
    await claim(
      `pg_advisory_lock(${SERVE_LOCK})`,
      `Another "serve" already runs on this DATA_DIR (${dataDir}). Stop it, or set the same DATABASE_URL for both.`,
    );
  }
}

async function createDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [NAME]);
  if (rowCount === 0) {
    await client.query(`CREATE DATABASE ${NAME}`).catch((error: unknown) => {
      // Another process has created the database since the SELECT (42P04), or at the same moment (23505).
      if (!['42P04', '23505'].includes(codeOf(error))) {
        throw error;
      }
    });
  }
}

/** Returns true if PostgreSQL is starting, stopping or out of reach, or has too many connections. Then a later attempt may succeed. */
function isTemporary(error: unknown): boolean {
  return error instanceof pg.DatabaseError
    ? /^(57P0[123]|53300)$/.test(error.code ?? '')
    : !(error instanceof OperatorError);
}

function throwUnlessTemporary(error: unknown, { location }: Server): void {
  if (codeOf(error) === '28P01') {
    throw new OperatorError(
      `The password in ${join(location.dataDir, PASSWORD_FILE)} is not the password of the database in ` +
        `${location.clusterDir}. Restore the file, or remove DATA_DIR to start with an empty database.`,
      { cause: error },
    );
  }
  if (!isTemporary(error)) {
    throw error;
  }
}

/** Stops PostgreSQL if this process is the last one, or has lost its connection. Other processes then start it again. */
async function leave({ location: { clusterDir } }: Server, client: Presence): Promise<void> {
  try {
    const isLast = await leaveAsLast(client).catch(() => true);
    const postmaster = isLast ? await findPostmaster(clusterDir) : undefined;
    if (postmaster !== undefined) {
      await stopPostmaster(clusterDir, postmaster.pid);
    }
  } finally {
    await client.end();
  }
}

/** Returns true if no other process uses PostgreSQL. Then none can begin to use it until this connection ends. */
async function leaveAsLast(client: pg.Client): Promise<boolean> {
  await client.query('SELECT pg_advisory_unlock_all()');
  await client.query(`SET lock_timeout = ${LEAVE_MS}`);
  try {
    await client.query('SELECT pg_advisory_lock($1)', [USE_LOCK]);
    return true;
  } catch (error) {
    if (codeOf(error) === '55P03') {
      return false;
    }
    throw error;
  }
}

/** Finds the database in DATA_DIR, or null, and its PostgreSQL. Changes nothing. @throws OperatorError if it cannot be used */
export async function inspectEmbedded(dataDir: string): Promise<{ major: number; url: string | null } | null> {
  await readInstalledMajor(); // Throws if npm has installed no PostgreSQL, even if DATA_DIR has no data yet.
  const found = await findDatabase(dataDir);
  const major = found && (await readMajor(found.clusterDir));
  if (found === undefined || major === undefined) {
    return null;
  }
  await refuseMoved(dataDir);
  await refuseOtherMajor(found.clusterDir);
  const password = await readPassword(dataDir);
  if (password === undefined) {
    throw new OperatorError(
      `${dataDir} contains a database, but the file ${PASSWORD_FILE} with its password is missing. Restore the file.`,
    );
  }
  const isReady = (await findPostmaster(found.clusterDir))?.isReady === true;
  return { major, url: isReady ? databaseUrl({ location: found, password }) : null };
}
