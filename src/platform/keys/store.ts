import { sql } from 'kysely';
import type { Database, Db, Tx } from '../db/database.ts';

export type KeyPurpose = 'pepper' | 'token' | 'encryption';

export interface WrappedKey {
  purpose: KeyPurpose;
  version: number;
  wrapped_key: Buffer;
}

const COLUMNS = ['purpose', 'version', 'wrapped_key'] as const;

export async function readWrappedKeys(db: Db): Promise<WrappedKey[]> {
  const rows = await db.selectFrom('service_key').select(COLUMNS).orderBy('purpose').orderBy('version').execute();
  return rows as WrappedKey[];
}

/** Whether there are keys yet; may be asked of a database that was never migrated. */
export async function hasWrappedKeys(db: Database): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`SELECT to_regclass('service_key') IS NOT NULL AS exists`.execute(db);
  return rows[0]?.exists === true && (await readWrappedKeys(db)).length > 0;
}

/** Oldest first. */
export async function readEncryptionKeys(db: Db): Promise<WrappedKey[]> {
  const rows = await encryptionKeys(db).orderBy('version').execute();
  return rows as WrappedKey[];
}

export async function readNewestEncryptionKey(tx: Tx): Promise<WrappedKey> {
  const row = await encryptionKeys(tx).orderBy('version', 'desc').limit(1).executeTakeFirstOrThrow();
  return row as WrappedKey;
}

function encryptionKeys(db: Db) {
  return db.selectFrom('service_key').select(COLUMNS).where('purpose', '=', 'encryption');
}

/** Keeps what is there: of several processes that start at once, the first one's key is everyone's. */
export async function insertWrappedKeys(db: Db, keys: WrappedKey[]): Promise<void> {
  await db
    .insertInto('service_key')
    .values(keys)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function updateWrappedKey(db: Db, key: WrappedKey): Promise<void> {
  await db
    .updateTable('service_key')
    .set({ wrapped_key: key.wrapped_key })
    .where('purpose', '=', key.purpose)
    .where('version', '=', key.version)
    .execute();
}

export async function deleteEncryptionKeysBelow(db: Database, version: number): Promise<void> {
  await db.deleteFrom('service_key').where('purpose', '=', 'encryption').where('version', '<', version).execute();
}

/** Until the transaction ends no new encryption key comes. Any number may hold this at once; it waits for one that is coming. */
export async function holdOffNewKeys(tx: Tx): Promise<void> {
  await lockRow(tx).forKeyShare().executeTakeFirstOrThrow();
}

/** Waits for everyone who holds new keys off; until the transaction ends nobody else can. */
export async function lockForNewKey(tx: Tx): Promise<void> {
  await lockRow(tx).forUpdate().executeTakeFirstOrThrow();
}

/** The pepper stands for the lock: it is the one key that is always there and never replaced. */
function lockRow(tx: Tx) {
  return tx.selectFrom('service_key').select('version').where('purpose', '=', 'pepper').where('version', '=', 1);
}
