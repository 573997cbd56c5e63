import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { addPerson, changePerson, cookieOf, NEW_PASSWORD, signInForToken } from '#test/support/people.ts';
import { runningMsOf, sleepRunning } from '#test/support/running-time.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { age, openDisplay, openSession, SESSION, SESSIONS } from '#test/support/sessions.ts';
import { CHANGES, isBeat, openStream, type TestStream } from '#test/support/streams.ts';

/** Time in milliseconds within which a stream ends after its caller has lost its access. Only the time for which the process runs counts. */
const ENDS_WITHIN_MS = 2_000;

/** Time in milliseconds within which a process checks the access of all callers with open streams at least once. */
const CHECKED_WITHIN_MS = 1_700;

describe('streams of callers who lose their access to GET /v1/staff/changes/', () => {
  let node: TestService;
  let other: TestService;
  let tenant: TestTenant;
  const open: TestStream[] = [];
  before(async () => {
    node = await startService();
    other = await startService({ beside: node });
    tenant = await node.tenant();
  });
  after(async () => {
    await other.close();
    await node.close();
  });
  afterEach(() => open.splice(0).forEach((stream) => stream.close()));

  async function watch(headers: Record<string, string>): Promise<TestStream> {
    const stream = await openStream(other.url, headers);
    open.push(stream);
    await stream.find(isBeat);
    return stream;
  }

  /**
   * Opens a stream for each entry of `headers`, and a stream of the owner, all on the process `other`. Then runs `change` on the process
   * `node`. Asserts that the streams of `headers` end within 2 s, and that the next calls with the same headers get `status`. The stream of
   * the owner must stay open.
   */
  async function assertEnds(headers: Record<string, string>[], change: () => Promise<unknown>, status = 401) {
    const streams = await Promise.all(headers.map(watch));
    const bystander = await watch(tenant.owner);
    await change();
    const allEnd = Promise.all(streams.map(({ ended }) => ended));
    const tookMs = await runningMsOf(() => Promise.race([allEnd, sleep(10_000, null, { ref: false })]));
    assert.ok(tookMs < ENDS_WITHIN_MS, `the streams took ${tookMs} ms to end`);
    for (const each of headers) {
      assert.equal((await other.call('GET', CHANGES, { headers: each })).status, status);
    }
    const isOpen = await Promise.race([bystander.ended.then(() => false), sleep(50, true)]);
    assert.ok(isOpen, 'the stream of another caller stays open');
  }

  async function person(wanted: Record<string, unknown> = {}) {
    const added = await addPerson(node, tenant, wanted);
    const { body } = await signInForToken(node, added.email);
    return { ...added, token: { authorization: `Bearer ${body.access_token}` } };
  }

  it('401: after a sign-out, the stream of live changes of the session ends', async () => {
    const session = await openSession(node, tenant.tenantId, 'staff');
    await assertEnds([session.headers], () => node.call('DELETE', SESSION, { headers: session.headers }));
  });

  it('401: if an owner ends a session, the stream of live changes of the session ends', async () => {
    const session = await openSession(node, tenant.tenantId, 'staff');
    await assertEnds([session.headers], () =>
      node.call('POST', `${SESSIONS}${session.id}/end/`, { headers: tenant.owner }),
    );
  });

  it('401: if a display is removed, its stream of live changes ends', async () => {
    const { headers, displayId } = await openDisplay(node, tenant.tenantId, ['orders']);
    await assertEnds([headers], () =>
      node.call('POST', `/v1/staff/displays/${displayId}/remove/`, { headers: tenant.owner }),
    );
  });

  it('401: disabling a person ends the streams of live changes with the session or access token of the person, and makes both invalid', async () => {
    const { id, headers, token } = await person();
    await assertEnds([headers, token], () => changePerson(node, tenant, id, { is_active: false }));
  });

  it('401: if a person changes the password in one session, the other session and the access token of the person become invalid, and their streams of live changes end', async () => {
    const { email, headers, token } = await person();
    const json = { email, password: NEW_PASSWORD };
    const signedIn = await node.call('POST', SESSION, { headers: { 'x-roomservice-console': '1' }, json });
    await assertEnds([headers, token], () =>
      node.call('POST', '/v1/staff/me/password/', {
        headers: cookieOf(signedIn),
        json: { current_password: NEW_PASSWORD, new_password: 'another password of my own' },
      }),
    );
  });

  it('200: if the areas or the role of a person change, the streams of live changes end, and the next call is accepted', async () => {
    const { id, headers, token } = await person({ areas: ['orders'] });
    await assertEnds([headers, token], () => changePerson(node, tenant, id, { areas: ['menu'] }), 200);
    await assertEnds([headers, token], () => changePerson(node, tenant, id, { role: 'owner' }), 200);
  });

  it('401: if a session ends because it was unused for too long, its stream of live changes ends', async () => {
    const session = await openSession(node, tenant.tenantId, 'owner');
    await assertEnds([session.headers], () => age(node, session.id, { unused: '12 hours' }));
  });

  it('200: an open stream of live changes counts as a use of the session for a display, but not for a person', async () => {
    const session = await openSession(node, tenant.tenantId, 'owner');
    const display = await openDisplay(node, tenant.tenantId, []);
    const lastUseOf = async ({ id }: { id: string }) => {
      const sessions = node.database.db.selectFrom('session').select('last_used_at');
      return (await sessions.where('id', '=', id).executeTakeFirstOrThrow()).last_used_at.getTime();
    };
    await age(node, session.id, { unused: '2 hours' });
    const closing = await startService({ beside: node });
    const streams = await Promise.all(
      [session, display].map(async ({ headers }) => {
        const stream = await openStream(closing.url, headers);
        await stream.find(isBeat);
        return stream;
      }),
    );
    // The test proves that the open stream counts as a use of the display's session. But the call that opens the stream may count as a use
    // too. So the test sets the last use to two hours ago only after this call. If the last use is more recent at the end of the test, only
    // the open stream can have changed it.
    await age(node, display.id, { unused: '2 hours' });
    const earlier = [await lastUseOf(session), await lastUseOf(display)];
    await sleepRunning(CHECKED_WITHIN_MS);
    // A process writes the recorded uses of sessions to the database when it stops. So the test stops the process before it reads the last
    // use.
    await closing.close();
    await Promise.all(streams.map(({ ended }) => ended));
    assert.equal(await lastUseOf(session), earlier[0]);
    assert.ok((await lastUseOf(display)) > (earlier[1] ?? 0) + 3_600_000);
  });
});
