import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { useService } from '../../test/support/shared-service.ts';
import { Roomservice, RoomservicePms } from '../src/index.ts';
import { VERSION } from '../src/version.ts';
import { startFaultProxy } from './front.ts';
import { collect, failureOf, openPartnerTenant, water } from './partner-tenant.ts';

const apiKey = 'the-key-of-this-test';
const apiSecret = 'the-secret-of-this-test';

const service = await useService();
const front = await startFaultProxy(service.url);
const tenant = await openPartnerTenant(service);

beforeEach(() => front.failNext());

after(() => front.close());

/** Returns one text with the three forms in which a log could show the value: the output of `inspect`, JSON and a string. */
function shown(value: unknown): string {
  return inspect(value, { depth: Infinity, showHidden: true, getters: true }) + JSON.stringify(value) + String(value);
}

describe('API key and secret', () => {
  test('a client that is written to a log does not show its API key or secret, in any text form', () => {
    const options = { baseUrl: 'https://api.example.com', apiKey, apiSecret };
    for (const client of [new Roomservice(options), new RoomservicePms(options)]) {
      assert.ok(!shown(client).includes(apiSecret));
      assert.ok(!shown(client).includes(apiKey));
    }
  });

  test('an error after a refusal, a bad response or a network fault does not show the API key or secret in any text form', async () => {
    const client = new Roomservice({ baseUrl: front.url, apiKey, apiSecret, maxRetries: 0 });
    const unreachable = new Roomservice({ baseUrl: 'http://127.0.0.1:1', apiKey, apiSecret, maxRetries: 0 });
    const errors = [await failureOf(client.menu.list()), await failureOf(unreachable.menu.list())];
    for (const fault of ['cut', 'hang', { status: 500 }, { status: 200, body: 'no JSON' }] as const) {
      front.failNext(fault);
      errors.push(await failureOf(client.menu.list({ timeoutMs: 100 })));
    }
    for (const error of errors) {
      assert.ok(!shown(error).includes(apiSecret), shown(error));
      assert.ok(!shown(error).includes(apiKey), shown(error));
    }
  });

  test('a client refuses an API key or secret that is empty or has a space or line break, with an error that shows neither key nor secret', () => {
    for (const wrong of [{ apiSecret: `${apiSecret}\n` }, { apiKey: `${apiKey} ` }, { apiSecret: '' }]) {
      assert.throws(
        () => new Roomservice({ baseUrl: front.url, apiKey, apiSecret, ...wrong }),
        (error) => {
          assert.ok(error instanceof TypeError && !shown(error).includes('of-this-test'));
          return true;
        },
      );
    }
  });

  test('a redirect is not followed, so the API key and secret are not sent to its target', async () => {
    const target = await startFaultProxy(service.url);
    try {
      for (const status of [301, 302, 303, 307, 308]) {
        front.failNext({ status, headers: { location: `${target.url}/v1/third-party/menu/` } });
        const error = await failureOf(tenant.client({ baseUrl: front.url }).menu.list());
        assert.deepEqual([error.status, error.code, error.attempts], [status, 'unexpected_answer', 1]);
      }
      assert.deepEqual(target.requests, []);
    } finally {
      await target.close();
    }
  });

  test('a next-page link to another address is not followed, so the API key and secret are not sent there', async () => {
    const client = tenant.client({ baseUrl: front.url });
    const [second, first] = [await client.orders.create(water()), await client.orders.create(water())];
    const body = JSON.stringify({ count: 2, next: 'http://127.0.0.1:1/', previous: null, results: [first] });
    front.failNext({ status: 200, body });
    const listed = await collect(client.orders.list({ page_size: 1 }));
    assert.deepEqual(
      listed.map(({ order_id: id }) => id),
      [first.order_id, second.order_id],
    );
    assert.equal(front.requests.at(-1), 'GET /v1/third-party/orders/?page=2&page_size=1');
  });
});

describe('the option baseUrl', () => {
  const client = (baseUrl: string, allowPlainHttp?: boolean) =>
    new Roomservice({ baseUrl, apiKey, apiSecret, allowPlainHttp });

  test('http to another machine is refused unless allowPlainHttp is true, and schemes other than http and https are always refused', () => {
    for (const url of ['https://api.example.com', 'http://localhost:8080', 'http://127.0.0.1:1', 'http://[::1]:1']) {
      client(url);
    }
    const plain = ['http://api.example.com', 'http://localhost.example.com', 'http://127.0.0.1.example.com', 'ftp://x'];
    for (const url of plain) {
      assert.throws(() => client(url), { name: 'TypeError', message: /^baseUrl: must be https/ });
    }
    client('http://10.0.0.7', true);
    assert.throws(() => client('ftp://x', true), { name: 'TypeError' });
  });

  test('a baseUrl that is empty, has no scheme, or has a user name, a query or a fragment, is refused', () => {
    for (const url of ['', 'api.example.com', 'https://a:b@example.com', 'https://example.com/?a', 'https://x/#a']) {
      assert.throws(() => client(url), { name: 'TypeError', message: /^baseUrl: / });
    }
  });

  test('a baseUrl may have a path and end with a slash', async () => {
    await tenant.client({ baseUrl: `${front.url}/` }).menu.list();
    assert.equal(front.requests.at(-1), 'GET /v1/third-party/menu/');
    await failureOf(tenant.client({ baseUrl: `${front.url}/api/` }).menu.list());
    assert.equal(front.requests.at(-1), 'GET /api/v1/third-party/menu/');
  });
});

describe('a response that does not come from Roomservice', () => {
  for (const answer of [
    { status: 200, body: '<html>' },
    { status: 200, body: 'null' },
    { status: 200, body: '"OK"' },
    { status: 204 },
    { status: 404, body: 'no such page' },
    { status: 403, body: '"no"' },
  ]) {
    const body = answer.body === undefined ? 'without a body' : `with the body ${answer.body}`;
    test(`${answer.status}: a call that gets a response ${body} fails with unexpected_answer`, async () => {
      front.failNext(answer);
      const error = await failureOf(tenant.client({ baseUrl: front.url }).menu.list());
      assert.deepEqual([error.status, error.code, error.attempts], [answer.status, 'unexpected_answer', 1]);
    });
  }
});

test('200: reading a list fails with unexpected_answer if a response is not a page of the list', async () => {
  for (const body of ['{"foo":1}', '[]', '{"next":null,"results":7}']) {
    front.failNext({ status: 200, body });
    const error = await failureOf(tenant.client({ baseUrl: front.url }).orders.list().next());
    assert.deepEqual([error.status, error.code], [200, 'unexpected_answer'], body);
  }
});

test('a request names the versions of the SDK and of Node in its user-agent header', async () => {
  await tenant.client({ baseUrl: front.url }).menu.list();
  assert.equal(front.headers()['user-agent'], `roomservice-sdk/${VERSION} node/${process.versions.node}`);
});
