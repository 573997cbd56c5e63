import { resolve } from 'node:path';
import type { Config } from '#platform/config.ts';
import { type Database, openDatabase } from '#platform/db/database.ts';
import { inspectEmbedded } from '#platform/db/embedded/inspect.ts';
import { explainFault } from '#platform/db/fault-messages.ts';
import { describeOtherBranch } from '#platform/db/migrate.ts';
import { faultsOf, type Fitness, readFitness } from '#platform/db/requirements.ts';
import { OperatorError } from '#platform/errors.ts';
import { checkMasterKeys, readMasterKeyOf } from '#platform/keys/keys.ts';
import { masterKeyPath, readMasterKey } from '#platform/keys/master-key.ts';
import { inTime } from '#platform/lib/in-time.ts';
import { databaseOf } from './faults.ts';

/** Time limit in milliseconds for each server that `config check` tries. */
export const TRY_LIMIT_MS = 5_000;

/** Result of a try to use a server or a database. All texts are sentences for the operator. The try has failed if there is a fault. */
export interface Findings {
  details: string[];
  faults: string[];
}

/**
 * Connects to the database, and reads its version, its migrations and its keys. Changes nothing.
 * @throws OperatorError if the database is out of reach or refuses the connection
 */
export async function tryDatabase(config: Config, url: string): Promise<Findings> {
  let db: Database | undefined;
  try {
    return await inTime(TRY_LIMIT_MS, async () => {
      db = openDatabase({ url, poolSize: 1, hasNoTimeLimit: false });
      const state = describeState(await readFitness(db));
      // An unfit database may refuse the statement that reads the keys, for example on a standby.
      const keys = state.faults.length === 0 ? await describeKeys(config, db) : { details: [], faults: [] };
      return { details: [...state.details, ...keys.details], faults: [...state.faults, ...keys.faults] };
    });
  } catch (error) {
    throw explainFault(error, databaseOf(config));
  } finally {
    void db?.destroy().catch(() => {});
  }
}

/** Describes the state of a database, and finds its faults. */
function describeState(fitness: Fitness): Findings {
  const { missing, newer } = fitness.migrations;
  const details = [`It is PostgreSQL ${fitness.version}.`];
  const faults = faultsOf(fitness);
  if (missing.length > 0 && newer.length > 0) {
    faults.push(describeOtherBranch(fitness.migrations));
  } else if (newer.length > 0) {
    details.push(
      `A newer version has migrated it (${newer.join(', ')}). This version works with it, because a migration removes nothing that an older version uses.`,
    );
  } else {
    details.push(missing.length === 0 ? 'It has all migrations.' : describeMissing(missing));
  }
  return { details, faults };
}

function describeMissing(missing: string[]): string {
  const first = missing.length === 1 ? missing[0] : `${missing[0]} to ${missing.at(-1)}`;
  return `${missing.length} ${missing.length === 1 ? 'migration is' : 'migrations are'} missing (${first}). "roomservice migrate" and "serve" apply them.`;
}

/** Checks that the master key unwraps the service keys of the database. Reports a fault if it does not. */
async function describeKeys(config: Config, db: Database): Promise<Findings> {
  const { masterKey, masterKeyPrevious, databaseUrl, dataDir } = config;
  if (masterKey === null && databaseUrl !== null) {
    return { details: [], faults: [] }; // MASTER_KEY is missing or faulty. The list of variables reports this already.
  }
  try {
    const current = masterKey ?? (await readMasterKeyOf(db, dataDir));
    const count = current === null ? 0 : await checkMasterKeys(db, { current, previous: masterKeyPrevious });
    return {
      details: [count === 0 ? 'It has no keys yet. The first start makes them.' : 'The master key unwraps its keys.'],
      faults: [],
    };
  } catch (error) {
    if (error instanceof OperatorError) {
      return { details: [], faults: [error.message] };
    }
    throw error;
  }
}

/**
 * Finds out what DATA_DIR contains, and reads the embedded database only if it runs. Creates and starts nothing.
 * @throws EmbeddedPostgresError or OperatorError if the database cannot be used
 */
export async function tryEmbedded(config: Config): Promise<Findings> {
  const folder = resolve(config.dataDir);
  const state = await inTime(TRY_LIMIT_MS, () => inspectEmbedded(config.dataDir));
  if (state === null) {
    return { details: [`${folder} contains no database yet. The first start creates it.`], faults: [] };
  }
  const { major, url } = state;
  const details = [`${folder} contains a database of PostgreSQL ${major}.`];
  if (url !== null) {
    const found = await tryDatabase(config, url);
    return { ...found, details: [...details, 'It runs.', ...found.details] };
  }
  details.push('It does not run now, so its migrations and its keys were not checked.');
  const isKeyMissing = config.masterKey === null && (await readMasterKey(config.dataDir)) === null;
  const fault = `${masterKeyPath(config.dataDir)} is missing, and MASTER_KEY is not set. Restore the file from your copy.`;
  return { details, faults: isKeyMissing ? [fault] : [] };
}
