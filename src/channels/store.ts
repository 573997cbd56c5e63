import type { Database } from '../db/database.ts';

export interface ChannelRow {
  id: string;
  source: string;
  channel_key: string;
  is_active: boolean;
  created_at: Date;
}

const COLUMNS = ['id', 'source', 'channel_key', 'is_active', 'created_at'] as const;

export async function listChannels(db: Database, tenantId: number): Promise<ChannelRow[]> {
  return await db
    .selectFrom('channel')
    .select(COLUMNS)
    .where('tenant_id', '=', tenantId)
    .orderBy('id', 'desc')
    .execute();
}

export async function insertChannel(
  db: Database,
  tenantId: number,
  channel: { id: string; source: string; channel_key: string; channel_secret: Buffer },
): Promise<void> {
  await db
    .insertInto('channel')
    .values({ tenant_id: tenantId, ...channel })
    .execute();
}

export async function revokeChannel(db: Database, tenantId: number, id: string): Promise<ChannelRow | undefined> {
  return await db
    .updateTable('channel')
    .set({ is_active: false })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirst();
}

/** A channel with what checking its calls needs, and its tenant's features and currency. */
export async function findByChannelKey(db: Database, tenantId: number, channelKey: string) {
  return await db
    .selectFrom('channel as c')
    .innerJoin('tenant as t', 't.id', 'c.tenant_id')
    .select(['c.id', 'c.source', 'c.channel_secret', 'c.is_active', 't.features', 't.currency'])
    .where('c.tenant_id', '=', tenantId)
    .where('c.channel_key', '=', channelKey)
    .executeTakeFirst();
}
