import { type Selectable, sql } from 'kysely';
import type { Database, Db, DB, Tx } from '#platform/db/database.ts';
import { Fields, selectEach } from '#platform/db/inputs.ts';
import { isUseDue, type TenantRow } from '../tenants/tenants.ts';

export type SessionRow = Selectable<DB['session']>;

export interface Holder {
  kind: 'person' | 'display';
  id: string;
}

/**
 * A session also ends if its person is disabled or gets a new password, which raises the `generation` of the person, or if its display is
 * removed. `u` and `d` are the rows of the person and of the display.
 */
const IS_ALIVE = sql<boolean>`(s.ended_at IS NULL
  AND s.last_used_at + make_interval(secs => s.idle_seconds) > now()
  AND (s.expires_at IS NULL OR s.expires_at > now())
  AND CASE s.kind WHEN 'person' THEN u.is_active AND u.generation = s.generation ELSE d.removed_at IS NULL END)`;

function sessionsOf(db: Db, tenantId: number) {
  return db
    .selectFrom('session as s')
    .leftJoin('app_user as u', (join) =>
      join.onRef('u.tenant_id', '=', 's.tenant_id').onRef('u.id', '=', 's.person_id'),
    )
    .leftJoin('display as d', (join) =>
      join.onRef('d.tenant_id', '=', 's.tenant_id').onRef('d.id', '=', 's.display_id'),
    )
    .where('s.tenant_id', '=', tenantId);
}

export async function findSession(db: Db, tenantId: number, hash: Buffer) {
  return await sessionsOf(db, tenantId)
    .innerJoin('tenant as t', 't.id', 's.tenant_id')
    .where('s.secret_hash', '=', hash)
    .where(IS_ALIVE)
    .select(['s.id', 's.person_id', 's.display_id'])
    .select([
      'u.name',
      'u.email',
      'u.role',
      'u.areas as person_areas',
      'u.language',
      'd.label',
      'd.areas as display_areas',
    ])
    .select([
      sql<TenantRow>`to_jsonb(t)`.as('tenant'),
      sql<Date>`now()`.as('now'),
      sql<Date>`least(now() + make_interval(secs => s.idle_seconds), s.expires_at)`.as('ends_at'),
      isUseDue('s.last_used_at').as('is_use_due'),
      isUseDue('u.last_seen_at').as('is_seen_due'),
    ])
    .executeTakeFirst();
}
export type FoundSession = NonNullable<Awaited<ReturnType<typeof findSession>>>;

export interface CallerRow {
  role: string | null;
  areas: string[];
  is_use_due: boolean;
}

/** Caller with a session, whose `generation` is null, or with a token. */
export interface CallerInput {
  tenantId: number;
  sessionId: string | null;
  personId: string;
  generation: number | null;
  expiresAt: string;
}

const CALLER_FIELDS = new Fields<CallerInput>({
  tenantId: 'bigint',
  sessionId: 'uuid',
  personId: 'uuid',
  generation: 'integer',
  expiresAt: 'timestamptz',
});

/** Returns the present rights of each caller, or undefined if the session or the token of the caller has ended. */
export async function readCallers(db: Database, inputs: CallerInput[]): Promise<(CallerRow | undefined)[]> {
  return await selectEach(
    db,
    CALLER_FIELDS,
    inputs,
    ({ tenantId, sessionId, personId, generation, expiresAt }) => sql<CallerRow>`
      SELECT u.role, coalesce(u.areas, d.areas) AS areas, ${isUseDue('s.last_used_at')} AS is_use_due
      FROM session AS s
      LEFT JOIN app_user AS u ON u.tenant_id = s.tenant_id AND u.id = s.person_id
      LEFT JOIN display AS d ON d.tenant_id = s.tenant_id AND d.id = s.display_id
      WHERE s.tenant_id = ${tenantId} AND s.id = ${sessionId} AND ${IS_ALIVE}
      UNION ALL
      SELECT u.role, u.areas, false
      FROM app_user AS u
      WHERE u.tenant_id = ${tenantId} AND u.id = ${personId} AND u.generation = ${generation} AND u.is_active
        AND u.invitation_expires_at IS NULL AND ${expiresAt} > now()`,
  );
}

export async function listSessions(db: Db, tenantId: number, holder: Holder, limit: number): Promise<SessionRow[]> {
  return await sessionsOf(db, tenantId)
    .where(holder.kind === 'person' ? 's.person_id' : 's.display_id', '=', holder.id)
    .where(IS_ALIVE)
    .selectAll('s')
    .orderBy('s.id', 'desc')
    .limit(limit)
    .execute();
}

export interface Lifetime {
  idleSeconds: number;
  /** Time after which the session ends in any case. Null if the session may last for any time, as long as it is used. */
  lifetimeSeconds: number | null;
}

export interface NewSignIn {
  tenantId: number;
  holder: Holder;
  /** Generation of the person, a number that each new password raises. Null for a display. */
  generation: number | null;
  lifetime: Lifetime;
  address: string;
  userAgent: string;
}

/** Changes nothing if a session with this id exists. */
export async function insertSession(
  tx: Tx,
  { id, hash, tenantId, holder, generation, lifetime, address, userAgent }: NewSignIn & { id: string; hash: Buffer },
): Promise<void> {
  await tx
    .insertInto('session')
    .values({
      tenant_id: tenantId,
      id,
      secret_hash: hash,
      kind: holder.kind,
      person_id: holder.kind === 'person' ? holder.id : null,
      display_id: holder.kind === 'display' ? holder.id : null,
      generation,
      idle_seconds: lifetime.idleSeconds,
      expires_at: sql<Date>`now() + make_interval(secs => ${lifetime.lifetimeSeconds}::int)`,
      address,
      user_agent: userAgent,
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'id']).doNothing())
    .execute();
}

/** Removes the sessions of a person that began more than `days` ago. Of the newer sessions, only the latest `keep` stay. */
export async function removeOldSessions(
  tx: Tx,
  tenantId: number,
  personId: string,
  { days, keep }: { days: number; keep: number },
): Promise<void> {
  const latest = tx
    .selectFrom('session')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('person_id', '=', personId)
    .where('created_at', '>=', sql<Date>`now() - make_interval(days => ${sql.lit(days)})`)
    .orderBy('id', 'desc')
    .limit(keep);
  await tx
    .deleteFrom('session')
    .where('tenant_id', '=', tenantId)
    .where('person_id', '=', personId)
    .where('id', 'not in', latest)
    .execute();
}

/** Returns the session, also if it has ended, and locks it until the transaction ends. */
export async function lockSession(tx: Tx, tenantId: number, id: string): Promise<SessionRow | undefined> {
  return await tx
    .selectFrom('session')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export async function endSession(db: Db, tenantId: number, session: { id: string } | { hash: Buffer }): Promise<void> {
  await db
    .updateTable('session')
    .set({ ended_at: new Date() })
    .where('tenant_id', '=', tenantId)
    .where((eb) => ('id' in session ? eb('id', '=', session.id) : eb('secret_hash', '=', session.hash)))
    .where('ended_at', 'is', null)
    .execute();
}

/** Gives a session the new `generation` of its person, so that the session stays open when the person changes the password. */
export async function setGeneration(tx: Tx, tenantId: number, id: string, generation: number): Promise<void> {
  await tx.updateTable('session').set({ generation }).where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}
