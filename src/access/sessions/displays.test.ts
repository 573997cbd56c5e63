import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { cookieOf } from '#test/support/people.ts';
import type { Answer } from '#test/support/http.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { CONSOLE } from '#test/support/sessions.ts';
import { entriesOf } from '#test/support/lists.ts';

const DISPLAYS = '/v1/staff/displays/';
const PAIR = '/v1/auth/display/';

let service: TestService;
let tenant: TestTenant;
const logLines: string[] = [];
before(async () => {
  service = await startService({ onLog: (line) => void logLines.push(line) });
  tenant = await service.tenant();
});
after(() => service.close());

async function create(wanted: Record<string, unknown> = {}, { owner } = tenant): Promise<Answer> {
  return await service.call('POST', DISPLAYS, {
    headers: owner,
    json: { label: 'Pass', areas: ['orders'], ...wanted },
  });
}
const pair = (pairing_code: unknown, node = service, headers: Record<string, string> = CONSOLE) =>
  node.call('POST', PAIR, { headers, json: { pairing_code } });
async function list({ owner } = tenant) {
  const answer = await service.call('GET', DISPLAYS, { headers: owner });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}
const remove = (id: string, { owner } = tenant) => service.call('POST', `${DISPLAYS}${id}/remove/`, { headers: owner });
const me = (headers: Record<string, string>, node = service) => node.call('GET', '/v1/staff/me/', { headers });

/**
 * Runs the work on a new node. Each node counts the pairings from an address separately, so the pairings of other tests do not use up its
 * limit.
 */
async function onOwnNode(work: (node: TestService) => Promise<void>): Promise<void> {
  const node = await startService({ beside: service, onLog: (line) => void logLines.push(line) });
  try {
    await work(node);
  } finally {
    await node.close();
  }
}

describe('GET and POST /v1/staff/displays/', () => {
  it('201: the response to a new display has a pairing code of 8 letters, which expires in 10 minutes, and the list shows the display without the code', async () => {
    const { status, body, headers } = await create({ label: 'Kitchen', areas: ['menu', 'orders', 'menu'] });
    assert.equal(status, 201);
    assert.equal(headers.get('cache-control'), 'no-store');
    const { id, label, areas, pairing_code, expires_at } = body;
    assert.deepEqual([label, areas], ['Kitchen', ['orders', 'menu']]);
    assert.match(pairing_code, /^[BCDFGHJKMNPQRSTVWXYZ]{8}$/);
    assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - 600_000) < 10_000);
    const [first] = await list();
    const { created_at, ...rest } = first;
    assert.deepEqual(rest, { id, label, areas, last_used_at: null });
    assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 10_000);
  });

  it('200: the list has no display of another tenant and no removed display', async () => {
    const other = await service.tenant();
    const ids = [];
    for (const label of ['One', 'Two', 'Three']) {
      ids.push((await create({ label }, other)).body.id);
    }
    await remove(ids[1], other);
    assert.deepEqual(
      (await list(other)).map(({ label }: { label: string }) => label),
      ['Three', 'One'],
    );
  });
});

describe('POST /v1/auth/display/', () => {
  it('200: if a display pairs, its session lasts 90 days and has the areas that the owner gave the display, and the list of displays shows its last use', async () => {
    const created = (await create({ label: 'Front desk', areas: ['hotel', 'menu'] })).body;
    const code = created.pairing_code as string;
    const paired = await pair(` ${code.slice(0, 4).toLowerCase()}-${code.slice(4)} `);
    assert.equal(paired.status, 200, paired.text);
    const { person, display, session } = paired.body;
    const { id } = created;
    assert.deepEqual([person, display], [null, { id, label: 'Front desk', areas: ['menu', 'hotel'] }]);
    assert.equal(session.kind, 'display');
    assert.ok(Math.abs(Date.parse(session.expires_at) - Date.now() - 90 * 86_400_000) < 60_000);
    const headers = cookieOf(paired);
    await onOwnNode(async (node) => assert.deepEqual((await me(headers, node)).body.display, display));
    assert.equal((await service.call('GET', '/v1/staff/menu/', { headers })).status, 200);
    assert.equal((await service.call('GET', '/v1/staff/orders/', { headers })).status, 403);
    const [shown] = await list();
    assert.ok(Math.abs(Date.parse(shown.last_used_at) - Date.now()) < 60_000);
    const trail = await entriesOf(service, '/v1/staff/audit/', tenant.owner);
    const entries = trail.filter(({ subject }: { subject: string }) => subject === id);
    assert.deepEqual(
      entries.map(({ action, actor }: { action: string; actor: { type: string } }) => [action, actor.type]),
      [
        ['display.paired', 'display'],
        ['display.created', 'user'],
      ],
    );
  });

  it('401: a pairing code works once, even if two nodes get it at the same time', async () => {
    await onOwnNode(async (node) => {
      const code = (await create()).body.pairing_code;
      const answers = await Promise.all([service, node, service, node].map((each) => pair(code, each)));
      assert.deepEqual(
        answers.map(({ status }) => status).sort((a, b) => a - b),
        [200, 401, 401, 401],
      );
      const again = await pair(code, node);
      assert.deepEqual([again.status, again.headers.getSetCookie()], [401, []]);
    });
  });

  it('401: an expired code, an unknown code and the code of a removed display are refused with the same response', async () => {
    await onOwnNode(async (node) => {
      const removed = (await create()).body;
      await remove(removed.id);
      const expired = (await create()).body;
      const { db } = service.database;
      await db
        .updateTable('pairing_code')
        .set({ expires_at: sql<Date>`now()` })
        .where('display_id', '=', expired.id)
        .execute();
      const codes = [removed.pairing_code, expired.pairing_code, 'BBBBBBBB', 'x', '        '];
      const texts = [];
      for (const code of codes) {
        const { status, text } = await pair(code, node);
        assert.equal(status, 401, code);
        texts.push(text);
      }
      assert.equal(new Set(texts).size, 1);
      const codesLeft = () => db.selectFrom('pairing_code').select('display_id').execute();
      await create();
      assert.ok(
        (await codesLeft()).every(({ display_id }) => display_id !== expired.id),
        'a new code removes expired ones',
      );
    });
  });

  it("400: if a pairing call lacks the pairing code or the header X-Roomservice-Console, or comes from another site, the call is refused, and the display's code still works", async () => {
    await onOwnNode(async (node) => {
      const code = (await create()).body.pairing_code;
      for (const headers of [{}, { ...CONSOLE, 'sec-fetch-site': 'same-site' }]) {
        const answer = await pair(code, node, headers);
        assert.deepEqual([answer.status, answer.headers.get('x-ratelimit-remaining')], [400, null]);
      }
      assert.equal((await pair(undefined, node)).status, 400);
      assert.equal((await pair(12_345_678, node)).status, 400);
      assert.equal((await pair(code, node)).status, 200);
    });
  });

  it('429: after 10 wrong pairing codes from one address, a node refuses the right code; 200: another node, which counts its own attempts, accepts this code', async () => {
    await onOwnNode(async (node) => {
      const code = (await create()).body.pairing_code;
      for (let left = 9; left >= 0; left -= 1) {
        const answer = await pair('BBBBBBBB', node);
        assert.deepEqual([answer.status, answer.headers.get('x-ratelimit-remaining')], [401, String(left)]);
      }
      const refused = await pair(code, node);
      assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited']);
      await onOwnNode(async (third) => assert.equal((await pair(code, third)).status, 200));
    });
  });
});

describe('POST /v1/staff/displays/{id}/remove/', () => {
  it('200: removing a display ends its session on every node, and removing it again gets the same response', async () => {
    await onOwnNode(async (node) => {
      const created = (await create()).body;
      const headers = cookieOf(await pair(created.pairing_code, node));
      assert.equal((await me(headers)).status, 200);
      const removed = await remove(created.id);
      assert.equal(removed.status, 200);
      assert.deepEqual([removed.body.id, removed.body.label, removed.body.areas], [created.id, 'Pass', ['orders']]);
      assert.deepEqual([(await me(headers)).status, (await me(headers, node)).status], [401, 401]);
      assert.deepEqual((await remove(created.id)).body, removed.body);
    });
  });
});

it('no pairing code and no cookie of a display is in the database, in the audit trail or in the log', async () => {
  await onOwnNode(async (node) => {
    const code = (await create()).body.pairing_code as string;
    const cookie = cookieOf(await pair(code, node))['cookie']?.split('=')[1] ?? '';
    const open = (await create()).body.pairing_code as string;
    const { rows } = await sql<{ text: string }>`
      SELECT to_jsonb(t)::text AS text FROM pairing_code AS t
      UNION ALL SELECT to_jsonb(t)::text FROM display AS t
      UNION ALL SELECT to_jsonb(t)::text FROM session AS t
      UNION ALL SELECT to_jsonb(t)::text FROM audit_entry AS t
    `.execute(service.database.db);
    const texts = [...rows.map(({ text }) => text), ...logLines].join('\n');
    assert.ok(
      texts.includes('code_hash') && texts.includes('display.paired') && texts.includes('"path":"/v1/auth/display/"'),
    );
    for (const secret of [code, open, cookie]) {
      assert.ok(secret.length >= 8 && !texts.includes(secret) && !texts.includes(Buffer.from(secret).toString('hex')));
    }
  });
});
