import type { Database } from '../db/database.ts';

export type KeyPurpose = 'pepper' | 'token' | 'encryption';

export interface WrappedKey {
  purpose: KeyPurpose;
  version: number;
  wrapped_key: Buffer;
}

export async function readWrappedKeys(db: Database): Promise<WrappedKey[]> {
  const rows = await db.selectFrom('service_key').select(['purpose', 'version', 'wrapped_key']).execute();
  return rows as WrappedKey[];
}

/** Keeps what is there: of several processes that start at once, the first one's key is everyone's. */
export async function insertWrappedKeys(db: Database, keys: WrappedKey[]): Promise<void> {
  await db
    .insertInto('service_key')
    .values(keys)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function updateWrappedKey(db: Database, key: WrappedKey): Promise<void> {
  await db
    .updateTable('service_key')
    .set({ wrapped_key: key.wrapped_key })
    .where('purpose', '=', key.purpose)
    .where('version', '=', key.version)
    .execute();
}
