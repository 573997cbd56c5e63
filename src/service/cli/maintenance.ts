import { listTenants } from '#access/tenants/tenants.ts';
import { type Recount, recount, repairNights as repair } from '#hotel/reservations/reservations.ts';
import type { Database } from '#platform/db/database.ts';
import { distribute, readPlacements } from '#platform/db/distribution.ts';
import { OperatorError } from '#platform/errors.ts';
import { raiseFeedEra } from '#webhooks/events/feed.ts';
import { type Context, openRuntime, withRuntime, withTables } from './runtime.ts';
import type { OutputOptions } from './terminal.ts';

export async function migrate(context: Context): Promise<void> {
  const runtime = await openRuntime(context, { role: 'command', mayCreate: true });
  await runtime.close();
  const { migrated } = runtime;
  context.terminal.print(migrated.length === 0 ? 'The database is up to date.' : `Applied: ${migrated.join(', ')}`);
}

export async function verifyNights(context: Context, options: OutputOptions): Promise<void> {
  const { wrong } = await printNights(context, options, recount, 'with a wrong counter');
  if (wrong.length > 0) {
    throw new OperatorError(
      `Night counters that do not match the reservations: ${wrong.length}. The output lists each of them. ` +
        'To correct them, run "roomservice nights repair", also while the service runs.',
    );
  }
}

export async function repairNights(context: Context, options: OutputOptions): Promise<void> {
  await printNights(context, options, repair, 'corrected');
}

async function printNights(context: Context, options: OutputOptions, count: typeof recount, outcome: string) {
  const { terminal } = context;
  const result = await withRuntime(context, ({ db }) => countNights(db, terminal.showProgress, count));
  const lines = result.tenants.flatMap(({ tenant, nights, differences }) => [
    `${tenant}: ${nights} nights checked, ${differences.length} ${outcome}`,
    ...differences.map(
      ({ room_type_id, date, held, counted }) =>
        `  ${date} room type ${room_type_id}: counter ${held}, rooms in reservations ${counted}`,
    ),
  ]);
  if (options.json || lines.length > 0) {
    terminal.printResult(options, result.tenants, lines.join('\n'));
  }
  return result;
}

/** Counts the nights of all tenants. `wrong` has the nights whose counter differs from the reservations. */
export async function countNights(db: Database, showProgress: (message: string) => void, count = recount) {
  const tenants: (Recount & { tenant: string })[] = [];
  for (const { id, slug } of await listTenants(db)) {
    showProgress(`Counting the nights of ${slug} …`);
    tenants.push({ tenant: slug, ...(await count(db, id)) });
  }
  const nights = tenants.reduce((sum, each) => sum + each.nights, 0);
  return { tenants, nights, wrong: tenants.flatMap(({ differences }) => differences) };
}

/**
 * Runs `roomservice feed expire-cursors`. An operator runs the command after a recovery of the database that lost the last events. After
 * such a recovery, a new event may get the position of a lost event.
 */
export async function expireCursors(context: Context, options: OutputOptions): Promise<void> {
  await withRuntime(context, async ({ db }) => {
    const text =
      'The service now refuses every earlier cursor of the event feed with 400. The error message tells the partner how to continue.';
    context.terminal.printResult(options, { era: await raiseFeedEra(db) }, text);
  });
}

export async function distributeTables(context: Context, options: OutputOptions): Promise<void> {
  const placed = await withCluster(context, (db) => distribute(db, context.terminal.showProgress));
  const result = placed.map(({ table, placement, actual }) => ({ table, placement, was: actual }));
  const lines = result.map(({ table, placement, was }) => `${table}: ${placement} (was ${was})`);
  context.terminal.printResult(
    options,
    result,
    lines.join('\n') || 'All tables are in the right place. Nothing was changed.',
  );
}

export async function verifyTables(context: Context, options: OutputOptions): Promise<void> {
  const tables = await withCluster(context, readPlacements);
  const wrong = tables.filter(({ isRight }) => !isRight);
  const result = tables.map(({ table, placement, actual }) => ({ table, placement, actual }));
  const lines = wrong.map(({ table, placement, actual }) => `  ${table}: is ${actual}, must be ${placement}`);
  context.terminal.printResult(
    options,
    result,
    [`${tables.length} tables, ${wrong.length} in the wrong place`, ...lines].join('\n'),
  );
  if (wrong.length > 0) {
    throw new OperatorError(
      `Tables in the wrong place: ${wrong.length}. Run "roomservice cluster distribute" to move them to the right place.`,
    );
  }
}

/** Does not migrate the database: `cluster verify` must change nothing, and `cluster distribute` must only place tables on nodes. */
async function withCluster<T>(context: Context, work: (db: Database) => Promise<T>): Promise<T> {
  if (context.config.databaseUrl === null) {
    throw new OperatorError(
      'DATABASE_URL is not set, so this command would use the embedded database, which is one node. ' +
        'Set DATABASE_URL to the URL of the coordinator.',
    );
  }
  return await withTables(context, 'command', work);
}
