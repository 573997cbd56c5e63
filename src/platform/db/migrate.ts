import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CompiledQuery, type Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { OperatorError } from '../errors.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../migrations');

/** A migration is one `NNNN_name.sql`, run whole in the migrator's transaction; there is no way back. */
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
 * Brings the database up to date. Safe when several processes start at once: they wait for one another's lock.
 * @returns the names of the migrations that were applied now
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

/** Whether every migration this code knows has been applied. */
export async function isMigrated<T>(db: Kysely<T>): Promise<boolean> {
  const migrations = await migrator(db as Kysely<unknown>).getMigrations();
  return migrations.every((migration) => migration.executedAt !== undefined);
}
