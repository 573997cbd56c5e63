import { findTenantBySlug, listTenants, type Tenant } from '#access/tenants/tenants.ts';
import { repairNights as repair } from '#hotel/reservations/reservations.ts';
import type { Config } from '#platform/config.ts';
import { type Database, openDatabase } from '#platform/db/database.ts';
import { distribute, readPlacements, type TablePlacement } from '#platform/db/distribution.ts';
import { refuseUnfit } from '#platform/db/requirements.ts';
import { OperatorError } from '#platform/errors.ts';
import { raiseFeedEra } from '#webhooks/events/feed.ts';
import { countNights, sumOfNights } from './count-nights.ts';
import { tellDatabase } from './faults.ts';
import { openRuntime } from './runtime.ts';
import { print, printJson, showProgress } from './terminal.ts';

interface NightsOptions {
  /** Slug of the only tenant whose nights are counted. By default, the nights of all tenants are counted. */
  tenant?: string;
  json?: boolean;
}

/**
 * Runs `roomservice nights verify`. Counts the reserved rooms of each night, and compares the number with the stored night counter. Exits 1
 * if a counter differs.
 */
export async function verifyNights(config: Config, options: NightsOptions): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', progress: showProgress });
  try {
    const results = await countNights(runtime.db, await chosenTenants(runtime.db, options.tenant));
    if (options.json) {
      printJson(results);
    }
    for (const { tenant, nights, differences } of options.json ? [] : results) {
      print(`${tenant}: ${nights} nights checked, ${differences.length} with a wrong counter`);
      for (const { room_type_id, date, held, counted } of differences) {
        print(`  ${date} room type ${room_type_id}: counter ${held}, rooms in reservations ${counted}`);
      }
    }
    const { wrong } = sumOfNights(results);
    if (wrong > 0) {
      throw new OperatorError(
        `Night counters that do not match the reservations: ${wrong}. The output lists each of them. ` +
          'To correct them, run "roomservice nights repair", also while the service runs.',
      );
    }
  } finally {
    await runtime.close();
  }
}

/** Runs `roomservice nights repair`. Corrects each night counter that differs from the reservations, and prints what it has corrected. */
export async function repairNights(config: Config, options: NightsOptions): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', progress: showProgress });
  try {
    const results = await countNights(runtime.db, await chosenTenants(runtime.db, options.tenant), repair);
    if (options.json) {
      printJson(results);
    }
    for (const { tenant, nights, differences } of options.json ? [] : results) {
      print(`${tenant}: ${nights} nights checked, ${differences.length} corrected`);
      for (const { room_type_id, date, held, counted } of differences) {
        print(`  ${date} room type ${room_type_id}: counter ${held} before, ${counted} now`);
      }
    }
  } finally {
    await runtime.close();
  }
}

async function chosenTenants(db: Database, slug: string | undefined): Promise<Tenant[]> {
  if (slug === undefined) {
    return await listTenants(db);
  }
  const tenant = await findTenantBySlug(db, slug);
  if (tenant === null) {
    throw new OperatorError(`There is no tenant "${slug}". "roomservice tenant list" shows the tenants.`);
  }
  return [tenant];
}

/**
 * Runs `roomservice feed expire-cursors`. Afterwards, all processes refuse every cursor of the event feed that was issued before. A cursor
 * is the position up to which a partner has read. An operator runs the command after a recovery of the database that lost the last events.
 * After such a recovery, a new event may get the position of a lost event. With an old cursor, a partner that has read the lost event would
 * miss the new event.
 */
export async function expireCursors(config: Config, options: { json?: boolean }): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', progress: showProgress });
  try {
    const era = await raiseFeedEra(runtime.db);
    if (options.json) {
      printJson({ era });
    } else {
      print(
        'The service now refuses every earlier cursor of the event feed with 400. The error message tells the partner how to continue.',
      );
    }
  } finally {
    await runtime.close();
  }
}

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
