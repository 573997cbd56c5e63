import type { Selectable } from 'kysely';
import type { Db } from '#platform/db/database.ts';
import type { Credential } from '#platform/db/types.ts';

export type ReceiverRow = Pick<
  Selectable<Credential>,
  'id' | 'audience' | 'is_active' | 'webhook_url' | 'webhook_secret'
>;

/** Reads the fields of a credential that a test call needs. Returns undefined if the tenant has no credential with this id. */
export async function findReceiver(db: Db, tenantId: number, credentialId: string): Promise<ReceiverRow | undefined> {
  return await db
    .selectFrom('credential')
    .select(['id', 'audience', 'is_active', 'webhook_url', 'webhook_secret'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', credentialId)
    .executeTakeFirst();
}
