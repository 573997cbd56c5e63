import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import {
  age,
  CONSOLE,
  consoleHeaders,
  ME,
  openDisplay,
  openSession,
  personId,
  SESSION,
  sessionCalls,
  SESSIONS,
  signIn,
  tokenOf,
} from '#test/support/sessions.ts';
import { entriesOf } from '#test/support/lists.ts';

let service: TestService;
let tenant: TestTenant;
before(async () => {
  service = await startService({ config: { trustedProxies: ['127.0.0.1'] } });
  tenant = await service.tenant();
});
after(() => service.close());

const { owner, staff, get, statusOf } = sessionCalls(() => ({ service, tenant }));

describe('GET /v1/staff/sessions/', () => {
  it('200: the list has the sessions of the caller that have not ended, newest first, and marks the session of the call', async () => {
    const other = await service.tenant();
    const opened = [];
    for (let count = 0; count < 4; count += 1) {
      opened.push(await openSession(service, other.tenantId, 'staff'));
    }
    const [first, second, third, fourth] = opened;
    assert.ok(first && second && third && fourth);
    await openSession(service, other.tenantId, 'owner');
    await service.call('DELETE', SESSION, { headers: third.headers });
    await age(service, fourth.id, { unused: '13 h' });
    const { status, body, text } = await get(SESSIONS, first.headers);
    assert.equal(status, 200, text);
    assert.deepEqual(
      body.map(({ id, is_current }: { id: string; is_current: boolean }) => [id, is_current]),
      [
        [second.id, false],
        [first.id, true],
      ],
    );
    const { created_at, last_used_at, ...shown } = body[1];
    assert.deepEqual(shown, {
      id: first.id,
      person_id: await personId(service, other.tenantId, 'staff'),
      display_id: null,
      kind: 'person',
      address: '127.0.0.1',
      user_agent: 'a test',
      is_current: true,
    });
    assert.ok(Date.parse(created_at) <= Date.now() + 1_000 && Date.parse(last_used_at) >= Date.parse(created_at));
    assert.ok(!text.includes(first.token));
  });

  it('200: for a call with a token, the sessions of its person are listed, and no session is marked as current', async () => {
    await staff();
    const { status, body } = await get(SESSIONS, tenant.staff);
    assert.equal(status, 200);
    assert.ok(body.length > 0);
    assert.ok(body.every(({ is_current }: { is_current: boolean }) => !is_current));
  });

  it('200: the list shows the client address of a sign-in, and only the beginning of a long user agent', async () => {
    const other = await service.tenant();
    const client = { 'user-agent': 'é'.repeat(1_000), 'x-forwarded-for': '[2001:DB8:0::1]:51234' };
    const answer = await signIn(service, other, 'owner', { ...CONSOLE, ...client });
    const { body } = await get(SESSIONS, consoleHeaders(tokenOf(answer)));
    assert.deepEqual([body[0].user_agent, body[0].address], ['é'.repeat(300), '2001:db8::1']);
  });

  it('200: an owner lists the sessions of another person, and gets an empty list for a person of another tenant', async () => {
    const other = await service.tenant();
    const [mine, theirs] = [
      await openSession(service, other.tenantId, 'owner'),
      await openSession(service, other.tenantId, 'staff'),
    ];
    const id = await personId(service, other.tenantId, 'staff');
    for (const spelled of [id, id.toUpperCase()]) {
      const { body } = await get(`${SESSIONS}?person_id=${spelled}`, mine.headers);
      assert.deepEqual([body.length, body[0].id, body[0].is_current], [1, theirs.id, false]);
      assert.equal(await statusOf(`${SESSIONS}?person_id=${spelled}`, theirs.headers), 200);
    }
    const strangers = await personId(service, tenant.tenantId, 'staff');
    assert.deepEqual((await get(`${SESSIONS}?person_id=${strangers}`, mine.headers)).body, []);
  });

  it('403: staff and displays may not list the sessions of others', async () => {
    const id = await personId(service, tenant.tenantId, 'owner');
    const display = await openDisplay(service, tenant.tenantId, ['orders']);
    assert.equal(await statusOf(`${SESSIONS}?person_id=${id}`, tenant.staff), 403);
    assert.equal(await statusOf(`${SESSIONS}?person_id=${id}`, display.headers), 403);
    assert.deepEqual((await get(SESSIONS, display.headers)).body.length, 1);
  });
});

describe('POST /v1/staff/sessions/{id}/end/', () => {
  const end = (id: string, headers: Record<string, string>, node = service) =>
    node.call('POST', `${SESSIONS}${id}/end/`, { headers });
  const trail = async () =>
    (await entriesOf(service, '/v1/staff/audit/', tenant.owner)).filter(
      ({ action }: { action: string }) => action === 'session.ended',
    );

  it('200: a person can end their own session on every node, and ending it again gets the same response', async (t) => {
    const node = await startService({ beside: service });
    t.after(() => node.close());
    const [current, other] = [await staff(), await staff()];
    assert.equal(await statusOf(ME, other.headers, node), 200);
    const ended = await end(other.id, current.headers);
    assert.deepEqual([ended.status, ended.body.id, ended.body.is_current], [200, other.id, false]);
    assert.deepEqual([await statusOf(ME, other.headers), await statusOf(ME, other.headers, node)], [401, 401]);
    const again = await end(other.id, current.headers, node);
    assert.deepEqual([again.status, again.body], [200, ended.body]);
    assert.deepEqual(await trail(), []);
    assert.equal((await end(current.id, current.headers)).body.is_current, true);
    assert.equal(await statusOf(ME, current.headers), 401);
  });

  it('200: an owner ends the sessions of another person and of a display, and each ended session gets one audit entry', async () => {
    const [theirs, display] = [await staff(), await openDisplay(service, tenant.tenantId, ['orders'])];
    for (const id of [theirs.id, theirs.id, display.id]) {
      assert.equal((await end(id, tenant.owner)).status, 200);
    }
    assert.deepEqual([await statusOf(ME, theirs.headers), await statusOf(ME, display.headers)], [401, 401]);
    const entries = await trail();
    assert.deepEqual(
      entries.map(({ subject, details }: { subject: string; details: unknown }) => [subject, details]),
      [
        [display.displayId, { session_id: display.id, kind: 'display' }],
        [await personId(service, tenant.tenantId, 'staff'), { session_id: theirs.id, kind: 'person' }],
      ],
    );
    const { type, id } = entries[0].actor;
    assert.deepEqual([type, id], ['user', await personId(service, tenant.tenantId, 'owner')]);
  });

  it('404: staff cannot end sessions of others, an owner cannot end sessions of another tenant, and an unknown id is refused', async () => {
    const [session, display] = [await owner(), await openDisplay(service, tenant.tenantId, ['orders'])];
    const stranger = await service.tenant();
    for (const [id, headers] of [
      [session.id, tenant.staff],
      [session.id, display.headers],
      [display.id, tenant.staff],
      [session.id, stranger.owner],
      [stranger.credential.id, tenant.owner],
      ['x', tenant.owner],
      ['%00', tenant.owner],
    ] as const) {
      const { status, body } = await end(id, headers);
      assert.ok(
        id === '%00' ? status === 400 : status === 404 && body.message === 'No such session.',
        `${id} ${status}`,
      );
    }
    assert.equal(await statusOf(ME, session.headers), 200);
  });
});
