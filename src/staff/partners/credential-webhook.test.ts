import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { assertError } from '#test/support/answers.ts';
import { eventOf, insertEvents, readEvents } from '#test/support/feed.ts';
import { type ReceiverOptions, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { causeEvent, eventually, isSignedWith, onlyDelivery, register } from '#test/support/webhooks.ts';
import { entriesOf } from '#test/support/lists.ts';

const URL_A = 'https://partner.example/hooks/a';
const URL_B = 'https://partner.example/hooks/b';

let service: TestService;
let tenant: TestTenant;
before(async () => {
  // A retry waits for a minute, so a delivery stays pending after its first attempt has failed.
  service = await startService({ worker: { drawWaitMs: () => 60_000 } });
});
beforeEach(async () => {
  tenant = await service.tenant();
});
after(() => service.close());

const pathOf = (id = tenant.credential.id) => `/v1/staff/credentials/${id}/webhook/`;
const set = (url: unknown, { id = tenant.credential.id, headers = tenant.owner } = {}) =>
  service.call('POST', pathOf(id), { headers, json: { webhook_url: url } });
const remove = ({ id = tenant.credential.id, headers = tenant.owner } = {}) =>
  service.call('POST', `${pathOf(id)}remove/`, { headers });

async function open(t: TestContext, answer?: ReceiverOptions['answer']) {
  const receiver = await startReceiver(answer === undefined ? {} : { answer });
  t.after(() => receiver.close());
  return receiver;
}

async function listedUrl(): Promise<string> {
  const { body } = await service.call('GET', '/v1/staff/credentials/', { headers: tenant.owner });
  return body.find(({ id }: { id: string }) => id === tenant.credential.id).webhook_url;
}

async function auditOf(action: string) {
  const body = await entriesOf(service, '/v1/staff/audit/', tenant.owner);
  return body.filter((entry: { action: string }) => entry.action === action);
}

async function makePmsCredential(): Promise<string> {
  const made = await service.call('POST', '/v1/channel-manager/credentials/', { headers: tenant.owner });
  return made.body.id;
}

const revoke = (id = tenant.credential.id) =>
  service.call('POST', `/v1/third-party/credentials/${id}/revoke/`, { headers: tenant.owner });

describe('POST /v1/staff/credentials/{id}/webhook/', () => {
  it('200: an owner who sets a webhook URL gets a new secret, which signs the deliveries, and the audit trail has the URL', async (t) => {
    const receiver = await open(t);
    const answer = await set(receiver.url);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.body), ['webhook_url', 'webhook_secret']);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    await causeEvent(service, tenant);
    const [request] = await receiver.waitFor(1);
    assert.ok(request && isSignedWith(answer.body.webhook_secret, request));
    assert.equal(await listedUrl(), receiver.url);
    const [entry] = await auditOf('webhook.registered');
    assert.deepEqual(
      [entry.actor.type, entry.subject, entry.details],
      ['user', tenant.credential.id, { webhook_url: receiver.url }],
    );
    assert.ok(!JSON.stringify(entry).includes(answer.body.webhook_secret));
  });

  it('200: the response has an empty secret for the URL that the partner has registered already, and a new secret for another URL', async () => {
    const first = await register(service, tenant.partner, URL_A);
    const again = await set(URL_A);
    assert.deepEqual([again.status, again.body], [200, { webhook_url: URL_A, webhook_secret: '' }]);
    const second = (await set(URL_B)).body.webhook_secret;
    assert.ok(second !== '' && second !== first);
    assert.equal(await register(service, tenant.partner, URL_B), '');
    assert.equal((await auditOf('webhook.registered')).length, 2);
  });

  it('200: the owner may set a webhook even if the tenant has no restaurant or no hotel', async () => {
    for (const features of [['hotel'], ['restaurant'], []] as ('hotel' | 'restaurant')[][]) {
      const other = await service.tenant({ features });
      assert.equal((await set(URL_A, { id: other.credential.id, headers: other.owner })).status, 200);
    }
  });

  it("400: an invalid webhook URL gets the same message as in the partner's own registration, and the previous URL stays", async () => {
    await set(URL_A);
    const refused = [
      'http://partner.example/hook',
      'partner.example/hook',
      'https://user:password@partner.example/hook',
      'https://partner.example/hook#here',
      `https://partner.example/${'x'.repeat(2_048)}`,
      '',
      42,
      null,
      undefined,
    ];
    for (const url of refused) {
      const message = assertError(await set(url), 400, 'invalid_request');
      const own = await service.call('POST', '/v1/third-party/webhook/', {
        headers: tenant.partner,
        json: { webhook_url: url },
      });
      assert.equal(message, own.body.message);
      assert.match(message, /^webhook_url: /);
    }
    assert.equal(await listedUrl(), URL_A);
  });

  it('400: a webhook URL with a port below 1024 other than 443 is refused if private networks are not allowed', async (t) => {
    const publicOnly = await startService({ beside: service, config: { webhookAllowPrivateNetwork: false } });
    t.after(() => publicOnly.close());
    const json = { webhook_url: 'https://partner.example:80/hook' };
    assertError(await publicOnly.call('POST', pathOf(), { headers: tenant.owner, json }), 400, 'invalid_request');
  });

  it('409: the webhook of a PMS credential or of a revoked credential can be neither set nor removed', async () => {
    await set(URL_A);
    await revoke();
    const pms = await makePmsCredential();
    for (const [id, reason] of [
      [tenant.credential.id, /revoked/],
      [pms, /PMS/],
    ] as const) {
      assert.match(assertError(await set(URL_B, { id }), 409, 'invalid_status_transition'), reason);
      assert.match(assertError(await remove({ id }), 409, 'invalid_status_transition'), reason);
    }
    assert.equal(await listedUrl(), URL_A);
  });
});

describe('POST /v1/staff/credentials/{id}/webhook/remove/', () => {
  it('200: the removal of a webhook clears its URL, new events are only in the feed, and the audit trail has the removed URL', async () => {
    await set(URL_A);
    const answer = await remove();
    assert.equal(answer.status, 200, answer.text);
    const { body: list } = await service.call('GET', '/v1/staff/credentials/', { headers: tenant.owner });
    assert.deepEqual([answer.body.webhook_url, [answer.body]], ['', list]);
    await causeEvent(service, tenant);
    const { results } = await readEvents(service, tenant.partner);
    assert.deepEqual(
      results.map(({ delivery }) => delivery),
      [null],
    );
    const [entry] = await auditOf('webhook.removed');
    assert.deepEqual([entry.actor.type, entry.details], ['user', { webhook_url: URL_A }]);
  });

  it('200: removing the webhook of a credential without a URL changes nothing, and writes no audit entry', async () => {
    for (let times = 0; times < 2; times += 1) {
      const answer = await remove();
      assert.deepEqual([answer.status, answer.body.webhook_url], [200, '']);
    }
    assert.deepEqual(await auditOf('webhook.removed'), []);
  });

  it('200: the removal of a webhook stops a delivery that waits for its retry, and a new URL does not get this delivery', async (t) => {
    const receiver = await open(t, () => 500);
    await set(receiver.url);
    await causeEvent(service, tenant);
    await eventually(async () => {
      const delivery = await onlyDelivery(service, tenant, 'pending');
      return delivery.attempts[0]?.error === 'http_status';
    }, 'a failed attempt');
    const answer = await remove();
    assert.deepEqual([answer.status, answer.body.deliveries.pending], [200, 0]);
    const next = await open(t);
    await set(next.url);
    const stopped = await onlyDelivery(service, tenant, 'stopped');
    assert.equal(stopped.attempts.length, 1);
    await causeEvent(service, tenant);
    await next.waitFor(1);
    assert.ok(!next.requests.some(({ rawBody }) => rawBody.includes(stopped.event_id)));
  });

  for (const [status, expected] of [
    [500, 'stopped'],
    [204, 'delivered'],
  ] as const) {
    it(`200: if a webhook is removed during an attempt, and the receiver then answers ${status}, the delivery is ${expected}`, async (t) => {
      let finish = () => {};
      const receiver = await open(t, () => (socket) => {
        finish = () => void socket.end(`HTTP/1.1 ${status} Done\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      });
      await set(receiver.url);
      await causeEvent(service, tenant);
      await receiver.waitFor(1);
      assert.equal((await remove()).status, 200);
      assert.equal((await onlyDelivery(service, tenant, 'stopped')).attempts[0]?.error, 'no_outcome');
      finish();
      const delivery = await eventually(async () => {
        const one = await onlyDelivery(service, tenant, expected);
        return one.attempts[0]?.error !== 'no_outcome' && one;
      }, 'an outcome');
      assert.deepEqual([delivery.attempts.length, delivery.attempts[0]?.http_status], [1, status]);
    });
  }

  it('200: the removal of a webhook stops 2,300 pending deliveries of its credential, but no delivery of another credential', async () => {
    await set(URL_A);
    const other = await service.credential(tenant.tenantId);
    const later = new Date(Date.now() + 3_600_000);
    const pending = { delivery: { status: 'pending', next_attempt_at: later } };
    await insertEvents(service.database.db, [
      ...Array.from({ length: 2_300 }, () => eventOf(tenant, pending)),
      eventOf(tenant, { delivery: { status: 'failed', next_attempt_at: later } }),
      eventOf(tenant, { ...pending, credential_id: other.credential.id }),
    ]);
    const { status, body } = await remove();
    assert.deepEqual([status, body.deliveries.pending, body.deliveries.failed], [200, 0, 1]);
    const { body: list } = await service.call('GET', '/v1/staff/credentials/', { headers: tenant.owner });
    assert.equal(list[0].deliveries.pending, 1);
    const stopped = await service.database.db
      .selectFrom('delivery')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('tenant_id', '=', tenant.tenantId)
      .where('status', '=', 'stopped')
      .executeTakeFirstOrThrow();
    assert.equal(stopped.count, 2_300);
  });

  it('if a worker finds a due delivery after the URL of its credential was removed, the worker stops the delivery', async () => {
    await set(URL_A);
    await remove();
    await insertEvents(service.database.db, [eventOf(tenant, { delivery: { status: 'pending' } })]);
    const { attempts } = await onlyDelivery(service, tenant, 'stopped');
    assert.deepEqual(attempts, []);
  });
});
