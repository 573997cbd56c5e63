import { type Selectable, sql, type Updateable } from 'kysely';
import type { Database, Db, DB, Tx } from '#platform/db/database.ts';
import type { Share } from '#platform/db/inputs.ts';
import { type LatestUse, writeByShare } from '#platform/db/last-used.ts';
import type { Audience } from './api-key.ts';

export type CredentialRow = Selectable<DB['credential']>;

function credentialsOf(db: Db, tenantId: number) {
  return db.selectFrom('credential').selectAll().where('tenant_id', '=', tenantId);
}

export async function listCredentials(db: Db, tenantId: number, audience: Audience): Promise<CredentialRow[]> {
  return await credentialsOf(db, tenantId).where('audience', '=', audience).orderBy('id', 'desc').execute();
}

export async function findCredential(
  db: Db,
  tenantId: number,
  audience: Audience,
  apiKey: string,
): Promise<CredentialRow | undefined> {
  const credentials = credentialsOf(db, tenantId).where('api_key', '=', apiKey);
  return await credentials.where('audience', '=', audience).executeTakeFirst();
}

export async function readCredential(db: Db, tenantId: number, id: string): Promise<CredentialRow | undefined> {
  return await credentialsOf(db, tenantId).where('id', '=', id).executeTakeFirst();
}

/** Changes nothing if a credential with this id exists. */
export async function insertCredential(
  db: Db,
  tenantId: number,
  credential: { id: string; audience: Audience; label: string; api_key: string; secret_hash: Buffer },
): Promise<void> {
  await db
    .insertInto('credential')
    .values({ tenant_id: tenantId, ...credential })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'id']).doNothing())
    .execute();
}

export interface CallerRow {
  id: string;
  secret_hash: Buffer;
  previous_secret_hash: Buffer | null;
  /** Milliseconds until the previous secret ends, by the clock of the database. Zero or negative if the secret has ended. */
  previous_ms_left: number | null;
  is_active: boolean;
  features: string[];
  currency: string;
}

export async function findByApiKey(
  db: Database,
  tenantId: number,
  audience: Audience,
  apiKey: string,
): Promise<CallerRow | undefined> {
  return await db
    .selectFrom('credential as c')
    .innerJoin('tenant as t', 't.id', 'c.tenant_id')
    .select(['c.id', 'c.secret_hash', 'c.previous_secret_hash', 'c.is_active', 't.features', 't.currency'])
    .select(
      sql<number | null>`extract(epoch FROM c.previous_secret_ends_at - now())::float8 * 1000`.as('previous_ms_left'),
    )
    .where('c.tenant_id', '=', tenantId)
    .where('c.api_key', '=', apiKey)
    .where('c.audience', '=', audience)
    .executeTakeFirst();
}

export interface LockedCredential extends CredentialRow {
  /** Start of the transaction, by the clock of the database. */
  at: Date;
}

/** Locks the credential against changes until the transaction ends. Other transactions can still insert rows that refer to it. */
export async function lockCredential(tx: Tx, tenantId: number, id: string): Promise<LockedCredential | undefined> {
  const locked = credentialsOf(tx, tenantId).where('id', '=', id).forNoKeyUpdate();
  return await locked.select(sql<Date>`now()`.as('at')).executeTakeFirst();
}

export async function updateCredential(
  tx: Tx,
  tenantId: number,
  id: string,
  changes: Updateable<DB['credential']>,
): Promise<CredentialRow> {
  return await tx
    .updateTable('credential')
    .set(changes)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function readWebhookSecrets(db: Database, tenantId: number): Promise<{ id: string; secret: Buffer }[]> {
  return await db
    .selectFrom('credential')
    .select(['id', 'webhook_secret as secret'])
    .where('tenant_id', '=', tenantId)
    .where('webhook_secret', 'is not', null)
    .$narrowType<{ secret: Buffer }>()
    .orderBy('id')
    .execute();
}

/** Writes a row only if the given use is later than the stored use, and if `last_use_written_at` is not later than `writtenBefore`. */
export async function updateLastUsed(
  db: Database,
  uses: LatestUse[],
  { now, writtenBefore }: { now: Date; writtenBefore: Date },
): Promise<Set<string>> {
  const update = async ({ inputs, tenantOf }: Share<LatestUse>) => {
    const { rows } = await sql<{ id: string }>`
      WITH used AS MATERIALIZED (
        SELECT given.*
        FROM unnest(${inputs.map(({ tenantId }) => tenantId)}::bigint[], ${inputs.map(({ id }) => id)}::uuid[],
                    ${inputs.map(({ atMs }) => new Date(atMs))}::timestamptz[]) AS given (tenant_id, id, at)
      )
      UPDATE credential AS c SET last_used_at = used.at, last_use_written_at = ${now}::timestamptz
      FROM used
      WHERE c.tenant_id = ${tenantOf('used')} AND c.id = used.id AND (c.last_used_at IS NULL OR c.last_used_at < used.at)
        AND (c.last_use_written_at IS NULL OR c.last_use_written_at <= ${writtenBefore}::timestamptz)
      RETURNING c.id
    `.execute(db);
    return rows.map(({ id }) => id);
  };
  return await writeByShare(db, uses, update);
}
