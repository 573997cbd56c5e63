import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, type Kysely, sql } from 'kysely';
import { OperatorError } from '../errors.ts';
import { PACKAGE_ROOT } from '../lib/package-root.ts';
import { NO_DATABASE } from './embedded/failure.ts';
import { prepareMigrations, type RunMigration } from './distribution.ts';
import { isPooled } from './database.ts';
import { isEndedBySettings, isLockConflict } from './failures.ts';
import { isDatabaseFault } from './fault-messages.ts';
import { executeOutsideTransaction } from './transaction.ts';
import { type GiveWayOptions, inPatientTransaction, retryWhileLocked } from './give-way.ts';

const MIGRATIONS = join(PACKAGE_ROOT, 'migrations');

/**
 * Id of the advisory lock that lets only one process migrate a database at a time. Kysely's migrator, which earlier versions used, takes a
 * lock with the same id. So an earlier version cannot migrate at the same time.
 */
const LOCK_ID = '3853314791062309107';

/** Time in milliseconds after which a process tries again to get the lock. */
const LOCK_POLL_MS = 100;

/**
 * First line of a migration that runs without a transaction. While such a migration builds an index, other transactions can write to the
 * table of the index.
 */
const WITHOUT_TRANSACTION = '-- transaction: off';
/** Matches the only kind of statement that a migration without a transaction may have. */
const CREATE_INDEX = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS (\w+) ON /i;

/** Differences between the migrations of this version of the code and the migrations that are applied in a database. */
export interface Comparison {
  /** Names of the migrations that the database lacks, in their order. */
  missing: string[];
  /** Names of the migrations that the database has and this version does not know. */
  newer: string[];
}

export interface MigrationOptions extends GiveWayOptions {
  /** Folder of the migrations. Used by tests. */
  folder?: string;
  /**
   * Names of the only migrations that this call may apply. If undefined, the call applies all missing migrations. Used when data of an
   * older version is loaded into a database, because the tables must then be the tables of this older version.
   */
  only?: ReadonlySet<string>;
  /** Called at most once, if another process migrates the database and this process waits for it. */
  onWait?: () => void;
}

export interface MigrationResult {
  /** Names of the migrations that this call has applied. */
  applied: string[];
  /**
   * Names of the migrations that a newer version has applied. This version works on their schema, because a migration only adds to the
   * schema.
   */
  newer: string[];
}

/**
 * Applies all missing migrations to the database. Each migration is one file `NNNN_name.sql`. An applied migration cannot be undone.
 *
 * If no migration is missing, the function only reads the list of applied migrations. Otherwise it takes an advisory lock for the whole
 * call, so several processes may call it at the same time. Each migration that has succeeded is added to the list, so a call continues
 * where an earlier call failed. If a migration fails because another transaction has locked a table, the function runs the migration again
 * later (`retryWhileLocked`).
 *
 * The pool must have at least two connections. A transaction on the first connection holds the advisory lock, while the migrations run on
 * the second connection.
 * @throws OperatorError if a migration fails, or if the database lacks migrations and also has unknown ones. Throws an error of pg if the
 * database fails, for example because its disk is full.
 */
export async function migrateToLatest<T>(
  db: Kysely<T>,
  { folder = MIGRATIONS, only, onWait = () => {}, ...giveWay }: MigrationOptions = {},
): Promise<MigrationResult> {
  let isWaiting = false;
  const names = (await namesIn(folder)).filter((name) => only?.has(name) ?? true);
  for (;;) {
    const compared = compare(names, await readList(db));
    if (compared.missing.length === 0) {
      return { applied: [], newer: compared.newer };
    }
    const result = await migrateUnderLock(db, folder, names, giveWay);
    if (result !== null) {
      return result;
    }
    if (!isWaiting) {
      isWaiting = true;
      onWait();
    }
    await sleep(LOCK_POLL_MS);
  }
}

/**
 * Applies the missing migrations on a second connection of the pool, while a transaction on the first connection holds the lock. The lock
 * ends with this transaction. A lock of the session would not work behind a connection pooler, because it would stay with a connection that
 * other clients use.
 *
 * If another process holds the lock, the function returns null immediately. A statement that waits for the lock could cause a deadlock with
 * the build of an index in the other process:
 * - The build waits for all statements that began before it, so it would wait for the statement of this process.
 * - The statement would wait for the lock, which the other process holds until the build has ended.
 *
 * @returns null if another process holds the lock
 */
async function migrateUnderLock<T>(
  db: Kysely<T>,
  folder: string,
  names: string[],
  giveWay: GiveWayOptions,
): Promise<MigrationResult | null> {
  return await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ isMine: boolean }>`
      SELECT pg_try_advisory_xact_lock(${sql.lit(LOCK_ID)}::bigint) AS "isMine"
    `.execute(tx);
    if (!rows[0]?.isMine) {
      return null;
    }
    const { missing, newer } = compare(names, await readList(db));
    refuseOtherBranch({ missing, newer });
    const run = await prepareMigrations(tx);
    // A prepared SELECT keeps its snapshot until the connection runs another statement, and the build of an index would wait for this
    // snapshot. So the connection runs a SAVEPOINT, which ends the snapshot.
    await sql`SAVEPOINT reads_done`.execute(tx);
    for (const name of missing) {
      await apply(db, join(folder, `${name}.sql`), name, { run, giveWay });
    }
    return { applied: missing, newer };
  });
}

/** Returns true if all migrations of this version of the code have been applied. */
export async function isMigrated<T>(db: Kysely<T>): Promise<boolean> {
  return (await compareMigrations(db)).missing.length === 0;
}

/** Compares the migrations of the database with those of this version of the code. Changes nothing. */
export async function compareMigrations<T>(db: Kysely<T>): Promise<Comparison> {
  return compare(await namesOfThisVersion(), await readList(db));
}

let ownNames: Promise<string[]> | undefined;

/** Returns the names of all migrations that this version of the code knows, in their order. */
export function namesOfThisVersion(): Promise<string[]> {
  ownNames ??= namesIn(MIGRATIONS);
  return ownNames;
}

async function namesIn(folder: string): Promise<string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.replace(/\.sql$/, ''))
    .sort();
}

/**
 * Refuses a database that has no tables of the service.
 * @param subject name of the database in messages, for example `The database at db.example:5432`
 * @throws OperatorError
 */
export async function refuseEmpty<T>(db: Kysely<T>, subject: string): Promise<void> {
  if ((await readList(db)).size === 0) {
    throw new OperatorError(`${subject} has no tables of Roomservice. ${NO_DATABASE}`);
  }
}

/** Reads the names of the applied migrations. They are in a table of Kysely, because Kysely's migrator applied the first migrations. */
async function readList<T>(db: Kysely<T>): Promise<Set<string>> {
  try {
    const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(db);
    return new Set(rows.map(({ name }) => name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === '42P01') {
      return new Set(); // The table does not exist before the first migration.
    }
    throw error;
  }
}

function compare(names: string[], list: Set<string>): Comparison {
  return {
    missing: names.filter((name) => !list.has(name)),
    newer: [...list.difference(new Set(names))].sort(),
  };
}

/**
 * Refuses a database that lacks migrations of this version, and also has migrations that this version does not know. A version from another
 * branch has migrated such a database. A later release has all migrations of this version, so it would have applied the missing migrations
 * too.
 * @throws OperatorError
 */
function refuseOtherBranch(compared: Comparison): void {
  if (compared.missing.length > 0 && compared.newer.length > 0) {
    throw new OperatorError(describeOtherBranch(compared));
  }
}

/** Returns the message for a database that lacks migrations and also has unknown ones. */
export function describeOtherBranch({ missing, newer }: Comparison): string {
  return (
    `The database has migrations that this version does not know (${newer.join(', ')}), but lacks others (${missing.join(', ')}). ` +
    'Start the version that migrated the database, or a version that has all these migrations.'
  );
}

interface ApplyOptions {
  run: RunMigration;
  giveWay: GiveWayOptions;
}

async function apply<T>(db: Kysely<T>, file: string, name: string, { run, giveWay }: ApplyOptions): Promise<void> {
  const text = await readFile(file, 'utf8');
  try {
    if (text.startsWith(WITHOUT_TRANSACTION)) {
      await buildPatiently(db, text, giveWay);
      await addToList(db, name);
    } else {
      await inPatientTransaction(db, giveWay, (tx) =>
        run(tx, async () => {
          for (const statement of statementsOf(text)) {
            await tx.executeQuery(CompiledQuery.raw(statement));
          }
          await addToList(tx, name);
        }),
      );
    }
  } catch (error) {
    if (isDatabaseFault(error) && !isLockConflict(error)) {
      throw error;
    }
    const remedy = isLockConflict(error)
      ? '. Transactions of other clients hold locks on its tables (pg_locks and pg_stat_activity list them). Wait for their end, or end them, and start again.'
      : '';
    throw new OperatorError(`The migration ${name} of the database failed: ${(error as Error).message}${remedy}`, {
      cause: error,
    });
  }
}

/**
 * Splits the text of a migration into its statements, because a cluster (Citus) refuses a text of several statements. Removes each comment,
 * from `--` to the end of the line, and splits at each semicolon. So a string in a migration must contain no semicolon and no two hyphens
 * in a row. The test `test/tidy.test.ts` refuses a migration that breaks this rule.
 */
function statementsOf(text: string): string[] {
  return text
    .replace(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

async function addToList<T>(db: Kysely<T>, name: string): Promise<void> {
  await sql`
    CREATE TABLE IF NOT EXISTS kysely_migration (name varchar(255) PRIMARY KEY, timestamp varchar(255) NOT NULL)
  `.execute(db);
  await sql`INSERT INTO kysely_migration VALUES (${name}, ${new Date().toISOString()})`.execute(db);
}

/**
 * Builds the indexes of a migration while other transactions write to their tables.
 *
 * Behind a connection pooler, the service makes its settings inside transactions, and PostgreSQL refuses such a build there. So the settings
 * of the role apply to it. If they end it, the indexes are built in a transaction, and writes to the tables wait meanwhile.
 */
async function buildPatiently<T>(db: Kysely<T>, text: string, giveWay: GiveWayOptions): Promise<void> {
  try {
    await retryWhileLocked(giveWay, () => buildIndexes(db, text, 'CONCURRENTLY'));
  } catch (error) {
    if (!isPooled(db) || !isEndedBySettings(error)) {
      throw error;
    }
    await inPatientTransaction(db, giveWay, (tx) => buildIndexes(tx, text, ''));
  }
}

/** Builds each index of a migration. If an earlier build was interrupted, it has left an invalid index, which is removed first. */
async function buildIndexes<T>(db: Kysely<T>, text: string, how: 'CONCURRENTLY' | ''): Promise<void> {
  for (const statement of statementsOf(text)) {
    const index = CREATE_INDEX.exec(statement)?.[1];
    if (index === undefined) {
      throw new Error(
        `"${statement}" must begin with CREATE INDEX CONCURRENTLY IF NOT EXISTS, because it runs without a transaction.`,
      );
    }
    const { rows } = await sql`
      SELECT FROM pg_index WHERE indexrelid = to_regclass(${index}) AND NOT indisvalid
    `.execute(db);
    if (rows.length > 0) {
      await executeOutsideTransaction(db, sql`DROP INDEX ${sql.raw(how)} ${sql.ref(index)}`);
    }
    await executeOutsideTransaction(db, sql.raw(statement.replace(/ CONCURRENTLY /i, ` ${how} `)));
  }
}
