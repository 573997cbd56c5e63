import type { Selectable } from 'kysely';
import type { Database, DB, Tx } from '#platform/db/database.ts';

const COLUMNS = ['id', 'source', 'channel_key', 'is_active', 'created_at'] as const;
export type ChannelRow = Pick<Selectable<DB['channel']>, (typeof COLUMNS)[number]>;

export async function listChannels(db: Database, tenantId: number): Promise<ChannelRow[]> {
  return await db
    .selectFrom('channel')
    .select(COLUMNS)
    .where('tenant_id', '=', tenantId)
    .orderBy('id', 'desc')
    .execute();
}

/** Changes nothing if an earlier try of the same transaction was committed, but the response to its COMMIT was lost. */
export async function insertChannel(
  tx: Tx,
  tenantId: number,
  channel: { id: string; source: string; channel_key: string; channel_secret: Buffer },
): Promise<void> {
  await tx
    .insertInto('channel')
    .values({ tenant_id: tenantId, ...channel })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'id']).doNothing())
    .execute();
}

export async function lockChannel(tx: Tx, tenantId: number, id: string): Promise<ChannelRow | undefined> {
  return await tx
    .selectFrom('channel')
    .select(COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

export async function updateChannel(
  tx: Tx,
  tenantId: number,
  id: string,
  changes: { is_active?: boolean; channel_key?: string; channel_secret?: Buffer },
): Promise<void> {
  await tx.updateTable('channel').set(changes).where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}

export async function readChannelSecrets(db: Database, tenantId: number) {
  return await db
    .selectFrom('channel')
    .select(['channel_key', 'channel_secret'])
    .where('tenant_id', '=', tenantId)
    .orderBy('id')
    .execute();
}

export async function findByChannelKey(db: Database, tenantId: number, channelKey: string) {
  return await db
    .selectFrom('channel as c')
    .innerJoin('tenant as t', 't.id', 'c.tenant_id')
    .select(['c.id', 'c.source', 'c.channel_secret', 'c.is_active', 't.features', 't.currency'])
    .where('c.tenant_id', '=', tenantId)
    .where('c.channel_key', '=', channelKey)
    .executeTakeFirst();
}
