import { sql } from 'kysely';
import type { Database, Db, Tx } from '../db/database.ts';
import { inTransaction, limitLockWaits } from '../db/transaction.ts';

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

/** Reads all service keys like `readWrappedKeys`. Returns an empty list if the database was never migrated, and so has no table of keys. */
export async function readWrappedKeysIfAny(db: Database): Promise<WrappedKey[]> {
  return (await hasTableOfKeys(db)) ? await readWrappedKeys(db) : [];
}

async function hasTableOfKeys(db: Database): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`SELECT to_regclass('service_key') IS NOT NULL AS exists`.execute(db);
  return rows[0]?.exists === true;
}

/**
 * Reads all service keys like `readWrappedKeysIfAny`, but first waits until no other transaction writes to their table. Such a transaction
 * may still run after its client has ended.
 * @throws the error of pg if the other transaction has not ended after `waitMs` milliseconds
 */
export async function readSettledKeys(db: Database, waitMs: number): Promise<WrappedKey[]> {
  if (!(await hasTableOfKeys(db))) {
    return [];
  }
  return await inTransaction(db, async (tx) => {
    await limitLockWaits(tx, waitMs);
    await sql`LOCK TABLE service_key IN SHARE MODE`.execute(tx);
    return await readWrappedKeys(tx);
  });
}

/** Reads all encryption keys. The oldest key comes first. */
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

/**
 * Inserts keys, and leaves existing keys unchanged. If several processes start at the same time, the keys of the first process stay, and
 * all processes use these keys.
 */
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

/** Deletes all service keys. @returns the number of deleted keys */
export async function deleteAllKeys(db: Db): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('service_key').executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/**
 * Prevents other transactions from adding an encryption key until this transaction ends. Waits first if another transaction is adding a
 * key. Several transactions may block new keys at the same time.
 */
export async function blockNewKeys(tx: Tx): Promise<void> {
  await lockRow(tx).forKeyShare().executeTakeFirstOrThrow();
}

/**
 * Waits until no other transaction blocks new keys. Then makes `blockNewKeys` wait in all other transactions until this transaction ends. A
 * transaction must call this function before it adds an encryption key.
 */
export async function lockForNewKey(tx: Tx): Promise<void> {
  await lockRow(tx).forUpdate().executeTakeFirstOrThrow();
}

/**
 * Returns a query that selects the row of the pepper. `blockNewKeys` and `lockForNewKey` lock this row in place of the rows of the
 * encryption keys, because the pepper always exists and is never replaced.
 */
function lockRow(tx: Tx) {
  return tx.selectFrom('service_key').select('version').where('purpose', '=', 'pepper').where('version', '=', 1);
}
