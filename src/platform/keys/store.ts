import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { inTransaction, limitLockWaits } from '../db/transaction.ts';

/** Key of the service, encrypted with the master key. A new database has only a pepper. */
export interface WrappedKey {
  purpose: string;
  version: number;
  wrapped_key: Buffer;
}

/** Reads all service keys. Returns an empty list if the database was never migrated, and so has no table of keys. */
export async function readWrappedKeys(db: Db): Promise<WrappedKey[]> {
  if (!(await hasTableOfKeys(db))) {
    return [];
  }
  const keys = db.selectFrom('service_key').select(['purpose', 'version', 'wrapped_key']);
  return await keys.orderBy('purpose').orderBy('version').execute();
}

async function hasTableOfKeys(db: Db): Promise<boolean> {
  const { rows } = await sql`SELECT FROM pg_class WHERE oid = to_regclass('service_key')`.execute(db);
  return rows.length > 0;
}

/**
 * Reads all service keys, after a wait of at most `waitMs` until no other transaction writes to their table. Such a transaction may still
 * run after its client has ended.
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

/** Inserts a key, unless another process has inserted it first. */
export async function insertWrappedKey(db: Db, key: WrappedKey): Promise<void> {
  await db
    .insertInto('service_key')
    .values(key)
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

/** Deletes all service keys. @returns the number of deleted keys */
export async function deleteAllKeys(db: Db): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('service_key').executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
