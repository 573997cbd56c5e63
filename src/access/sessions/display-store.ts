import { type Selectable, sql } from 'kysely';
import type { Database, Db, DB, Tx } from '#platform/db/database.ts';

/** The time is null if the display has no session yet. */
export type DisplayRow = Selectable<DB['display']> & { last_used_at: Date | null };

function displaysOf(db: Db, tenantId: number) {
  const lastUsedAt = sql<Date | null>`(
    SELECT max(s.last_used_at) FROM session AS s WHERE s.tenant_id = ${tenantId} AND s.display_id = display.id
  )`.as('last_used_at');
  return db.selectFrom('display').selectAll('display').select(lastUsedAt).where('tenant_id', '=', tenantId);
}

export async function listDisplays(db: Database, tenantId: number): Promise<DisplayRow[]> {
  return await displaysOf(db, tenantId).where('removed_at', 'is', null).orderBy('id', 'desc').execute();
}

/** Returns the display, also if it is removed, and locks it until the transaction ends. */
export async function lockDisplay(tx: Tx, tenantId: number, id: string): Promise<DisplayRow | undefined> {
  return await displaysOf(tx, tenantId).where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

/** Changes nothing if a display with this id exists. */
export async function insertDisplay(
  tx: Tx,
  tenantId: number,
  display: { id: string; label: string; areas: string[] },
): Promise<void> {
  await tx
    .insertInto('display')
    .values({ tenant_id: tenantId, ...display })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'id']).doNothing())
    .execute();
}

export async function removeDisplay(tx: Tx, tenantId: number, id: string): Promise<void> {
  const removed_at = new Date();
  await tx.updateTable('display').set({ removed_at }).where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}

const CODE_MINUTES = 10;

/** Also removes all expired codes of any tenant. */
export async function insertCode(
  tx: Tx,
  tenantId: number,
  code: { hash: Buffer; displayId: string },
): Promise<Date | undefined> {
  await tx.deleteFrom('pairing_code').where('expires_at', '<=', sql<Date>`now()`).execute();
  const row = await tx
    .insertInto('pairing_code')
    .values({
      code_hash: code.hash,
      tenant_id: tenantId,
      display_id: code.displayId,
      expires_at: sql<Date>`now() + make_interval(mins => ${sql.lit(CODE_MINUTES)})`,
    })
    // If an earlier attempt of this transaction has inserted the code, the update changes no value, but makes RETURNING return the row.
    .onConflict((conflict) =>
      conflict
        .column('code_hash')
        .doUpdateSet({ display_id: code.displayId })
        .where('pairing_code.display_id', '=', code.displayId),
    )
    .returning('expires_at')
    .executeTakeFirst();
  return row?.expires_at;
}

export async function takeCode(tx: Tx, hash: Buffer): Promise<{ tenant_id: number; display_id: string } | undefined> {
  return await tx
    .deleteFrom('pairing_code')
    .where('code_hash', '=', hash)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning(['tenant_id', 'display_id'])
    .executeTakeFirst();
}
