import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import { OperatorError } from '../errors.ts';
import { PACKAGE_ROOT } from '../lib/package-root.ts';
import { prepareMigrations } from './distribution.ts';
import { NO_DATABASE } from './embedded/cluster.ts';
import { isLockConflict } from './failures.ts';
import { isDatabaseFault } from './fault-messages.ts';

const MIGRATIONS = join(PACKAGE_ROOT, 'migrations');

const LOCK_ID = '3853314791062309107';

/** Shorter than deadlock_timeout of PostgreSQL (1 s), so in a deadlock the migration gives way, and not a call. */
const LOCK_WAIT_MS = 500;
const PAUSE_MS = 500;
const GIVE_UP_MS = 10 * 60_000;

interface MigrationOptions {
  folder?: string;
  /** Names of the only migrations that this call may apply. Used when the rows of an older version are loaded into its tables. */
  only?: ReadonlySet<string>;
  onWait?: () => void;
  giveUpMs?: number | undefined;
}

interface MigrationResult {
  applied: string[];
  /** Names of the migrations that a newer version has applied. This version works on their schema, because a migration only adds to it. */
  newer: string[];
}

/** Applies all missing migrations in one transaction, which gives way to calls every half second. @throws OperatorError if one fails */
export async function migrateToLatest<T>(
  db: Kysely<T>,
  { folder = MIGRATIONS, only, onWait = () => {}, giveUpMs = GIVE_UP_MS }: MigrationOptions = {},
): Promise<MigrationResult> {
  const names = (await namesOfThisVersion(folder)).filter((name) => only?.has(name) ?? true);
  const giveUpAtMs = performance.now() + giveUpMs;
  for (let isFirst = true; ; isFirst = false) {
    const { missing, newer } = compare(names, await readMigrations(db));
    if (missing.length === 0) {
      return { applied: [], newer };
    }
    try {
      return await db.transaction().execute((tx) => applyMissing(tx, folder, names));
    } catch (error) {
      if (!isLockConflict(error)) {
        throw error;
      }
      if (performance.now() > giveUpAtMs) {
        throw new OperatorError(
          `The migrations of the database failed: ${(error as Error).message}. Transactions of other clients hold locks on its tables ` +
            '(pg_locks and pg_stat_activity list them). Wait for their end, or end them, and start again.',
          { cause: error },
        );
      }
    }
    if (isFirst) {
      onWait();
    }
    await sleep(PAUSE_MS);
  }
}

async function applyMissing<T>(tx: Transaction<T>, folder: string, names: string[]): Promise<MigrationResult> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(LOCK_WAIT_MS)}`.execute(tx);
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(LOCK_ID)}::bigint)`.execute(tx);
  const { missing, newer } = compare(names, await readMigrations(tx));
  const placeTables = await prepareMigrations(tx);
  await sql`
    CREATE TABLE IF NOT EXISTS kysely_migration (name varchar(255) PRIMARY KEY, timestamp varchar(255) NOT NULL)
  `.execute(tx);
  for (const name of missing) {
    await apply(tx, join(folder, `${name}.sql`), name);
  }
  await placeTables();
  return { applied: missing, newer };
}

export async function compareMigrations<T>(db: Kysely<T>) {
  return compare(await namesOfThisVersion(), await readMigrations(db));
}

/** Returns the names of all migrations that this version of the code knows, in their order. */
export async function namesOfThisVersion(folder = MIGRATIONS): Promise<string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.replace(/\.sql$/, ''))
    .sort();
}

/** Refuses a database that has no tables of the service. Messages name it with `subject`. @throws OperatorError */
export async function refuseEmpty<T>(db: Kysely<T>, subject: string): Promise<void> {
  if ((await readMigrations(db)).size === 0) {
    throw new OperatorError(`${subject} has no tables of Roomservice. ${NO_DATABASE}`);
  }
}

export async function readMigrations<T>(db: Kysely<T>): Promise<Set<string>> {
  const { rows: tables } = await sql`SELECT FROM pg_class WHERE oid = to_regclass('kysely_migration')`.execute(db);
  if (tables.length === 0) {
    return new Set();
  }
  const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(db);
  return new Set(rows.map(({ name }) => name));
}

/** No order of releases leads to a database that lacks some migrations and has unknown ones. @throws OperatorError */
function compare(names: string[], list: Set<string>) {
  const missing = names.filter((name) => !list.has(name));
  const newer = [...list.difference(new Set(names))].sort();
  if (missing.length > 0 && newer.length > 0) {
    throw new OperatorError(
      `A development version of Roomservice made this database (${newer.join(', ')}), and no release reads it. ` +
        'Move DATA_DIR away, or name an empty database in DATABASE_URL.',
    );
  }
  return { applied: names.filter((name) => list.has(name)), missing, newer };
}

async function apply<T>(tx: Transaction<T>, file: string, name: string): Promise<void> {
  try {
    for (const statement of statementsOf(await readFile(file, 'utf8'))) {
      await tx.executeQuery(CompiledQuery.raw(statement));
    }
    await sql`INSERT INTO kysely_migration VALUES (${name}, ${new Date().toISOString()})`.execute(tx);
  } catch (error) {
    throw isDatabaseFault(error)
      ? error
      : new OperatorError(`The migration ${name} of the database failed: ${(error as Error).message}`, {
          cause: error,
        });
  }
}

/** A cluster (Citus) refuses a text of several statements. So a string in a migration has no semicolon and no `--`. */
function statementsOf(text: string): string[] {
  return text
    .replace(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
