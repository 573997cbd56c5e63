import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** Reads the pepper, wrapped with the master key. Returns null before the first start. The database need not be migrated yet. */
export async function readWrappedPepper(db: Db): Promise<Buffer | null> {
  const { rows } = await sql`SELECT FROM pg_class WHERE oid = to_regclass('service_key')`.execute(db);
  if (rows.length === 0) {
    return null;
  }
  const row = await db.selectFrom('service_key').select('wrapped_key').executeTakeFirst();
  return row?.wrapped_key ?? null;
}

/** Inserts the wrapped pepper, unless another process has inserted one first. */
export async function insertWrappedPepper(db: Db, wrapped_key: Buffer): Promise<void> {
  await db
    .insertInto('service_key')
    .values({ wrapped_key })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function updateWrappedPepper(db: Db, wrapped_key: Buffer): Promise<void> {
  await db.updateTable('service_key').set({ wrapped_key }).execute();
}

export async function deleteWrappedPepper(db: Db): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('service_key').executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
