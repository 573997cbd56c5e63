import { type Selectable, sql } from 'kysely';
import type { Db, DB, Tx } from '#platform/db/database.ts';

/** The link of a `welcome` signs the person in without a password. The others let the person choose one. */
export type LinkKind = 'invite' | 'reset' | 'welcome';

export interface NewLink {
  id: string;
  hash: Buffer;
  kind: LinkKind;
  personId: string;
  /** Generation of the person, a number that each new password raises. The link ends when this number rises. */
  generation: number;
  expiresAt: Date;
}

export type LinkRow = Pick<Selectable<DB['one_time_link']>, 'id' | 'kind' | 'person_id' | 'generation' | 'expires_at'>;

/** A separate query computes this end, because a database cluster refuses now() in the SET clause of the UPDATE that stores it. */
export async function readLinkEnd(tx: Tx, minutes: number): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`SELECT now() + make_interval(mins => ${sql.lit(minutes)}) AS at`.execute(tx);
  return (rows[0] as { at: Date }).at;
}

export async function replaceLinks(tx: Tx, tenantId: number, link: NewLink): Promise<LinkRow> {
  const { id, hash, kind, personId, generation, expiresAt } = link;
  await tx.deleteFrom('one_time_link').where('tenant_id', '=', tenantId).where('person_id', '=', personId).execute();
  return await tx
    .insertInto('one_time_link')
    .values({
      tenant_id: tenantId,
      id,
      secret_hash: hash,
      kind,
      person_id: personId,
      generation,
      expires_at: expiresAt,
    })
    .returning(['id', 'kind', 'person_id', 'generation', 'expires_at'])
    .executeTakeFirstOrThrow();
}

/** `is_open` is also false if the person got a new password, or was disabled and enabled again, after the link was made. */
export async function findLink(
  db: Db,
  tenantId: number,
  hash: Buffer,
): Promise<(LinkRow & { is_open: boolean }) | undefined> {
  return await db
    .selectFrom('one_time_link as l')
    .innerJoin('app_user as u', (join) =>
      join.onRef('u.tenant_id', '=', 'l.tenant_id').onRef('u.id', '=', 'l.person_id'),
    )
    .select(['l.id', 'l.kind', 'l.person_id', 'l.generation', 'l.expires_at'])
    .select(
      sql<boolean>`l.used_at IS NULL AND l.expires_at > now() AND u.is_active AND u.generation = l.generation`.as(
        'is_open',
      ),
    )
    .where('l.tenant_id', '=', tenantId)
    .where('l.secret_hash', '=', hash)
    .executeTakeFirst();
}

/** @returns false if the link was used before */
export async function markLinkUsed(tx: Tx, tenantId: number, id: string): Promise<boolean> {
  const marked = await tx
    .updateTable('one_time_link')
    .set({ used_at: new Date() })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return marked !== undefined;
}
