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

/** Returns true if the database has service keys. Works for a database that was never migrated, too. */
export async function hasWrappedKeys(db: Database): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`SELECT to_regclass('service_key') IS NOT NULL AS exists`.execute(db);
  return rows[0]?.exists === true && (await readWrappedKeys(db)).length > 0;
}

/** Reads all encryption keys, oldest first. */
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

/** Inserts keys, and does not change existing ones. If several processes start at the same time, all use the keys of the first. */
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

/**
 * Prevents new encryption keys until the transaction ends. Several transactions may do this at the same time. If another transaction adds a
 * key just now, waits until it has ended.
 */
export async function blockNewKeys(tx: Tx): Promise<void> {
  await lockRow(tx).forKeyShare().executeTakeFirstOrThrow();
}

/** Waits until no other transaction blocks new keys. Until this transaction ends, `blockNewKeys` waits in other transactions. */
export async function lockForNewKey(tx: Tx): Promise<void> {
  await lockRow(tx).forUpdate().executeTakeFirstOrThrow();
}

/** Selects the row of the pepper, which serves as the lock. It always exists and is never replaced. */
function lockRow(tx: Tx) {
  return tx.selectFrom('service_key').select('version').where('purpose', '=', 'pepper').where('version', '=', 1);
}
