import type { Tenant } from '#access/tenants/tenants.ts';
import { type Recount, recount } from '#hotel/reservations/reservations.ts';
import type { Database } from '#platform/db/database.ts';
import { showProgress } from './terminal.ts';

/**
 * Result of comparing the night counters of one tenant with its reservations. A night counter stores how many rooms of one room type are
 * held in one night.
 */
export interface CountedNights extends Recount {
  /** Slug of the tenant. */
  tenant: string;
}

/**
 * Compares the night counters of the tenants with their reservations, one tenant after the other, and shows progress.
 * @param count counts the nights of one tenant. `repairNights` also corrects them. Default: `recount`
 */
export async function countNights(db: Database, tenants: Tenant[], count = recount): Promise<CountedNights[]> {
  const counted: CountedNights[] = [];
  for (const { id, slug } of tenants) {
    showProgress(`Counting the nights of ${slug} …`);
    counted.push({ tenant: slug, ...(await count(db, id)) });
  }
  return counted;
}

/** Returns the number of counted nights of all tenants, and the number of these nights whose counter differs from the reservations. */
export function sumOfNights(counted: CountedNights[]): { nights: number; wrong: number } {
  return {
    nights: counted.reduce((sum, { nights }) => sum + nights, 0),
    wrong: counted.reduce((sum, { differences }) => sum + differences.length, 0),
  };
}
