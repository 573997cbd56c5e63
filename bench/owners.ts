import { createDatabase } from '#platform/db/database.ts';
import { openKeyring } from '#platform/keys/keys.ts';
import { issueToken } from '#access/tenants/tokens.ts';
import type { Stand } from './stand.ts';

/** Returns the headers that authenticate the owner of a tenant. */
export type OwnerOf = (tenantId: number) => Promise<Record<string, string>>;

/**
 * Returns a function of the type `OwnerOf`. That function issues a token for the owner of a tenant, and signs the token itself. A sign-in
 * call would be slower, because it checks a password.
 */
export async function ownersOf(masterKey: Buffer, { databaseUrl }: Stand): Promise<OwnerOf> {
  const db = createDatabase({ url: databaseUrl, poolSize: 1 });
  try {
    const { token } = await openKeyring(db, masterKey);
    const owners = await db.selectFrom('app_user').select(['tenant_id', 'id']).where('role', '=', 'owner').execute();
    const idOf = new Map(owners.map((owner) => [owner.tenant_id, owner.id]));
    return async (tenantId) => {
      const userId = idOf.get(tenantId) ?? '';
      return { authorization: `Bearer ${await issueToken(token, { tenantId, userId, generation: 0 })}` };
    };
  } finally {
    await db.destroy();
  }
}
