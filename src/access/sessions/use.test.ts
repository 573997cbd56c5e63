import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startService } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
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
} from '#test/support/sessions.ts';

const ORDERS = '/v1/staff/orders/';
const CREDENTIALS = '/v1/third-party/credentials/';

const { service, tenant } = await useRestaurant();

const { owner, staff, get, statusOf } = sessionCalls(() => ({ service, tenant }));
/** Changes the row of the member of staff in the database, without a call of the API. */
const changeStaff = async (changes: Record<string, unknown>) =>
  await service.database.db
    .updateTable('app_user')
    .set(changes)
    .where('tenant_id', '=', tenant.tenantId)
    .where('role', '=', 'staff')
    .execute();

describe('a session cookie', () => {
  it('200: with a session cookie and the header X-Roomservice-Console, staff can list orders and an owner can list credentials; 403: staff cannot list credentials', async () => {
    assert.equal(await statusOf(ORDERS, (await staff()).headers), 200);
    assert.equal(await statusOf(CREDENTIALS, (await staff()).headers), 403);
    assert.equal(await statusOf(CREDENTIALS, (await owner()).headers), 200);
    for (const site of ['same-origin', 'none']) {
      assert.equal(await statusOf(ME, { ...(await staff()).headers, 'sec-fetch-site': site }), 200, site);
    }
  });

  it('200: other cookies beside the session cookie make no difference', async () => {
    const { token } = await staff();
    const cookie = `a=1; roomservice2=${token}; roomservice=${token};b="x y"`;
    assert.equal(await statusOf(ME, { ...CONSOLE, cookie }), 200);
  });

  it('401: a cookie is refused if the header of the console is missing or wrong, or if another site caused the call', async () => {
    const { headers, token } = await owner();
    const { 'x-roomservice-console': _, ...withoutHeader } = headers;
    for (const wrong of [
      withoutHeader,
      { ...headers, 'x-roomservice-console': '01' },
      { ...headers, 'sec-fetch-site': 'cross-site' },
      { ...headers, 'sec-fetch-site': 'same-site' },
      { ...headers, 'sec-fetch-site': '' },
      { ...CONSOLE, cookie: `roomservice=${token}; roomservice=${token}` },
      { ...CONSOLE, cookie: `Roomservice=${token}` },
      { ...CONSOLE, cookie: token },
    ]) {
      const answer = await get(CREDENTIALS, wrong);
      assert.deepEqual([answer.status, answer.body.code], [401, 'invalid_credentials'], JSON.stringify(wrong));
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
    }
  });

  it('401: an unknown, changed or malformed cookie is refused', async () => {
    const { token } = await owner();
    const changed = `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const value of [changed, token.slice(1), `${token}A`, '', '..', 'x'.repeat(5_000), `"${token}"`]) {
      assert.equal(await statusOf(ME, consoleHeaders(value)), 401, value.slice(0, 80));
    }
  });

  it('401: a call with an invalid token in the Authorization header is refused, even if its cookie is valid', async () => {
    const { headers } = await owner();
    for (const authorization of ['Bearer x', 'Basic b3duZXI6eA==', '']) {
      assert.equal(await statusOf(ME, { ...headers, authorization }), 401, authorization);
    }
  });

  it('200: a call with a valid token acts for the person of the token, even if it also has the cookie of another person or of an ended session', async () => {
    const session = await owner();
    const both = await get(ME, { ...session.headers, ...tenant.staff });
    assert.deepEqual([both.body.person.role, both.body.session.kind, both.body.session.id], ['staff', 'token', null]);
    await service.call('DELETE', SESSION, { headers: session.headers });
    assert.equal(await statusOf(ME, { ...session.headers, ...tenant.staff }), 200);
    assert.equal(await statusOf(ME, session.headers), 401);
  });

  it('200: for a call with a bearer token, session.expires_at in the response of /v1/staff/me/ is the expiry of the token, 8 hours after its issue', async () => {
    const { status, body } = await get(ME, tenant.owner);
    assert.equal(status, 200);
    const seconds = (Date.parse(body.session.expires_at) - Date.now()) / 1000;
    assert.ok(Math.abs(seconds - 8 * 3600) < 60, body.session.expires_at);
  });
});

describe('the end of a session by time', () => {
  it('401: a session of a person ends after 12 hours without a use', async () => {
    // Two sessions, because a call with the first session counts as a use. The service may write this use to the database at any time.
    const [early, late] = [await staff(), await staff()];
    await age(service, early.id, { unused: '11 h 59 min' });
    assert.equal(await statusOf(ME, early.headers), 200);
    await age(service, late.id, { unused: '12 h' });
    assert.equal(await statusOf(ME, late.headers), 401);
  });

  it('401: a session of a person ends 7 days after the sign-in, even if it is used', async () => {
    const session = await staff();
    await age(service, session.id, { begun: '6 days 23 h' });
    const { body } = await get(ME, session.headers);
    const minutes = (Date.parse(body.session.expires_at) - Date.parse(body.service.now)) / 60_000;
    assert.ok(minutes > 58 && minutes <= 60, body.session.expires_at);
    await age(service, session.id, { begun: '1 h' });
    assert.equal(await statusOf(ME, session.headers), 401);
  });

  it('a call with a session stores the time of its last use, but at most once a minute', async () => {
    const { db } = service.database;
    const lastUsedAt = async (id: string) =>
      (
        await db.selectFrom('session').select('last_used_at').where('id', '=', id).executeTakeFirstOrThrow()
      ).last_used_at.getTime();
    const [stale, fresh] = [await staff(), await staff()];
    const node = await startService({ beside: service });
    await age(service, stale.id, { unused: '61 s' });
    await age(service, fresh.id, { unused: '50 s' });
    const earlier = { stale: await lastUsedAt(stale.id), fresh: await lastUsedAt(fresh.id) };
    const begun = Date.now();
    assert.equal(await statusOf(ME, stale.headers, node), 200);
    assert.equal(await statusOf(ME, fresh.headers, node), 200);
    await node.close(); // Before a node stops, it writes the times of the last uses.
    const moved = await lastUsedAt(stale.id);
    assert.ok(moved > earlier.stale && moved >= begun - 100 && moved <= Date.now() + 100);
    assert.equal(await lastUsedAt(fresh.id), earlier.fresh);
  });

  it('a call with a session or a token sets last_seen_at of the person, but at most once a minute', async () => {
    const { db } = service.database;
    const other = await service.tenant();
    const session = await openSession(service, other.tenantId, 'owner');
    const seen = async () =>
      (
        await db
          .selectFrom('app_user')
          .select(['role', 'last_seen_at'])
          .where('tenant_id', '=', other.tenantId)
          .orderBy('role')
          .execute()
      ).map(({ last_seen_at }) => last_seen_at?.getTime() ?? null);
    const callBoth = async () => {
      const node = await startService({ beside: service });
      assert.equal(await statusOf(ME, session.headers, node), 200);
      assert.equal(await statusOf(ME, other.staff, node), 200);
      await node.close();
      return await seen();
    };
    assert.deepEqual(await seen(), [null, null]);
    const first = await callBoth();
    assert.ok(
      first.every((time) => time !== null && Math.abs(time - Date.now()) < 10_000),
      String(first),
    );
    assert.deepEqual(await callBoth(), first);
    const minuteAgo = new Date(Date.now() - 61_000);
    await db.updateTable('app_user').set({ last_seen_at: minuteAgo }).where('tenant_id', '=', other.tenantId).execute();
    const later = await callBoth();
    assert.ok(
      later.every((time, index) => time !== null && time >= (first[index] ?? 0)),
      String(later),
    );
  });

  it('the session of a display ends 90 days after its last use, or when the display is removed', async () => {
    const display = await openDisplay(service, tenant.tenantId, ['menu', 'orders']);
    await age(service, display.id, { unused: '89 days', begun: '400 days' });
    const me = await get(ME, display.headers);
    assert.deepEqual(me.body.display, { id: display.displayId, label: 'Kitchen', areas: ['orders', 'menu'] });
    assert.deepEqual([me.body.person, me.body.session.kind], [null, 'display']);
    const days = (Date.parse(me.body.session.expires_at) - Date.now()) / 86_400_000;
    assert.ok(Math.abs(days - 90) < 0.01);
    assert.equal(await statusOf(ORDERS, display.headers), 200);
    assert.equal(await statusOf('/v1/staff/webhook-deliveries/', display.headers), 403);
    const { db } = service.database;
    await db.updateTable('display').set({ removed_at: new Date() }).where('id', '=', display.displayId).execute();
    assert.equal(await statusOf(ME, display.headers), 401);
    const idle = await openDisplay(service, tenant.tenantId, ['menu']);
    await age(service, idle.id, { unused: '90 days' });
    assert.equal(await statusOf(ME, idle.headers), 401);
  });
});

describe('the end of a session by a change', () => {
  it('401: a disabled person is refused from the next call on', async () => {
    const session = await staff();
    assert.equal(await statusOf(ME, session.headers), 200);
    await changeStaff({ is_active: false });
    try {
      assert.equal(await statusOf(ME, session.headers), 401);
    } finally {
      await changeStaff({ is_active: true });
    }
  });

  it("401: if a person's generation number (each new password raises it) becomes higher, the earlier sessions of the person end; 200: a new session works", async () => {
    const other = await service.tenant();
    const session = await openSession(service, other.tenantId, 'owner');
    const raised = { generation: 1 };
    await service.database.db.updateTable('app_user').set(raised).where('tenant_id', '=', other.tenantId).execute();
    assert.equal(await statusOf(ME, session.headers), 401);
    assert.equal(await statusOf(ME, (await openSession(service, other.tenantId, 'owner')).headers), 200);
  });

  it('403: a change of areas applies from the next call on, and the message names the missing area', async () => {
    const session = await staff();
    await changeStaff({ areas: ['menu'] });
    const answer = await get(ORDERS, session.headers);
    assert.deepEqual(
      [answer.status, answer.body],
      [403, { code: 'error', message: 'You need the area "orders". An owner of the tenant can give it.' }],
    );
    await changeStaff({ areas: ['orders', 'menu', 'hotel', 'deliveries'] });
    assert.equal(await statusOf(ORDERS, session.headers), 200);
  });

  it('200, 403: a change of the role applies from the next call on', async () => {
    const other = await service.tenant();
    const session = await openSession(service, other.tenantId, 'staff');
    const id = await personId(service, other.tenantId, 'staff');
    const changeRole = async (role: string) =>
      await service.database.db.updateTable('app_user').set({ role }).where('id', '=', id).execute();
    assert.equal(await statusOf(CREDENTIALS, session.headers), 403);
    await changeRole('owner');
    assert.equal(await statusOf(CREDENTIALS, session.headers), 200);
    await changeRole('staff');
    assert.equal(await statusOf(CREDENTIALS, session.headers), 403);
  });
});

describe('DELETE /v1/auth/session/', () => {
  it('204: a sign-out ends the session on all nodes, and clears the cookie', async (t) => {
    const node = await startService({ beside: service });
    t.after(() => node.close());
    const [session, other] = [await staff(), await staff()];
    assert.equal(await statusOf(ME, session.headers, node), 200);
    const answer = await service.call('DELETE', SESSION, { headers: session.headers });
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.get('set-cookie'), 'roomservice=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict');
    assert.deepEqual([await statusOf(ME, session.headers), await statusOf(ME, session.headers, node)], [401, 401]);
    assert.equal(await statusOf(ME, other.headers, node), 200);
    assert.equal((await service.call('DELETE', SESSION, { headers: session.headers })).status, 204);
  });

  it('204: a sign-out without a cookie or with an unknown cookie ends no session, and clears the cookie', async () => {
    for (const headers of [CONSOLE, consoleHeaders('x'), consoleHeaders('A'.repeat(64))]) {
      const answer = await service.call('DELETE', SESSION, { headers });
      assert.deepEqual([answer.status, answer.text], [204, '']);
      assert.match(answer.headers.get('set-cookie') ?? '', /^roomservice=; .*Max-Age=0/);
    }
  });

  it('204: a sign-out without the header of the console, or from another site, ends no session and sets no cookie', async () => {
    const { headers } = await staff();
    const { 'x-roomservice-console': _, ...withoutHeader } = headers;
    for (const wrong of [withoutHeader, { ...headers, 'sec-fetch-site': 'cross-site' }]) {
      const answer = await service.call('DELETE', SESSION, { headers: wrong });
      assert.deepEqual([answer.status, answer.headers.get('set-cookie')], [204, null]);
    }
    assert.equal(await statusOf(ME, headers), 200);
  });

  it('200: over plain HTTP, the cookie __Host-roomservice is ignored, so a sign-out with it does not end the session', async () => {
    const { token, headers } = await staff();
    await service.call('DELETE', SESSION, { headers: consoleHeaders(token, '__Host-roomservice') });
    assert.equal(await statusOf(ME, headers), 200);
  });
});
