import type { Config } from '#platform/config.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '#platform/db/embedded/embedded.ts';
import { EmbeddedPostgresError } from '#platform/db/embedded/failure.ts';
import { isUnavailable } from '#platform/db/failures.ts';
import { HungWrites } from '#platform/db/hung-writes.ts';
import { type Layout, readLayout } from '#platform/db/layout.ts';
import { migrateToLatest } from '#platform/db/migrate.ts';
import { OperatorError } from '#platform/errors.ts';
import { leaveWhenInterrupted } from './interruption.ts';
import type { OpenKeyring } from '#platform/keys/keyring.ts';
import { openKeyring, openMasterKey } from '#platform/keys/keys.ts';

/** What every command works with: a migrated database and the keys in it. */
export interface Runtime {
  db: Database;
  /** For the background loops: connections of their own where some are reserved for them, else `db`. */
  backgroundDb: Database;
  keyring: OpenKeyring;
  /** Whether writes hang now, as far as this process knows. */
  areWritesHanging: () => boolean;
  /** The names of the migrations that were applied at this opening. */
  migrated: string[];
  close(): Promise<void>;
}

export interface RuntimeOptions {
  /** A second `serve` on one DATA_DIR is refused; any number of commands come and go beside it. */
  role: 'serve' | 'command';
  /** False for a command that is of no use without what is in the database: it is not made then. */
  mayCreate?: boolean;
  /** Told what takes long. */
  progress: (message: string) => void;
  onConnectionError?: (error: Error) => void;
  /** Told once if writes begin to hang, and once if they go on. */
  onHungWrites?: (areHanging: boolean) => void;
  /** How many of the process's connections only the background loops may use. */
  backgroundConnections?: number;
}

/**
 * Opens the database (the embedded one where no DATABASE_URL is set), brings it up to date and opens its keys.
 * @throws OperatorError when something is wrong that the operator can put right
 */
export async function openRuntime(config: Config, options: RuntimeOptions): Promise<Runtime> {
  const server = config.databaseUrl === null ? await openEmbedded(config, options) : null;
  const url = server?.url ?? (config.databaseUrl as string);
  const { backgroundConnections = 0 } = options;
  const hungWrites = options.onHungWrites && new HungWrites(url, options.onHungWrites);
  const pools: Database[] = [];
  const openPool = (poolSize: number, layout: Layout) => {
    const pool = createDatabase({
      url,
      poolSize,
      isPatient: options.role === 'command',
      isPrepared: config.databasePreparedStatements,
      layout,
      ...(hungWrites ? { hungWrites } : {}),
      ...(options.onConnectionError ? { onConnectionError: options.onConnectionError } : {}),
    });
    pools.push(pool);
    return pool;
  };
  const close = async () => {
    hungWrites?.close();
    await Promise.all(pools.map((pool) => pool.destroy()));
    await server?.close();
  };
  try {
    const { masterKey, migrated, layout } = await setUp(config, url);
    const db = openPool(config.databasePoolSize - backgroundConnections, layout);
    const backgroundDb = backgroundConnections > 0 ? openPool(backgroundConnections, layout) : db;
    const keyring = await openKeyring(db, masterKey, config.masterKeyPrevious);
    const areWritesHanging = () => hungWrites?.areHanging ?? false;
    return { db, backgroundDb, keyring, areWritesHanging, migrated, close };
  } catch (error) {
    await close();
    const reason = error instanceof OperatorError ? error.cause : error;
    throw isUnavailable(reason) ? outOfReach(config, reason) : error;
  }
}

/** Brings the database up to date, on connections of their own, which give a statement the time it takes. */
async function setUp(config: Config, url: string) {
  const db = createDatabase({ url, poolSize: 2, isPatient: true, isPrepared: false });
  try {
    // First: a start without the right master key changes nothing.
    const masterKey = config.masterKey ?? (await openMasterKey(db, config.dataDir));
    const migrated = await migrateToLatest(db);
    return { masterKey, migrated, layout: await readLayout(db) };
  } finally {
    await db.destroy();
  }
}

async function openEmbedded(
  { dataDir }: Config,
  { role, mayCreate = true, progress }: RuntimeOptions,
): Promise<EmbeddedPostgres> {
  const opening = openEmbeddedPostgres({ dataDir, role, mayCreate, log: progress });
  if (role === 'command') {
    leaveWhenInterrupted(opening);
  }
  try {
    return await opening;
  } catch (error) {
    throw error instanceof EmbeddedPostgresError ? new OperatorError(error.message, { cause: error }) : error;
  }
}

/** The URL itself stays out of the message: it holds a password. */
function outOfReach(config: Config, error: unknown): OperatorError {
  const where = config.databaseUrl === null ? 'in DATA_DIR' : `at ${new URL(config.databaseUrl).host}`;
  const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  return new OperatorError(`The database ${where} is out of reach (${reason}). Check DATABASE_URL and that it runs.`, {
    cause: error,
  });
}
