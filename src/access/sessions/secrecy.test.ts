import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Kysely, sql } from 'kysely';
import type { Answer } from '#test/support/http.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { age, consoleHeaders, ME, openSession, SESSION, SESSIONS, signIn, tokenOf } from '#test/support/sessions.ts';
import { OWNER_PASSWORD } from '#test/support/tenants.ts';

const NEW_PASSWORD = 'a password of tomorrow';

let service: TestService;
let tenant: TestTenant;
const logLines: string[] = [];
const answers: string[] = [];
const tokens: string[] = [];
before(async () => {
  service = await startService({ onLog: (line) => logLines.push(line) });
  tenant = await service.tenant();
  const signedIn = await signIn(service, tenant, 'owner');
  const token = keep(tokenOf(signedIn));
  const headers = consoleHeaders(token);
  const call = async (method: string, path: string, json?: unknown) =>
    record(await service.call(method, path, { headers, ...(json === undefined ? {} : { json }) }));
  record(signedIn);
  await call('GET', ME);
  await call('GET', SESSIONS);
  await call('GET', `${ME}?cookie=${token}`);
  await call('GET', `${SESSIONS}?person_id=${token}`);
  await call('POST', `${ME}password/`, { current_password: OWNER_PASSWORD, new_password: NEW_PASSWORD });
  const ended = await openSession(service, tenant.tenantId, 'staff');
  keep(ended.token);
  await age(service, ended.id, { unused: '13 h' });
  record(await service.call('GET', ME, { headers: ended.headers }));
  await breakTheDatabase(headers);
  await call('DELETE', SESSION);
  await call('GET', ME);
});
after(() => service.close());

function keep(token: string): string {
  tokens.push(token);
  return token;
}

function record(answer: Answer): void {
  answers.push(answer.text);
}

/**
 * Makes three calls while a column of the database is renamed, so that they fail with an unexpected error, which the service logs in full.
 */
async function breakTheDatabase(headers: Record<string, string>): Promise<void> {
  const { db } = service.database;
  await sql`ALTER TABLE session RENAME COLUMN secret_hash TO elsewhere`.execute(db);
  const broken = [
    await service.call('GET', ME, { headers }),
    await service.call('DELETE', SESSION, { headers }),
    await service.call('POST', SESSION, {
      headers,
      json: { email: `owner@${tenant.document.slug}.example`, password: NEW_PASSWORD },
    }),
  ];
  await sql`ALTER TABLE session RENAME COLUMN elsewhere TO secret_hash`.execute(db);
  assert.deepEqual(
    broken.map(({ status }) => status),
    [500, 500, 500],
  );
  broken.forEach(record);
}

/** Returns the texts from which a reader could compute a token: the token, its secret part, and their bytes in hex and base64. */
function spellings(token: string): string[] {
  const bytes = Buffer.from(token, 'base64url');
  return [bytes, bytes.subarray(16)].flatMap((part) => [
    part.toString('base64url'),
    part.toString('hex'),
    part.toString('base64').replace(/=+$/, ''),
  ]);
}

function assertSecret(text: string): void {
  for (const spelling of [...tokens.flatMap(spellings), OWNER_PASSWORD, NEW_PASSWORD]) {
    assert.ok(!text.includes(spelling), `${spelling} is not in ${text.slice(0, 200)}`);
  }
}

describe('the secrecy of session cookies', () => {
  it('no cookie and no password is in a log line, not even after an unexpected error', () => {
    const text = logLines.join('');
    for (const known of ['"msg":"request"', '"msg":"request failed"', '"status":401', ME, SESSION]) {
      assert.ok(text.includes(known), known);
    }
    // One of the calls has the token in the query of its URL. The log must have only the path of a call, without the query.
    assertSecret(text);
  });

  it('no cookie and no password is in a response body', () => {
    assert.equal(answers.length, 12);
    // One of these calls sent a token in a malformed `person_id`. The error in its response must not repeat this value.
    assertSecret(answers.join('\n'));
  });

  it('no cookie is in a row of the database, only its keyed hash', async () => {
    const db = service.database.db as unknown as Kysely<Record<string, unknown>>;
    const { rows: tables } = await sql<{ name: string }>`
      SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`.execute(db);
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await sql<{ row: string }>`SELECT to_jsonb(t)::text AS row FROM ${sql.table(name)} AS t`.execute(
        db,
      );
      texts.push(...rows.map(({ row }) => row));
    }
    assert.ok(texts.some((text) => text.includes('"secret_hash": "\\\\x')));
    assertSecret(texts.join('\n'));
  });
});
