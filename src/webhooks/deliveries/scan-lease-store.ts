import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';

export interface LeaseLook {
  /** Number of slots, held or free, open or closed. */
  slots: number;
  /** Lowest slot that a worker may take now. Null: no slot is free. */
  free: number | null;
}

export async function lookForFreeSlot(db: Database): Promise<LeaseLook> {
  const { rows } = await sql<LeaseLook>`
    SELECT count(*) AS slots, min(slot) FILTER (WHERE leased_until <= now() AND open_until > now()) AS free FROM scan_lease
  `.execute(db);
  return rows[0] ?? { slots: 0, free: null };
}

/** Takes a slot, unless another worker has taken it in the meantime. @returns true if the slot was taken */
export async function takeSlot(db: Database, slot: number, holder: string, seconds: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE scan_lease SET holder = ${holder}, leased_until = now() + make_interval(secs => ${seconds})
    WHERE slot = ${slot} AND leased_until <= now() AND open_until > now()
  `.execute(db);
  return numAffectedRows === 1n;
}

/** Renews the lease of a slot. @returns false if another worker has taken the slot, or if the slot is no longer open */
export async function renewSlot(db: Database, slot: number, holder: string, seconds: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE scan_lease SET leased_until = now() + make_interval(secs => ${seconds})
    WHERE slot = ${slot} AND holder = ${holder} AND open_until > now()
  `.execute(db);
  return numAffectedRows === 1n;
}

/** Gives a slot back, so that another worker may take it immediately. */
export async function releaseSlot(db: Database, slot: number, holder: string): Promise<void> {
  await sql`
    UPDATE scan_lease SET holder = NULL, leased_until = '-infinity' WHERE slot = ${slot} AND holder = ${holder}
  `.execute(db);
}

/** Opens slots for this time. Writes only the slots that would close in less than half of this time. */
export async function openSlots(db: Database, slots: number[], seconds: number): Promise<void> {
  await sql`
    UPDATE scan_lease SET open_until = now() + make_interval(secs => ${seconds})
    WHERE slot = ANY(${slots}::int[]) AND open_until < now() + make_interval(secs => ${seconds / 2})
  `.execute(db);
}
