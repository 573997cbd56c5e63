import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CompiledQuery, type Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { OperatorError } from '../errors.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../migrations');

/**
 * Reads all migrations. Each migration is one file `NNNN_name.sql`. The migrator runs the whole file in its transaction. No migration can
 * be undone.
 */
async function readMigrations(): Promise<Record<string, Migration>> {
  const files = (await readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql')).sort();
  const entries = files.map(async (file) => {
    const text = await readFile(join(MIGRATIONS, file), 'utf8');
    const up = async (db: Kysely<unknown>) => {
      await db.executeQuery(CompiledQuery.raw(text));
    };
    return [file.replace(/\.sql$/, ''), { up }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

function migrator(db: Kysely<unknown>): Migrator {
  return new Migrator({ db, provider: { getMigrations: readMigrations } });
}

/**
 * Applies all missing migrations to the database. Several processes may call it at the same time, because a lock makes them wait for each
 * other.
 * @returns the names of the migrations that this call has applied
 */
export async function migrateToLatest<T>(db: Kysely<T>): Promise<string[]> {
  const { error, results = [] } = await migrator(db as Kysely<unknown>).migrateToLatest();
  if (error !== undefined) {
    const failed = results.find((result) => result.status === 'Error');
    const where = failed === undefined ? '' : ` in ${failed.migrationName}`;
    throw new OperatorError(`The database could not be migrated${where}: ${(error as Error).message ?? error}`, {
      cause: error,
    });
  }
  return results.map((result) => result.migrationName);
}

/** Returns true if all migrations of this version of the code have been applied. */
export async function isMigrated<T>(db: Kysely<T>): Promise<boolean> {
  const migrations = await migrator(db as Kysely<unknown>).getMigrations();
  return migrations.every((migration) => migration.executedAt !== undefined);
}
