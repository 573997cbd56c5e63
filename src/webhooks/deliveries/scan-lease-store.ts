import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';

/**
 * State of the scan leases, which let a few workers search the database for due deliveries. Each row of the table `scan_lease` is a slot
 * for one lease. A worker may take a slot only while the slot is open. Four slots are always open. Busy workers open other slots for some
 * seconds.
 */
export interface LeaseLook {
  /** Number of all slots: taken or free, open or closed. */
  slots: number;
  /** Lowest slot that a worker may take now. Null: no slot is free. */
  free: number | null;
}

/** Reads the number of slots and the lowest free slot. */
export async function lookForFreeSlot(db: Database): Promise<LeaseLook> {
  const { rows } = await sql<LeaseLook>`
    SELECT count(*) AS slots, min(slot) FILTER (WHERE leased_until <= now() AND open_until > now()) AS free FROM scan_lease
  `.execute(db);
  return rows[0] ?? { slots: 0, free: null };
}

/** Takes a slot for `seconds`. @returns false if the slot is closed or another worker has taken it in the meantime, otherwise true */
export async function takeSlot(db: Database, slot: number, holder: string, seconds: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE scan_lease SET holder = ${holder}, leased_until = now() + make_interval(secs => ${seconds})
    WHERE slot = ${slot} AND leased_until <= now() AND open_until > now()
  `.execute(db);
  return numAffectedRows === 1n;
}

/** Renews the lease of a slot for `seconds`. @returns false if another worker has taken the slot or the slot is closed, otherwise true */
export async function renewSlot(db: Database, slot: number, holder: string, seconds: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE scan_lease SET leased_until = now() + make_interval(secs => ${seconds})
    WHERE slot = ${slot} AND holder = ${holder} AND open_until > now()
  `.execute(db);
  return numAffectedRows === 1n;
}

/** Ends the lease of a slot, so that another worker may take the slot immediately. */
export async function releaseSlot(db: Database, slot: number, holder: string): Promise<void> {
  await sql`
    UPDATE scan_lease SET holder = NULL, leased_until = '-infinity' WHERE slot = ${slot} AND holder = ${holder}
  `.execute(db);
}

/**
 * Opens the slots for `seconds` from now. Does not change a slot that stays open for at least `seconds / 2` anyway, to save a write.
 */
export async function openSlots(db: Database, slots: number[], seconds: number): Promise<void> {
  await sql`
    UPDATE scan_lease SET open_until = now() + make_interval(secs => ${seconds})
    WHERE slot = ANY(${slots}::int[]) AND open_until < now() + make_interval(secs => ${seconds / 2})
  `.execute(db);
}
