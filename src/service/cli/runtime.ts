import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Config, Environment } from '#platform/config.ts';
import { createDatabase, type Database, readLayout, withDatabase } from '#platform/db/database.ts';
import { type EmbeddedPostgres, openEmbeddedPostgres, type Role } from '#platform/db/embedded/embedded.ts';
import { refuseMoved } from '#platform/db/embedded/move-marker.ts';
import { explainFault, type NamedDatabase, nameDatabase } from '#platform/db/fault-messages.ts';
import { migrateToLatest, refuseEmpty } from '#platform/db/migrate.ts';
import { refuseUnfit } from '#platform/db/requirements.ts';
import { OperatorError } from '#platform/errors.ts';
import { checkMasterKey, makeMasterKey, openKeyring, rewrapPepper } from '#platform/keys/keys.ts';
import type { Terminal } from './terminal.ts';

export interface Context {
  config: Config;
  environment: Environment;
  terminal: Terminal;
}

/** Parts that every command needs: a migrated database, and the service keys that the database stores. */
export type Runtime = Awaited<ReturnType<typeof openRuntime>>;

interface RuntimeOptions {
  role: Role;
  /** True if a missing database is created. A database without tables of the service counts as missing. */
  mayCreate?: boolean;
  /** True if the command may open an embedded database whose data `roomservice move` has moved. */
  mayBeMoved?: boolean;
  /** Log for progress and notices. By default, they are shown on stderr. */
  log?: Logger;
  backgroundConnections?: number;
}

/** Minimum size of a connection pool that reserves connections for background work. A smaller pool reserves no connection. */
const MIN_CONNECTIONS_TO_SPLIT = 5;

/** Opens the database, migrates it, and unwraps its service keys with the master key. */
export async function openRuntime(context: Context, options: RuntimeOptions) {
  const { config, terminal } = context;
  const server = await openServer(context, options);
  const { url } = server;
  const pools: Database[] = [];
  const close = async () => {
    await Promise.all(pools.map((pool) => pool.destroy()));
    await server.close();
  };
  const { role, log } = options;
  const progress = progressOf(context, options);
  const notice = log === undefined ? terminal.notify : (text: string) => log.warn(text);
  try {
    const { masterKey, migration, layout } = await setUp(config, url, progress, options.mayCreate);
    if (migration.newer.length > 0) {
      notice(describeNewer(migration.newer));
    }
    const openPool = (poolSize: number) => {
      const onConnectionError = ({ message: reason }: Error) =>
        log?.warn({ reason }, 'a database connection broke; the service opens a new connection when it needs one');
      const pool = createDatabase({ url, poolSize, layout, hasNoTimeLimit: role !== 'serve', onConnectionError });
      pools.push(pool);
      return pool;
    };
    const size = config.databasePoolSize;
    const reserved = size < MIN_CONNECTIONS_TO_SPLIT ? 0 : (options.backgroundConnections ?? 0);
    const db = openPool(size - reserved);
    const backgroundDb = reserved > 0 ? openPool(reserved) : db;
    const keyring = await openKeyring(db, masterKey, config.masterKeyPrevious);
    return {
      db,
      /** Equal to `db` if no connections are reserved for the loops. */
      backgroundDb,
      /** May contain a password. */
      databaseUrl: url,
      keyring,
      /** Wraps the pepper with MASTER_KEY only. Returns true if it was wrapped again. */
      rewrapKeys: () => rewrapPepper(db, config.masterKeyPrevious, masterKey),
      migrated: migration.applied,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Uses separate connections whose statements have no time limit, because a migration may take long. */
async function setUp(config: Config, url: string, progress: (message: string) => void, mayCreate = false) {
  return await withDatabase({ url, poolSize: 2 }, async (db) => {
    await refuseUnfit(db);
    if (!mayCreate) {
      await refuseEmpty(db, databaseOf(config).subject);
    }
    // The master key is checked before the migrations run, because a start without the correct master key must change nothing.
    const masterKey = (await checkMasterKey(db, config)) ?? (await makeMasterKey(config.dataDir));
    const onWait = () => progress('The migration waits for locks of another migration or of other clients.');
    const migration = await migrateToLatest(db, { onWait });
    return { masterKey, migration, layout: await readLayout(db) };
  });
}

export async function withRuntime<T>(context: Context, work: (runtime: Runtime) => Promise<T>): Promise<T> {
  const runtime = await openRuntime(context, { role: 'command' });
  try {
    return await work(runtime);
  } finally {
    await runtime.close();
  }
}

/** Opens the database of DATABASE_URL, or the embedded one, and says which one it is. Does not migrate it. */
async function openServer(context: Context, options: RuntimeOptions): Promise<Pick<EmbeddedPostgres, 'url' | 'close'>> {
  const { config, terminal } = context;
  const { databaseUrl: url } = config;
  const server = url === null ? await openEmbedded(context, options) : { url, close: async () => {} };
  const { name, setting } = databaseOf(config);
  const say = options.log?.info.bind(options.log) ?? terminal.notify;
  say(`Database: ${name} (${setting})`);
  return server;
}

/** Runs work on a database that it does not migrate. */
export async function withServer<T>(context: Context, options: RuntimeOptions, work: (url: string) => Promise<T>) {
  const server = await openServer(context, options);
  try {
    return await work(server.url);
  } finally {
    await server.close();
  }
}

/** Runs work on a database that has the tables of the service, which it does not migrate. @throws OperatorError if it has none */
export async function withTables<T>(context: Context, role: Role, work: (db: Database) => Promise<T>): Promise<T> {
  return await withServer(context, { role }, (url) =>
    withDatabase({ url, poolSize: 1 }, async (db) => {
      await refuseUnfit(db);
      await refuseEmpty(db, databaseOf(context.config).subject);
      return await work(db);
    }),
  );
}

function progressOf({ terminal }: Context, { log }: Pick<RuntimeOptions, 'log'>): (text: string) => void {
  return log === undefined ? terminal.showProgress : (text) => log.info(text);
}

async function openEmbedded(context: Context, options: RuntimeOptions): Promise<EmbeddedPostgres> {
  const { config, terminal } = context;
  const { dataDir } = config;
  const { role, mayCreate = false, mayBeMoved = false } = options;
  const opening = openEmbeddedPostgres({ dataDir, role, mayCreate, log: progressOf(context, options) });
  if (role !== 'serve') {
    terminal.whenInterrupted(async () => await (await opening).close());
  }
  const server = await opening;
  if (!mayBeMoved) {
    // The check must come after the opening. A move begins only if no other process has opened the embedded database. So after the opening,
    // no move can begin and make the result of the check wrong.
    await refuseMoved(dataDir).catch(async (error: unknown) => {
      await server.close();
      throw error;
    });
  }
  return server;
}

export function databaseOf({ databaseUrl, dataDir }: Config): NamedDatabase {
  const folder = resolve(dataDir);
  return databaseUrl === null
    ? { subject: `The database in ${folder}`, name: folder, setting: 'DATA_DIR' }
    : nameDatabase(databaseUrl, 'DATABASE_URL');
}

export function describeNewer(newer: string[]): string {
  return `The database was migrated by a newer version (${newer.join(', ')}). This version works with it, but reads and backs up only the tables and columns that it knows.`;
}

const FILE_FAULT = /^(?:ENOENT|ENOTDIR|EISDIR|ENOSPC|EDQUOT|EROFS|EACCES|EPERM|EIO|EMFILE|ENFILE)$/;

/** Turns a failure of the database or of a file into an OperatorError, which says what to do. */
export function explain({ config, terminal }: Context, error: unknown): unknown {
  const fault = explainFile(explainFault(error, databaseOf(config)));
  if (fault instanceof OperatorError && ['trace', 'debug'].includes(config.logLevel)) {
    terminal.notify((fault.cause instanceof Error ? fault.cause : fault).stack ?? fault.message);
  }
  return fault;
}

function explainFile(error: unknown): unknown {
  const { code = '', path } = error as NodeJS.ErrnoException;
  return path === undefined || !FILE_FAULT.test(code) || error instanceof OperatorError
    ? error
    : new OperatorError(
        `${path} cannot be used (${code}). Check the path, its permissions and the free space of its disk, and run the command again.`,
        { cause: error },
      );
}
