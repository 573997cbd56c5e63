import type { Config } from '#platform/config.ts';
import { type Database, openDatabase } from '#platform/db/database.ts';
import { distribute, readPlacements, type TablePlacement } from '#platform/db/distribution.ts';
import { refuseUnfit } from '#platform/db/requirements.ts';
import { OperatorError } from '#platform/errors.ts';
import { tellDatabase } from './faults.ts';
import { print, printJson, showProgress } from './terminal.ts';

/**
 * Runs `roomservice cluster distribute`. Places each table of a database cluster on the nodes where it must be, and prints the tables that
 * were on other nodes.
 */
export async function distributeTables(config: Config, options: { json?: boolean }): Promise<void> {
  const placed = await withDatabase(config, async (db) => {
    await refuseUnfit(db);
    await readTables(db);
    return await distribute(db, showProgress);
  });
  if (options.json) {
    printJson(placed.map(({ table, placement, actual }) => ({ table, placement, was: actual })));
  } else if (placed.length === 0) {
    print('All tables are in the right place. Nothing was changed.');
  } else {
    print(placed.map(({ table, placement, actual }) => `${table}: ${placement} (was ${actual})`).join('\n'));
  }
}

/**
 * Runs `roomservice cluster verify`. Prints the tables of a database cluster that are not on the nodes where they must be, and exits 1 if
 * there is such a table.
 */
export async function verifyTables(config: Config, options: { json?: boolean }): Promise<void> {
  const tables = await withDatabase(config, readTables);
  const wrong = tables.filter(({ isRight }) => !isRight);
  if (options.json) {
    printJson(tables.map(({ table, placement, actual }) => ({ table, placement, actual })));
  } else {
    print([`${tables.length} tables, ${wrong.length} in the wrong place`, ...wrong.map(lineOf)].join('\n'));
  }
  if (wrong.length > 0) {
    throw new OperatorError(
      `Tables in the wrong place: ${wrong.length}. Run "roomservice cluster distribute" to move them to the right place.`,
    );
  }
}

async function readTables(db: Database): Promise<TablePlacement[]> {
  const tables = await readPlacements(db);
  if (tables.length === 0) {
    throw new OperatorError(
      'The database has no tables of Roomservice yet. Run "roomservice migrate" with this DATABASE_URL, which also distributes them.',
    );
  }
  return tables;
}

function lineOf({ table, placement, actual }: TablePlacement): string {
  return `  ${table}: is ${actual}, must be ${placement}`;
}

/**
 * Opens the database of DATABASE_URL for the work of one command. Does not migrate the database, because `cluster verify` must change
 * nothing, and `cluster distribute` must only place tables on nodes.
 */
async function withDatabase<T>(config: Config, work: (db: Database) => Promise<T>): Promise<T> {
  const { databaseUrl: url } = config;
  if (url === null) {
    throw new OperatorError(
      'DATABASE_URL is not set, so this command would use the embedded database, which is one node. ' +
        'Set DATABASE_URL to the URL of the coordinator.',
    );
  }
  const db = openDatabase({ url, poolSize: 1 });
  tellDatabase(config);
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}
