import { type Selectable, sql } from 'kysely';
import type { Db, DB, Tx } from '#platform/db/database.ts';
import type { Share } from '#platform/db/inputs.ts';
import { type LatestUse, writeByShare } from '#platform/db/last-used.ts';

export type TenantRow = Selectable<DB['tenant']>;
export type UserRow = Selectable<DB['app_user']>;

export async function listTenants(db: Db): Promise<TenantRow[]> {
  return await db.selectFrom('tenant').selectAll().orderBy('id').execute();
}

export async function findTenantBySlug(db: Db, slug: string): Promise<TenantRow | undefined> {
  return await db.selectFrom('tenant').selectAll().where('slug', '=', slug).executeTakeFirst();
}

/** Locks the tenant against changes until the transaction ends. Other transactions can still insert rows that refer to the tenant. */
export async function lockTenantBySlug(tx: Tx, slug: string): Promise<TenantRow | undefined> {
  return await tx.selectFrom('tenant').selectAll().where('slug', '=', slug).forNoKeyUpdate().executeTakeFirst();
}

export async function upsertTenant(tx: Tx, values: Omit<TenantRow, 'id' | 'created_at'>): Promise<number> {
  const { slug: _, ...changing } = values;
  const row = await tx
    .insertInto('tenant')
    .values(values)
    .onConflict((conflict) => conflict.column('slug').doUpdateSet(changing))
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** `now` is the time of the call by the clock of the database. */
type CallingUser = UserRow & { tenant: TenantRow; now: Date; is_seen_due: boolean };

/** The table `sign_in` has the ids of user and tenant for each e-mail. */
export async function findUserByEmail(db: Db, email: string): Promise<CallingUser | undefined> {
  const entry = await db.selectFrom('sign_in').selectAll().where('email', '=', email).executeTakeFirst();
  return entry && (await findUser(db, entry.tenant_id, entry.user_id));
}

/** Smallest number of seconds between two writes of the last use of a person or a session, by all processes together. */
const USED_EVERY_SECONDS = 60;

/** Returns an SQL condition that is true if the time in the column is missing, or so old that a new use must be written. */
export function isUseDue(column: 'u.last_seen_at' | 's.last_used_at') {
  const rest = sql.lit(USED_EVERY_SECONDS);
  return sql<boolean>`coalesce(${sql.ref(column)} <= now() - make_interval(secs => ${rest}), true)`;
}

export async function findUser(db: Db, tenantId: number, userId: string): Promise<CallingUser | undefined> {
  return await db
    .selectFrom('app_user as u')
    .innerJoin('tenant as t', 't.id', 'u.tenant_id')
    .selectAll('u')
    .select([
      sql<TenantRow>`to_jsonb(t)`.as('tenant'),
      sql<Date>`now()`.as('now'),
      isUseDue('u.last_seen_at').as('is_seen_due'),
    ])
    .where('u.tenant_id', '=', tenantId)
    .where('u.id', '=', userId)
    .executeTakeFirst();
}

/** Tenant id and user id that do not exist. The query for an unknown e-mail uses them, so that it takes as long as for a known e-mail. */
const NO_USER = { tenant_id: 0, user_id: '00000000-0000-0000-0000-000000000000' };

export type SigningInUser = UserRow & { tenant: TenantRow; address: { hash: Buffer; signed_in_at: Date | null } };

/** Runs the same two statements for a known and for an unknown e-mail, so that the duration does not show if the e-mail is known. */
export async function findSigningInUser(
  db: Db,
  email: string,
  hashOf: (userId: string) => Buffer,
): Promise<SigningInUser | undefined> {
  const entry = await db.selectFrom('sign_in').selectAll().where('email', '=', email).executeTakeFirst();
  const { tenant_id, user_id } = entry ?? NO_USER;
  const hash = hashOf(user_id);
  const row = await db
    .selectFrom('app_user as u')
    .innerJoin('tenant as t', 't.id', 'u.tenant_id')
    .leftJoin('sign_in_address as a', (join) =>
      join.onRef('a.tenant_id', '=', 'u.tenant_id').onRef('a.user_id', '=', 'u.id').on('a.address_hash', '=', hash),
    )
    .selectAll('u')
    .select([sql<TenantRow>`to_jsonb(t)`.as('tenant'), 'a.signed_in_at'])
    .where('u.tenant_id', '=', tenant_id)
    .where('u.id', '=', user_id)
    .executeTakeFirst();
  if (row === undefined) {
    return undefined;
  }
  const { signed_in_at, ...user } = row;
  return { ...user, address: { hash, signed_in_at } };
}

/** Stores the time of a sign-in. Of the addresses of the user, only the latest `most` stay, and none from before `after`. */
export async function storeSignInAddress(
  tx: Tx,
  { tenant_id, id: user_id, address }: SigningInUser,
  signed_in_at: Date,
  { after, most }: { after: Date; most: number },
): Promise<void> {
  await tx
    .insertInto('sign_in_address')
    .values({ tenant_id, user_id, address_hash: address.hash, signed_in_at })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'user_id', 'address_hash']).doUpdateSet({ signed_in_at }))
    .execute();
  const latest = tx
    .selectFrom('sign_in_address')
    .select('address_hash')
    .where('tenant_id', '=', tenant_id)
    .where('user_id', '=', user_id)
    .where('signed_in_at', '>=', after)
    .orderBy('signed_in_at', 'desc')
    .orderBy('address_hash')
    .limit(most);
  await tx
    .deleteFrom('sign_in_address')
    .where('tenant_id', '=', tenant_id)
    .where('user_id', '=', user_id)
    .where('address_hash', 'not in', latest)
    .execute();
}

export async function lockUserByEmail(tx: Tx, tenantId: number, email: string): Promise<UserRow | undefined> {
  return await usersOf(tx, tenantId).where('email', '=', email).forNoKeyUpdate().executeTakeFirst();
}

export async function lockUser(tx: Tx, tenantId: number, userId: string): Promise<UserRow | undefined> {
  return await usersOf(tx, tenantId).where('id', '=', userId).forNoKeyUpdate().executeTakeFirst();
}

export async function listUsers(db: Db, tenantId: number): Promise<UserRow[]> {
  return await usersOf(db, tenantId).execute();
}

export async function lockUsers(tx: Tx, tenantId: number): Promise<UserRow[]> {
  return await usersOf(tx, tenantId).forNoKeyUpdate().execute();
}

/** Leaves out a former owner whose role another transaction has changed while this one waited for the lock. */
export async function lockOwnersAndPerson(tx: Tx, tenantId: number, personId: string): Promise<UserRow[]> {
  return await usersOf(tx, tenantId)
    .where((eb) => eb.or([eb('role', '=', 'owner'), eb('id', '=', personId)]))
    .forNoKeyUpdate()
    .execute();
}

function usersOf(db: Db, tenantId: number) {
  return db.selectFrom('app_user').selectAll().where('tenant_id', '=', tenantId).orderBy('id');
}

/** Returns those of the normalised e-mails that belong to users of other tenants. An expired invitation holds no e-mail. */
export async function findTakenEmails(db: Db, tenantId: number | null, emails: string[]): Promise<Set<string>> {
  const isHeld = sql<boolean>`coalesce(held_until > now(), true)`;
  const ofOthers = db
    .selectFrom('sign_in')
    .select('email')
    .where('tenant_id', '!=', tenantId ?? NO_USER.tenant_id);
  const taken = emails.length === 0 ? [] : await ofOthers.where('email', 'in', emails).where(isHeld).execute();
  return new Set(taken.map(({ email }) => email));
}

export type EmailHolder = Pick<UserRow, 'id' | 'email'>;

/**
 * Gives the e-mail to a user if it belongs to no user, or if the invitation that reserved it has expired. These are two statements, because
 * a database cluster refuses now() in ON CONFLICT.
 * @param heldUntil end of the invitation that reserves the e-mail, or null if the e-mail belongs to an account
 */
export async function claimEmail(
  tx: Tx,
  tenantId: number,
  { id, email }: EmailHolder,
  heldUntil: Date | null,
): Promise<boolean> {
  await tx.deleteFrom('sign_in').where('email', '=', email).where('held_until', '<=', sql<Date>`now()`).execute();
  const claimed = await tx
    .insertInto('sign_in')
    .values({ email, tenant_id: tenantId, user_id: id, held_until: heldUntil })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('email')
    .executeTakeFirst();
  return claimed !== undefined;
}

/** Changes the time until which the e-mail is reserved for the user. @returns false if the e-mail does not belong to this user any more */
export async function holdEmail(
  tx: Tx,
  tenantId: number,
  { id, email }: EmailHolder,
  heldUntil: Date | null,
): Promise<boolean> {
  const held = await tx
    .updateTable('sign_in')
    .set({ held_until: heldUntil })
    .where('email', '=', email)
    .where('tenant_id', '=', tenantId)
    .where('user_id', '=', id)
    .returning('email')
    .executeTakeFirst();
  return held !== undefined;
}

export type NewUser = Omit<
  UserRow,
  'tenant_id' | 'created_at' | 'last_seen_at' | 'generation' | 'is_active' | 'language'
>;

/** The transaction must have claimed the e-mail of the user (`claimEmail`). */
export async function insertUser(tx: Tx, tenantId: number, user: NewUser): Promise<void> {
  await tx
    .insertInto('app_user')
    .values({ tenant_id: tenantId, ...user })
    .execute();
}

export type UserChanges = Partial<Omit<NewUser, 'id' | 'email'> & { is_active: boolean; language: string }>;

/**
 * Updates a user. This is the only statement that changes what a user may do. A new password and the disabling of the user raise the user's
 * generation. Tokens, sessions and links of an earlier generation are refused, also after the user is enabled again.
 */
export async function updateUser(tx: Tx, tenantId: number, userId: string, changes: UserChanges): Promise<void> {
  const endsAccess = changes.password_hash !== undefined || changes.is_active === false;
  await tx
    .updateTable('app_user')
    .set(changes)
    .$if(endsAccess, (update) => update.set({ generation: sql`generation + 1` }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', userId)
    .execute();
}

const USE_COLUMNS = { app_user: 'last_seen_at', session: 'last_used_at' };

/**
 * Skips a row whose stored time is less than a minute old. The process gives the age of each use, so a wrong clock of the process makes no
 * difference. The CTE computes the times, because a database cluster refuses now() in the SET clause of an UPDATE.
 */
export async function updateLastUses(
  db: Db,
  table: keyof typeof USE_COLUMNS,
  uses: LatestUse[],
  nowMs: number,
): Promise<void> {
  const column = sql.ref(USE_COLUMNS[table]);
  const update = async ({ inputs, tenantOf }: Share<LatestUse>) => {
    await sql`
      WITH used AS MATERIALIZED (
        SELECT given.tenant_id, given.id, now() - make_interval(secs => given.age) AS at,
          now() - make_interval(secs => given.age + ${sql.lit(USED_EVERY_SECONDS)}) AS due_at
        FROM unnest(${inputs.map(({ tenantId }) => tenantId)}::bigint[], ${inputs.map(({ id }) => id)}::uuid[],
                    ${inputs.map(({ atMs }) => (nowMs - atMs) / 1000)}::float8[]) AS given (tenant_id, id, age)
      )
      UPDATE ${sql.table(table)} AS r SET ${column} = used.at
      FROM used
      WHERE r.tenant_id = ${tenantOf('used')} AND r.id = used.id AND (r.${column} IS NULL OR r.${column} <= used.due_at)
    `.execute(db);
    return [];
  };
  await writeByShare(db, uses, update);
}
