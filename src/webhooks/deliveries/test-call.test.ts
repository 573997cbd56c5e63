import assert from 'node:assert/strict';
import type { AuditEntry } from '#access/audit/audit.ts';
import type { Socket } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { assertError } from '#test/support/answers.ts';
import { pmsHeaders } from '#test/support/hotel.ts';
import { type Answer as Reaction, type Receiver, startReceiver } from '#test/support/receiver.ts';
import { openDisplay, personId } from '#test/support/sessions.ts';
import type { Answer } from '#test/support/http.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { causeEvent, isSignedWith, listDeliveries, onlyDelivery, register } from '#test/support/webhooks.ts';
import { entriesOf } from '#test/support/lists.ts';
import { newId } from '#platform/lib/ids.ts';

/** Short time limit in milliseconds for the test calls to a receiver that hangs, so that they end soon. */
const SHORT_TIMEOUT_MS = 700;
/** Time limit in milliseconds for test calls that must not reach it, even if the machine stalls for some seconds. */
const LONG_TIMEOUT_MS = 60_000;

describe('POST /v1/staff/credentials/{id}/ping/', () => {
  let service: TestService;
  let receiver: Receiver;
  let tenant: TestTenant;
  let secret: string;
  before(async () => {
    service = await startService({ worker: true, testCalls: { timeoutMs: LONG_TIMEOUT_MS, keepAnswers: true } });
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await service.close();
  });
  beforeEach(async () => {
    receiver.answerWith(() => 204);
    tenant = await service.tenant();
    secret = await register(service, tenant.partner, receiver.url);
  });

  function ping({ node = service, headers = tenant.staff, id = tenant.credential.id } = {}): Promise<Answer> {
    return node.call('POST', `/v1/staff/credentials/${id}/ping/`, { headers });
  }

  /**
   * Registers a webhook with a new credential, because one credential gets at most six test calls per minute. Sends a test call to this
   * webhook. Returns the outcome without its duration.
   */
  async function outcomeAt(url: string, node = service) {
    const { credential, partner } = await service.credential(tenant.tenantId);
    await register(service, partner, url);
    const answer = await ping({ node, id: credential.id });
    assert.equal(answer.status, 200, answer.text);
    const { duration_ms: durationMs, ...outcome } = answer.body;
    assert.ok(Number.isInteger(durationMs) && durationMs >= 0 && durationMs < 10_000);
    return outcome;
  }

  it('200: a test call is one signed POST with the headers of a delivery, and the caller gets the response of the receiver', async () => {
    receiver.answerWith(() => ({ status: 202, body: 'welcome' }));
    const begunAt = receiver.requests.length;
    const answer = await ping();
    assert.deepEqual(Object.keys(answer.body), ['http_status', 'duration_ms', 'error', 'answer']);
    assert.deepEqual(answer.body, { ...answer.body, http_status: 202, error: null, answer: 'welcome' });
    const [request, ...others] = receiver.requests.slice(begunAt);
    assert.ok(request && others.length === 0);
    const body = JSON.parse(request.rawBody.toString());
    assert.equal(
      request.rawBody.toString(),
      JSON.stringify({ test: true, event_id: body.event_id, occurred_at: body.occurred_at }),
    );
    assert.ok(Math.abs(Date.parse(body.occurred_at) - Date.now()) < 5_000);
    assert.deepEqual([request.method, request.path], ['POST', '/hook']);
    assert.equal(request.headers['x-service-event-id'], body.event_id);
    assert.equal(request.headers['content-type'], 'application/json');
    assert.ok(Math.abs(Number(request.headers['x-service-timestamp']) - Date.now() / 1000) < 5);
    assert.ok(isSignedWith(secret, request));
  });

  it('200: a test call is in no feed and in no list of deliveries, and is not retried after a failure', async () => {
    receiver.answerWith(() => 500);
    const begunAt = receiver.requests.length;
    assert.equal((await ping()).body.error, 'http_status');
    const feed = await service.call('GET', '/v1/third-party/events/', { headers: tenant.partner });
    assert.deepEqual(feed.body.results, []);
    assert.deepEqual(await listDeliveries(service, tenant), []);
    const { db } = service.database;
    for (const table of ['event', 'delivery'] as const) {
      const rows = await db.selectFrom(table).select('id').where('tenant_id', '=', tenant.tenantId).execute();
      assert.deepEqual(rows, [], table);
    }
    assert.equal(receiver.requests.length, begunAt + 1);
  });

  it('200: the field `error` of the outcome of a test call has the reason why the receiver failed', async () => {
    const cases: [Reaction, object][] = [
      [
        { status: 401, body: 'bad signature' },
        { http_status: 401, error: 'http_status', answer: 'bad signature' },
      ],
      ['reset', { http_status: null, error: 'connection_reset', answer: null }],
    ];
    for (const [reaction, expected] of cases) {
      receiver.answerWith(() => reaction);
      assert.deepEqual(await outcomeAt(receiver.url), expected);
    }
    receiver.answerWith(() => 'hang');
    const hasty = await startService({ beside: service, testCalls: { timeoutMs: SHORT_TIMEOUT_MS } });
    try {
      assert.deepEqual(await outcomeAt(receiver.url, hasty), { http_status: null, error: 'timeout', answer: null });
    } finally {
      await hasty.close();
    }
  });

  it('200: the outcome of a test call does not show the response of the receiver if private networks are allowed', async () => {
    receiver.answerWith(() => ({ status: 200, body: 'the secret page of a private server' }));
    const node = await startService({ beside: service });
    assert.deepEqual(await outcomeAt(receiver.url, node), { http_status: 200, error: null, answer: null });
    await node.close();
  });

  it('200: if private networks are not allowed, a test call to a private address fails without a connection', async () => {
    const node = await startService({ beside: service, config: { webhookAllowPrivateNetwork: false } });
    const opened = receiver.connectionCount;
    const refused = { http_status: null, error: 'address_refused', answer: null };
    assert.deepEqual(await outcomeAt(receiver.url, node), refused);
    assert.deepEqual(await outcomeAt(receiver.url.replace('127.0.0.1', 'localhost'), node), refused);
    assert.equal(receiver.connectionCount, opened);
    await node.close();
  });

  it('200: the audit trail names the person or the display that sent a test call, even if the receiver responded with status 500', async () => {
    receiver.answerWith(() => 500);
    const display = await openDisplay(service, tenant.tenantId, ['deliveries']);
    await ping();
    await ping({ headers: display.headers });
    const entries = await entriesOf(service, '/v1/staff/audit/', tenant.owner);
    const own = entries.filter(({ action }: { action: string }) => action === 'webhook.tested');
    const userId = await personId(service, tenant.tenantId, 'staff');
    const sent = receiver.requests.slice(-2).map(({ headers }) => headers['x-service-event-id']);
    assert.deepEqual(
      own.map(({ actor: { type, id }, subject, details }: AuditEntry) => ({ actor: { type, id }, subject, details })),
      [
        { type: 'display', id: display.displayId },
        { type: 'user', id: userId },
      ].map((actor, index) => ({
        actor,
        subject: tenant.credential.id,
        details: { webhook_url: receiver.url, event_id: sent.at(-1 - index) },
      })),
    );
  });

  it('200: when a process begins to stop, its running test call ends immediately, and this call and a later call have the error "aborted"', async () => {
    receiver.answerWith(() => 'hang');
    const stopping = new AbortController();
    const node = await startService({
      beside: service,
      stopping: stopping.signal,
      testCalls: { timeoutMs: LONG_TIMEOUT_MS },
    });
    const arrived = receiver.requests.length + 1;
    const waiting = ping({ node });
    await receiver.waitFor(arrived);
    const stoppedAtMs = performance.now();
    stopping.abort();
    const aborted = { http_status: null, error: 'aborted', answer: null };
    assert.deepEqual((await waiting).body, { ...aborted, duration_ms: (await waiting).body.duration_ms });
    const endedAfterMs = performance.now() - stoppedAtMs;
    assert.ok(endedAfterMs < LONG_TIMEOUT_MS / 10, `the call ended ${endedAfterMs} ms after the stop`);
    assert.deepEqual(await outcomeAt(receiver.url, node), aborted);
    await node.close();
  });

  it('404: a test call to an unknown or malformed credential id, or to a credential of another tenant, gets the same error', async () => {
    const stranger = await service.tenant();
    await register(service, stranger.partner, receiver.url);
    const arrived = receiver.requests.length;
    for (const id of [newId(), 'x', '%00', stranger.credential.id]) {
      const answer = await ping({ id });
      if (id === '%00') {
        assertError(answer, 400, 'invalid_request');
      } else {
        assertError(answer, 404, 'error');
        assert.equal(answer.body.message, 'No such credential.');
      }
    }
    assert.equal(receiver.requests.length, arrived);
  });

  it('409: a credential without a webhook, a revoked credential and a PMS credential get no test call', async () => {
    const { credential } = await service.credential(tenant.tenantId);
    await pmsHeaders(service, tenant);
    const pms = await service.call('GET', '/v1/channel-manager/credentials/', { headers: tenant.owner });
    const revoke = `/v1/third-party/credentials/${tenant.credential.id}/revoke/`;
    assert.equal((await service.call('POST', revoke, { headers: tenant.owner })).status, 200);
    const arrived = receiver.requests.length;
    for (const [id, reason] of [
      [credential.id, /has no webhook\. Register/],
      [tenant.credential.id, /is revoked/],
      [pms.body[0].id, /belongs to a PMS/],
    ] as const) {
      for (let call = 0; call < 8; call += 1) {
        const answer = await ping({ id });
        assertError(answer, 409, 'invalid_status_transition');
        assert.match(answer.body.message, reason);
      }
    }
    assert.equal(receiver.requests.length, arrived);
  });

  it('429: the seventh test call to a credential within a minute is refused, and a call to another credential is accepted', async () => {
    const begunAt = receiver.requests.length;
    for (let left = 5; left >= 0; left -= 1) {
      const { status, headers } = await ping({ headers: left % 2 === 0 ? tenant.staff : tenant.owner });
      assert.deepEqual([status, headers.get('x-ratelimit-remaining')], [200, String(left)]);
    }
    const refused = await ping();
    assertError(refused, 429, 'rate_limited');
    const seconds = Number(refused.headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
    assert.equal(receiver.requests.length, begunAt + 6);
    assert.equal((await outcomeAt(receiver.url)).http_status, 204);
  });

  it('429: while four test calls of a tenant hang, its fifth call is refused, and other tenants and deliveries do not wait', async (t) => {
    const other = await service.tenant();
    await register(service, other.partner, receiver.url);
    const hanging: Socket[] = [];
    const slow = await startReceiver({ answer: () => (socket) => hanging.push(socket) });
    t.after(() => slow.close());
    const node = await startService({ beside: service, testCalls: { timeoutMs: LONG_TIMEOUT_MS } });
    t.after(() => node.close());
    await register(service, tenant.partner, slow.url);
    const four = Promise.all(Array.from({ length: 4 }, () => ping({ node })));
    await slow.waitFor(4);
    const [fifth, ofOther] = await Promise.all([
      ping({ node }),
      ping({ node, headers: other.staff, id: other.credential.id }),
      causeEvent(service, other).then(() => onlyDelivery(service, other, 'delivered')),
    ]);
    assertError(fifth, 429, 'rate_limited');
    assert.equal(fifth.headers.get('retry-after'), '10');
    assert.equal(ofOther.body.http_status, 204);
    // The four calls get a response only now. So the calls and the delivery above did not wait for them.
    hanging.forEach((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
    assert.deepEqual(
      (await four).map(({ body }) => body.http_status),
      [204, 204, 204, 204],
    );
  });
});
