import type { Updateable } from 'kysely';
import type { Database, DB, Tx } from '#platform/db/database.ts';
import type { OpeningHoursDocument } from './schema.ts';

export interface StoredOpening {
  timezone: string;
  hours: OpeningHoursDocument['hours'];
  is_paused: boolean;
  paused_until: Date | null;
  pause_reason: string | null;
}

export async function readOpening(db: Database, tenantId: number): Promise<StoredOpening> {
  const row = await db
    .selectFrom('tenant')
    .leftJoin('opening', (join) => join.on('opening.tenant_id', '=', tenantId))
    .select(['timezone', 'hours', 'is_paused', 'paused_until', 'pause_reason'])
    .where('tenant.id', '=', tenantId)
    .executeTakeFirstOrThrow();
  const { timezone, hours, is_paused, paused_until, pause_reason } = row;
  return {
    timezone,
    hours: (hours ?? []) as StoredOpening['hours'],
    is_paused: is_paused ?? false,
    paused_until,
    pause_reason,
  };
}

/** Locks the row until the transaction ends. Creates it if it is missing. */
export async function lockOpening(tx: Tx, tenantId: number): Promise<Omit<StoredOpening, 'timezone'>> {
  await tx
    .insertInto('opening')
    .values({ tenant_id: tenantId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await tx
    .selectFrom('opening')
    .select(['hours', 'is_paused', 'paused_until', 'pause_reason'])
    .where('tenant_id', '=', tenantId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return { ...row, hours: row.hours as StoredOpening['hours'] };
}

export async function updateOpening(tx: Tx, tenantId: number, change: Updateable<DB['opening']>): Promise<void> {
  await tx.updateTable('opening').set(change).where('tenant_id', '=', tenantId).execute();
}
