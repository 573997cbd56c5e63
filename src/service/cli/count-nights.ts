import type { Tenant } from '#access/tenants/tenants.ts';
import { recount } from '#hotel/reservations/reservations.ts';
import type { Database } from '#platform/db/database.ts';
import { showProgress } from './terminal.ts';

/**
 * Result of comparing the night counters of one tenant with its reservations. A night counter stores how many rooms of one room type are
 * held in one night.
 */
export interface CountedNights extends Awaited<ReturnType<typeof recount>> {
  /** Slug of the tenant. */
  tenant: string;
}

/** Compares the night counters of the tenants with their reservations, one tenant after the other, and shows progress. */
export async function countNights(db: Database, tenants: Tenant[]): Promise<CountedNights[]> {
  const counted: CountedNights[] = [];
  for (const { id, slug } of tenants) {
    showProgress(`Counting the nights of ${slug} …`);
    counted.push({ tenant: slug, ...(await recount(db, id)) });
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
