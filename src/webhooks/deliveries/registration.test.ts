import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { causeEvent, isSignedWith, register } from '#test/support/webhooks.ts';

const PATH = '/v1/third-party/webhook/';
const URL_A = 'https://partner.example/hooks/a';
const URL_B = 'https://partner.example/hooks/b';

describe('POST /v1/third-party/webhook/', () => {
  let service: TestService;
  let receiver: Receiver;

  before(async () => {
    service = await startService({ worker: true });
    receiver = await startReceiver();
  });
  after(async () => {
    await service.close();
    await receiver.close();
  });

  /**
   * Causes an event, and returns the secret in `secrets` that signed its delivery. Returns undefined if another secret signed the delivery.
   */
  async function signingSecret(tenant: TestTenant, secrets: string[]): Promise<string | undefined> {
    const { externalId } = await causeEvent(service, tenant);
    for (let count = 1; ; count += 1) {
      const requests = await receiver.waitFor(count);
      const request = requests[count - 1];
      if (request?.rawBody.includes(externalId)) {
        return secrets.find((secret) => isSignedWith(secret, request));
      }
    }
  }

  async function registeredUrl(tenant: TestTenant): Promise<string> {
    const answer = await service.call('GET', '/v1/third-party/credentials/', { headers: tenant.owner });
    return answer.body.find((credential: { id: string }) => credential.id === tenant.credential.id).webhook_url;
  }

  it('200: the response to the first registration of a webhook has exactly the URL and a new secret', async () => {
    const tenant = await service.tenant();
    assert.equal(await registeredUrl(tenant), '');
    const answer = await service.call('POST', PATH, { headers: tenant.partner, json: { webhook_url: URL_A } });
    assert.equal(answer.status, 200);
    const { webhook_secret: secret } = answer.body;
    assert.deepEqual(answer.body, { webhook_url: URL_A, webhook_secret: secret });
    assert.match(secret, /^[\w-]{43,}$/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(await registeredUrl(tenant), URL_A);
  });

  it('200: a URL with letters outside ASCII is registered as it was sent, and the owner sees it as a URI', async () => {
    const tenant = await service.tenant();
    const json = { webhook_url: 'https://bücher.example/größe?ü=ß' };
    const answers = [];
    for (let time = 1; time <= 2; time += 1) {
      answers.push((await service.call('POST', PATH, { headers: tenant.partner, json })).body);
    }
    assert.deepEqual(
      answers.map(({ webhook_url: url }) => url),
      [json.webhook_url, json.webhook_url],
    );
    assert.equal(answers[1].webhook_secret, '', 'the same URL keeps its secret');
    assert.equal(await registeredUrl(tenant), 'https://xn--bcher-kva.example/gr%C3%B6%C3%9Fe?%C3%BC=%C3%9F');
  });

  it('200: registering the same URL again returns an empty secret, and deliveries are still signed with the first secret', async () => {
    const tenant = await service.tenant();
    const secret = await register(service, tenant.partner, receiver.url);
    const again = await service.call('POST', PATH, { headers: tenant.partner, json: { webhook_url: receiver.url } });
    assert.equal(again.status, 200);
    assert.deepEqual(again.body, { webhook_url: receiver.url, webhook_secret: '' });
    assert.equal(await signingSecret(tenant, [secret]), secret);
  });

  it('200: registering another URL returns a new secret, and registering the first URL again returns a third secret', async () => {
    const tenant = await service.tenant();
    const first = await register(service, tenant.partner, receiver.url);
    const second = await register(service, tenant.partner, URL_B);
    const third = await register(service, tenant.partner, receiver.url);
    assert.equal(new Set([first, second, third, '']).size, 4);
    assert.equal(await signingSecret(tenant, [first, second, third]), third);
  });

  it('200: if one URL is registered eight times at the same time, one response has the signing secret, and seven have an empty secret', async () => {
    const tenant = await service.tenant();
    const secrets = await Promise.all(Array.from({ length: 8 }, () => register(service, tenant.partner, receiver.url)));
    const shown = secrets.filter((secret) => secret !== '');
    assert.equal(shown.length, 1);
    assert.equal(await signingSecret(tenant, shown), shown[0]);
  });

  it('200: if two URLs are registered at the same time, one URL is kept, and deliveries to it are signed with its own secret', async () => {
    const tenant = await service.tenant();
    const [here, elsewhere] = await Promise.all([
      register(service, tenant.partner, receiver.url),
      register(service, tenant.partner, URL_A),
    ]);
    assert.notEqual(here, elsewhere);
    const registered = await registeredUrl(tenant);
    assert.ok([receiver.url, URL_A].includes(registered));
    if (registered === receiver.url) {
      assert.equal(await signingSecret(tenant, [here, elsewhere]), here);
    }
  });

  it('200: two credentials of a tenant have separate webhooks, with different secrets', async () => {
    const tenant = await service.tenant();
    const { partner: other } = await service.credential(tenant.tenantId);
    const secret = await register(service, tenant.partner, receiver.url);
    const otherSecret = await register(service, other, receiver.url);
    assert.notEqual(otherSecret, '');
    assert.notEqual(otherSecret, secret);
    await register(service, other, URL_B);
    assert.equal(await signingSecret(tenant, [secret, otherSecret]), secret);
  });

  it('200: a partner can register a webhook if its tenant has the restaurant feature, the hotel feature, both or no feature', async () => {
    for (const features of [['restaurant'], ['hotel'], ['restaurant', 'hotel'], []] as ('restaurant' | 'hotel')[][]) {
      const tenant = await service.tenant({ features });
      assert.notEqual(await register(service, tenant.partner, URL_A), '', features.join());
    }
  });

  it('200: the database does not contain the webhook secret in plain text', async () => {
    const tenant = await service.tenant();
    const secret = await register(service, tenant.partner, URL_A);
    const row = await service.database.db
      .selectFrom('credential')
      .select('webhook_secret')
      .where('tenant_id', '=', tenant.tenantId)
      .where('id', '=', tenant.credential.id)
      .executeTakeFirstOrThrow();
    assert.ok((row.webhook_secret?.length ?? 0) > secret.length);
    assert.equal(row.webhook_secret?.includes(secret), false);
  });

  it('400: an invalid webhook URL is refused, the message names the field, and the previous URL stays registered', async () => {
    const tenant = await service.tenant();
    await register(service, tenant.partner, URL_A);
    const refused: unknown[] = [
      'http://partner.example/hook',
      'ftp://partner.example/hook',
      'partner.example/hook',
      'https://',
      'https://user:password@partner.example/hook',
      'https://partner.example/hook#here',
      'https://partner.example/ho ok',
      `https://partner.example/${'x'.repeat(2_048)}`,
      '',
      42,
      null,
      ['https://partner.example/hook'],
      undefined,
    ];
    for (const webhookUrl of refused) {
      const json = { webhook_url: webhookUrl };
      const answer = await service.call('POST', PATH, { headers: tenant.partner, json });
      assert.equal(answer.status, 400, String(webhookUrl));
      assert.deepEqual(Object.keys(answer.body), ['code', 'message']);
      assert.equal(answer.body.code, 'invalid_request');
      assert.match(answer.body.message, /^webhook_url: \S[^|]*$/);
    }
    assert.equal(await registeredUrl(tenant), URL_A);
  });

  it('200, 400: with WEBHOOK_ALLOW_PRIVATE_NETWORK=false, a webhook URL may have port 443 or 1024, but not port 80 or 1023', async (t) => {
    const publicOnly = await startService({ beside: service, config: { webhookAllowPrivateNetwork: false } });
    t.after(() => publicOnly.close());
    const tenant = await service.tenant();
    for (const [port, status] of [
      [80, 400],
      [1_023, 400],
      [443, 200],
      [1_024, 200],
    ] as const) {
      const json = { webhook_url: `https://partner.example:${port}/hook` };
      const answer = await publicOnly.call('POST', PATH, { headers: tenant.partner, json });
      assert.equal(answer.status, status, answer.text);
    }
  });
});
