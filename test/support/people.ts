import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Answer, TestService, TestTenant } from './service.ts';
import { CONSOLE, consoleHeaders, tokenOf as cookieTokenOf } from './sessions.ts';

export const PEOPLE = '/v1/staff/people/';
export const CHOOSE_PASSWORD = '/v1/auth/password/';
export const NEW_PASSWORD = 'a password of my own';

type Node = Pick<TestService, 'call'>;

/** Returns an e-mail address that no user has. */
export function newEmail(): string {
  return `person-${randomBytes(6).toString('hex')}@demo.example`;
}

/** Invites a person as the owner of the tenant. By default, the person is a member of the staff with a new e-mail address. */
export async function invite(node: Node, tenant: TestTenant, wanted: Record<string, unknown> = {}): Promise<Answer> {
  const json = { email: newEmail(), role: 'staff', ...wanted };
  return await node.call('POST', PEOPLE, { headers: tenant.owner, json });
}

/** Returns the token of an invitation or a reset. */
export function tokenOf({ body }: Answer): string {
  return String(body.invite_url ?? body.reset_url).split(/#(?:invite|reset)=/)[1] ?? '';
}

/** Chooses a password with the link of an invitation or a reset. */
export async function choosePassword(node: Node, link: Answer, password = NEW_PASSWORD): Promise<Answer> {
  return await node.call('POST', CHOOSE_PASSWORD, {
    headers: CONSOLE,
    json: { token: tokenOf(link), new_password: password },
  });
}

/** Returns the headers of later calls with the session cookie that a response sets. */
export function cookieOf(answer: Answer): Record<string, string> {
  return consoleHeaders(cookieTokenOf(answer));
}

/** Moves the end of the invitation of an e-mail to the past. */
export async function expireInvitation(
  { database: { db } }: Pick<TestService, 'database'>,
  email: string,
): Promise<void> {
  const past = sql<Date>`now() - interval '1 second'`;
  await db.updateTable('sign_in').set({ held_until: past }).where('email', '=', email).execute();
  await db.updateTable('app_user').set({ invitation_expires_at: past }).where('email', '=', email).execute();
  const ids = db.selectFrom('app_user').select('id').where('email', '=', email);
  await db.updateTable('one_time_link').set({ expires_at: past }).where('person_id', 'in', ids).execute();
}
