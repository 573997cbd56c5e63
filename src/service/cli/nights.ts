import type { Config } from '#platform/config.ts';
import type { Database } from '#platform/db/database.ts';
import { OperatorError } from '#platform/errors.ts';
import { findTenantBySlug, listTenants, type Tenant } from '#access/tenants/tenants.ts';
import { repairNights as repair } from '#hotel/reservations/reservations.ts';
import { countNights, sumOfNights } from './count-nights.ts';
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
