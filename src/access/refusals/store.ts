import { type Selectable, sql } from 'kysely';
import type { Database, Db, DB } from '#platform/db/database.ts';
import { Fields, type Owner, rowsToInsert, type Share, sharesOf } from '#platform/db/inputs.ts';

export const KEPT_CALLS = 50;

/** Refused call that is not stored yet. `at` is a time in ISO 8601. */
export type NewRefusedCall = Omit<Selectable<DB['refused_call']>, 'at'> & { at: string };

const FIELDS = new Fields<NewRefusedCall>({
  tenant_id: 'bigint',
  credential_id: 'uuid',
  id: 'uuid',
  at: 'timestamptz',
  method: 'text',
  path: 'text',
  status: 'smallint',
  code: 'text',
  message: 'text',
  request_id: 'text',
});
const OWNER: Owner<NewRefusedCall> = {
  table: 'credential',
  idColumn: 'credential_id',
  key: ['tenant_id', 'credential_id', 'id'],
};

/**
 * Stores refused calls of any tenants, and removes all but the newest 50 of each of their credentials. The removal is a second statement, so
 * that the later one of two processes sees the calls of both.
 */
export async function storeRefusedCalls(db: Database, calls: NewRefusedCall[]): Promise<Set<string>> {
  const stored = new Set<string>();
  for (const share of sharesOf(db, calls, (call) => call.tenant_id)) {
    await sql`
      INSERT INTO refused_call ${rowsToInsert(db, FIELDS, share.inputs, OWNER)} ON CONFLICT DO NOTHING
    `.execute(db);
    await removeOldest(db, share);
    share.inputs.forEach(({ id }) => stored.add(id));
  }
  return stored;
}

async function removeOldest(db: Database, { inputs, tenantOf }: Share<NewRefusedCall>): Promise<void> {
  const credentials = [...new Map(inputs.map((call) => [call.credential_id, call])).values()];
  const tenantIds = credentials.map((call) => call.tenant_id);
  const ids = credentials.map((call) => call.credential_id);
  await sql`
    WITH oldest_kept AS MATERIALIZED (
      SELECT given.tenant_id, given.credential_id, kept.id
      FROM unnest(${tenantIds}::bigint[], ${ids}::uuid[]) AS given (tenant_id, credential_id)
      CROSS JOIN LATERAL (
        SELECT id FROM refused_call WHERE tenant_id = ${tenantOf('given')} AND credential_id = given.credential_id
        ORDER BY id DESC OFFSET ${KEPT_CALLS - 1} LIMIT 1
      ) AS kept
    )
    DELETE FROM refused_call AS c USING oldest_kept
    WHERE c.tenant_id = ${tenantOf('oldest_kept')} AND c.credential_id = oldest_kept.credential_id AND c.id < oldest_kept.id
  `.execute(db);
}

export async function readRefusedCalls(db: Db, tenantId: number, credentialId: string) {
  return await db
    .selectFrom('refused_call')
    .select(['id', 'at', 'method', 'path', 'status', 'code', 'message', 'request_id'])
    .where('tenant_id', '=', tenantId)
    .where('credential_id', '=', credentialId)
    .orderBy('id', 'desc')
    .limit(KEPT_CALLS)
    .execute();
}
