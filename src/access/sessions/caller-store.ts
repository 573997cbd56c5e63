import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { Fields, selectEach } from '#platform/db/inputs.ts';
import { isUseDue } from '../tenants/tenants.ts';
import { IS_ALIVE } from './store.ts';

export interface CallerRow {
  role: string | null;
  areas: string[];
  is_use_due: boolean;
}

interface SessionInput {
  tenantId: number;
  id: string;
}

const SESSION_FIELDS = new Fields<SessionInput>({ tenantId: 'bigint', id: 'uuid' });

export async function readSessionCallers(db: Database, inputs: SessionInput[]): Promise<(CallerRow | undefined)[]> {
  return await selectEach(
    db,
    SESSION_FIELDS,
    inputs,
    ({ tenantId, id }) => sql<CallerRow>`
      SELECT u.role, coalesce(u.areas, d.areas) AS areas, ${isUseDue('s.last_used_at')} AS is_use_due
      FROM session AS s
      LEFT JOIN app_user AS u ON u.tenant_id = s.tenant_id AND u.id = s.person_id
      LEFT JOIN display AS d ON d.tenant_id = s.tenant_id AND d.id = s.display_id
      WHERE s.tenant_id = ${tenantId} AND s.id = ${id} AND ${IS_ALIVE}`,
  );
}

interface TokenInput {
  tenantId: number;
  personId: string;
  generation: number;
  expiresAt: string;
}

const TOKEN_FIELDS = new Fields<TokenInput>({
  tenantId: 'bigint',
  personId: 'uuid',
  generation: 'integer',
  expiresAt: 'timestamptz',
});

export async function readTokenCallers(db: Database, inputs: TokenInput[]): Promise<(CallerRow | undefined)[]> {
  return await selectEach(
    db,
    TOKEN_FIELDS,
    inputs,
    ({ tenantId, personId, generation, expiresAt }) => sql<CallerRow>`
      SELECT u.role, u.areas, false AS is_use_due
      FROM app_user AS u
      WHERE u.tenant_id = ${tenantId} AND u.id = ${personId} AND u.generation = ${generation} AND u.is_active
        AND u.invitation_expires_at IS NULL AND ${expiresAt} > now()`,
  );
}
