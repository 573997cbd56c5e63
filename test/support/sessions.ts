import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { LIFETIMES, type NewSignIn, Sessions } from '#access/sessions/sessions.ts';
import type { Area } from '#access/tenants/tenants.ts';
import { newId } from '#platform/lib/ids.ts';
import type { Answer } from './http.ts';
import type { TestService, TestTenant } from './service.ts';
import { OWNER_PASSWORD, STAFF_PASSWORD } from './tenants.ts';

export const SESSION = '/v1/auth/session/';
export const ME = '/v1/staff/me/';
export const SESSIONS = '/v1/staff/sessions/';
/** Header of calls from the console. The service ignores the session cookie of a call without this header. */
export const CONSOLE = { 'x-roomservice-console': '1' };

/** A session that a test has opened directly in the database, and the headers that send its cookie. */
interface TestSession {
  id: string;
  token: string;
  headers: Record<string, string>;
}

export function consoleHeaders(token: string, name = 'roomservice'): Record<string, string> {
  return { ...CONSOLE, cookie: `${name}=${token}` };
}

export async function signIn(
  node: Pick<TestService, 'call'>,
  { document }: TestTenant,
  who: 'owner' | 'staff',
  headers: Record<string, string> = CONSOLE,
): Promise<Answer> {
  const json = {
    email: `${who}@${document.slug}.example`,
    password: who === 'owner' ? OWNER_PASSWORD : STAFF_PASSWORD,
  };
  return await node.call('POST', SESSION, { headers, json });
}

export function tokenOf(answer: Answer): string {
  const token = /=([\w-]{64});/.exec(answer.headers.get('set-cookie') ?? '')?.[1];
  assert.ok(token, 'the response sets a session cookie');
  return token;
}

export async function personId({ database: { db } }: TestService, tenantId: number, role: 'owner' | 'staff') {
  const { id } = await db
    .selectFrom('app_user')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('role', '=', role)
    .where('invitation_expires_at', 'is', null)
    .executeTakeFirstOrThrow();
  return id;
}

/** Opens a session without a check of the password, which would take long. */
export async function openSession(
  service: TestService,
  tenantId: number,
  role: 'owner' | 'staff',
): Promise<TestSession> {
  const id = await personId(service, tenantId, role);
  const { generation } = await service.database.db
    .selectFrom('app_user')
    .select('generation')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return await start(service, { tenantId, holder: { kind: 'person', id }, generation, lifetime: LIFETIMES.password });
}

/** @param of returns the service and the tenant, which do not exist before the tests run */
export function sessionCalls(of: () => { service: TestService; tenant: TestTenant }) {
  const open = (role: 'owner' | 'staff') => openSession(of().service, of().tenant.tenantId, role);
  const get = (path: string, headers: Record<string, string>, node: Pick<TestService, 'call'> = of().service) =>
    node.call('GET', path, { headers });
  return {
    owner: () => open('owner'),
    staff: () => open('staff'),
    get,
    statusOf: async (...request: Parameters<typeof get>) => (await get(...request)).status,
  };
}

/** Adds a display to a tenant, and opens its session. A display is a screen of the tenant, for example in the kitchen. */
export async function openDisplay(
  { database, keyring }: TestService,
  tenantId: number,
  areas: Area[],
): Promise<TestSession & { displayId: string }> {
  const displayId = newId();
  await database.db
    .insertInto('display')
    .values({ tenant_id: tenantId, id: displayId, label: 'Kitchen', areas })
    .execute();
  const holder = { kind: 'display', id: displayId } as const;
  const session = await start(
    { database, keyring },
    { tenantId, holder, generation: null, lifetime: LIFETIMES.display },
  );
  return { ...session, displayId };
}

async function start(
  { database, keyring }: Pick<TestService, 'database' | 'keyring'>,
  begun: Omit<NewSignIn, 'address' | 'userAgent'>,
): Promise<TestSession> {
  const onError = (error: unknown) => assert.fail(String(error));
  const sessions = new Sessions({ db: database.db, pepper: keyring.pepper, onError });
  const { token, staff } = await sessions.start({ ...begun, address: '127.0.0.1', userAgent: 'a test' });
  await sessions.close();
  return { id: staff.session.id ?? '', token, headers: consoleHeaders(token) };
}

/** Makes the last use, or the begin and end, of a session earlier, by intervals of PostgreSQL such as `8 days`. */
export async function age(
  { database: { db } }: TestService,
  sessionId: string,
  by: { unused?: string; begun?: string },
): Promise<void> {
  const { unused = '0 s', begun = '0 s' } = by;
  // A cluster refuses an UPDATE that computes a time from the time of the row.
  const { rows } = await sql<Record<'lastUsedAt' | 'createdAt' | 'expiresAt', Date | null>>`
    SELECT last_used_at - ${unused}::interval AS "lastUsedAt", created_at - ${begun}::interval AS "createdAt",
      expires_at - ${begun}::interval AS "expiresAt"
    FROM session WHERE id = ${sessionId}`.execute(db);
  for (const { lastUsedAt, createdAt, expiresAt } of rows) {
    await sql`
      UPDATE session SET last_used_at = ${lastUsedAt}, created_at = ${createdAt}, expires_at = ${expiresAt}
      WHERE id = ${sessionId}`.execute(db);
  }
}
