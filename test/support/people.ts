import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Answer } from './http.ts';
import type { TestService, TestTenant } from './service.ts';
import { CONSOLE, consoleHeaders, ME, tokenOf as cookieTokenOf } from './sessions.ts';
import { entriesOf } from './lists.ts';

export const PEOPLE = '/v1/staff/people/';
export const CHOOSE_PASSWORD = '/v1/auth/password/';
export const NEW_PASSWORD = 'a password of my own';

type Node = Pick<TestService, 'call'>;

export function newEmail(): string {
  return `person-${randomBytes(6).toString('hex')}@demo.example`;
}

/** Invites a person by a call of the tenant's owner. By default, the invited person is a member of the staff with a new e-mail address. */
export async function invite(node: Node, tenant: TestTenant, wanted: Record<string, unknown> = {}): Promise<Answer> {
  const json = { email: newEmail(), role: 'staff', ...wanted };
  return await node.call('POST', PEOPLE, { headers: tenant.owner, json });
}

/** Returns the token from the link in a response. The API returns such a link for an invitation or a password reset. */
export function tokenOf({ body }: Answer): string {
  return String(body.invite_url ?? body.reset_url).split(/#(?:invite|reset)=/)[1] ?? '';
}

/** @param link response with the link of an invitation or of a password reset */
export async function choosePassword(node: Node, link: Answer, password = NEW_PASSWORD): Promise<Answer> {
  return await node.call('POST', CHOOSE_PASSWORD, {
    headers: CONSOLE,
    json: { token: tokenOf(link), new_password: password },
  });
}

export function cookieOf(answer: Answer): Record<string, string> {
  return consoleHeaders(cookieTokenOf(answer));
}

export async function listPeople(node: Node, { owner }: TestTenant) {
  const answer = await node.call('GET', PEOPLE, { headers: owner });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

export async function readMe(node: Node, headers: Record<string, string>): Promise<Answer> {
  return await node.call('GET', ME, { headers });
}

export async function changePerson(node: Node, { owner }: TestTenant, id: string, json: unknown): Promise<Answer> {
  return await node.call('PATCH', `${PEOPLE}${id}/`, { headers: owner, json });
}

export async function resetPerson(node: Node, { owner }: TestTenant, id: string): Promise<Answer> {
  return await node.call('POST', `${PEOPLE}${id}/reset/`, { headers: owner });
}

/** Invites a person and accepts the invitation. @returns the person, and the headers of the session */
export async function addPerson(node: Node, tenant: TestTenant, wanted: Record<string, unknown> = {}) {
  const invited = await invite(node, tenant, wanted);
  const accepted = await choosePassword(node, invited);
  assert.equal(accepted.status, 200, accepted.text);
  const { id, email } = invited.body.person;
  return { id: id as string, email: email as string, headers: cookieOf(accepted) };
}

/** Signs in to get an access token. @param password by default, the password that `choosePassword` sets */
export async function signInForToken(node: Node, email: string, password = NEW_PASSWORD): Promise<Answer> {
  return await node.call('POST', '/v1/auth/token/', { json: { email, password } });
}

export async function auditOf(node: Node, { owner }: TestTenant, subject: string) {
  const body = await entriesOf(node, '/v1/staff/audit/', owner);
  return body.filter((entry: { subject: string }) => entry.subject === subject);
}

export function assertConflict(answer: Answer): void {
  assert.equal(answer.status, 409, answer.text);
  assert.equal(answer.body.code, 'invalid_status_transition');
}

/** Makes the invitation of the person with this e-mail address expire, by moving its end into the past. */
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
