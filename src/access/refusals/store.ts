import { type Selectable, sql } from 'kysely';
import type { Database, Db } from '#platform/db/database.ts';
import { Fields, type Owner, rowsToInsert, type Share } from '#platform/db/inputs.ts';
import { writeByShare } from '#platform/db/last-used.ts';
import type { RefusedCall as RefusedCallTable } from '#platform/db/types.ts';

export type RefusedCallRow = Selectable<RefusedCallTable>;

/** Number of refused calls that are kept for each credential. */
export const KEPT_CALLS = 50;

/** Refused call that is not stored yet. `at` is a time in ISO 8601. */
export interface NewRefusedCall {
  tenantId: number;
  credentialId: string;
  id: string;
  at: string;
  method: string;
  path: string;
  status: number;
  code: string;
  message: string;
  requestId: string;
}

interface Row extends Omit<NewRefusedCall, 'tenantId' | 'credentialId' | 'requestId'> {
  tenant_id: number;
  credential_id: string;
  request_id: string;
}

const FIELDS = new Fields<Row>({
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
const OWNER: Owner<Row> = {
  table: 'credential',
  idColumn: 'credential_id',
  key: ['tenant_id', 'credential_id', 'id'],
};

/**
 * Stores refused calls of any tenants, and then removes all calls of the same credentials except the newest 50 of each credential. One
 * statement inserts the calls, and after its commit a second statement removes the old calls. If two processes store calls of one
 * credential at the same time, the later removal sees the calls of both processes.
 */
export async function storeRefusedCalls(db: Database, calls: NewRefusedCall[]): Promise<Set<string>> {
  return await writeByShare(
    db,
    calls,
    ({ id }) => id,
    async (share) => {
      await insertShare(db, share);
      await removeOldest(db, share);
      return share.inputs.map(({ id }) => id);
    },
  );
}

async function insertShare(db: Database, { inputs }: Share<NewRefusedCall>): Promise<void> {
  const rows = inputs.map(({ tenantId, credentialId, requestId, ...call }) => ({
    ...call,
    tenant_id: tenantId,
    credential_id: credentialId,
    request_id: requestId,
  }));
  await sql`
    INSERT INTO refused_call ${rowsToInsert(db, FIELDS, rows, OWNER)} ON CONFLICT DO NOTHING
  `.execute(db);
}

async function removeOldest(db: Database, { inputs, tenantOf }: Share<NewRefusedCall>): Promise<void> {
  const credentials = [...new Map(inputs.map((call) => [call.credentialId, call])).values()];
  const tenantIds = credentials.map(({ tenantId }) => tenantId);
  const ids = credentials.map(({ credentialId }) => credentialId);
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

/** If the credential has no refused calls, the query returns one row with only nulls. */
type FoundRow = RefusedCallRow | { [Column in keyof RefusedCallRow]: null };

/** Reads the refused calls of a credential, newest first. */
export async function readRefusedCalls(
  db: Db,
  tenantId: number,
  credentialId: string,
): Promise<RefusedCallRow[] | null> {
  const { rows } = await sql<FoundRow>`
    SELECT refused.* FROM credential AS c
    LEFT JOIN LATERAL (
      SELECT * FROM refused_call WHERE tenant_id = ${tenantId} AND credential_id = c.id ORDER BY id DESC LIMIT ${KEPT_CALLS}
    ) AS refused ON true
    WHERE c.tenant_id = ${tenantId} AND c.id = ${credentialId}
    ORDER BY refused.id DESC
  `.execute(db);
  return rows.length === 0 ? null : rows.filter((row) => row.id !== null);
}
