import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { startService, type TestService } from '../../test/support/service.ts';
import { Roomservice, RoomservicePms } from '../src/index.ts';
import { VERSION } from '../src/version.ts';
import { type Front, startFront } from './front.ts';
import { collect, failureOf, type House, openHouse, water } from './house.ts';

const apiKey = 'the-key-of-this-test';
const apiSecret = 'the-secret-of-this-test';

let service: TestService;
let front: Front;
let house: House;

before(async () => {
  service = await startService();
  front = await startFront(service.url);
  house = await openHouse(service);
});

beforeEach(() => front.failNext());

after(async () => {
  await front.close();
  await service.close();
});

/** All that a log could show of something. */
function shown(thing: unknown): string {
  return inspect(thing, { depth: Infinity, showHidden: true, getters: true }) + JSON.stringify(thing) + String(thing);
}

describe('key and secret', () => {
  test('are not shown by a client', () => {
    const options = { baseUrl: 'https://api.example.com', apiKey, apiSecret };
    for (const client of [new Roomservice(options), new RoomservicePms(options)]) {
      assert.ok(!shown(client).includes(apiSecret));
      assert.ok(!shown(client).includes(apiKey));
    }
  });

  test('are not shown by any error', async () => {
    const client = new Roomservice({ baseUrl: front.url, apiKey, apiSecret, maxRetries: 0 });
    const nowhere = new Roomservice({ baseUrl: 'http://127.0.0.1:1', apiKey, apiSecret, maxRetries: 0 });
    const errors = [await failureOf(client.menu.list()), await failureOf(nowhere.menu.list())];
    for (const fault of ['cut', 'hang', { status: 500 }, { status: 200, body: 'no JSON' }] as const) {
      front.failNext(fault);
      errors.push(await failureOf(client.menu.list({ timeoutMs: 100 })));
    }
    for (const error of errors) {
      assert.ok(!shown(error).includes(apiSecret), shown(error));
      assert.ok(!shown(error).includes(apiKey), shown(error));
    }
  });

  test('are not shown where they are refused for what no header may hold', () => {
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

  test('do not go along with a redirect', async () => {
    const elsewhere = await startFront(service.url);
    try {
      for (const status of [301, 302, 303, 307, 308]) {
        front.failNext({ status, headers: { location: `${elsewhere.url}/v1/third-party/menu/` } });
        const error = await failureOf(house.client({ baseUrl: front.url }).menu.list());
        assert.deepEqual([error.status, error.code, error.attempts], [status, 'unexpected_answer', 1]);
      }
      assert.deepEqual(elsewhere.requests, []);
    } finally {
      await elsewhere.close();
    }
  });

  test('do not go along with a link to the next page', async () => {
    const client = house.client({ baseUrl: front.url });
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

describe('the base URL', () => {
  const client = (baseUrl: string, allowPlainHttp?: boolean) =>
    new Roomservice({ baseUrl, apiKey, apiSecret, allowPlainHttp });

  test('is https, or http on this machine, unless that is allowed', () => {
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

  test('holds nothing but an origin and a path', () => {
    for (const url of ['', 'api.example.com', 'https://a:b@example.com', 'https://example.com/?a', 'https://x/#a']) {
      assert.throws(() => client(url), { name: 'TypeError', message: /^baseUrl: / });
    }
  });

  test('may end with a slash, and have a path', async () => {
    await house.client({ baseUrl: `${front.url}/` }).menu.list();
    assert.equal(front.requests.at(-1), 'GET /v1/third-party/menu/');
    await failureOf(house.client({ baseUrl: `${front.url}/api/` }).menu.list());
    assert.equal(front.requests.at(-1), 'GET /api/v1/third-party/menu/');
  });
});

describe('an answer that is not of Roomservice', () => {
  for (const answer of [
    { status: 200, body: '<html>' },
    { status: 200, body: 'null' },
    { status: 200, body: '"OK"' },
    { status: 204 },
    { status: 404, body: 'no such page' },
    { status: 403, body: '"no"' },
  ]) {
    test(`${answer.status} ${answer.body ?? 'without a body'} is unexpected_answer`, async () => {
      front.failNext(answer);
      const error = await failureOf(house.client({ baseUrl: front.url }).menu.list());
      assert.deepEqual([error.status, error.code, error.attempts], [answer.status, 'unexpected_answer', 1]);
    });
  }
});

test('a page that is none is unexpected_answer', async () => {
  for (const body of ['{"foo":1}', '[]', '{"next":null,"results":7}']) {
    front.failNext({ status: 200, body });
    const error = await failureOf(house.client({ baseUrl: front.url }).orders.list().next());
    assert.deepEqual([error.status, error.code], [200, 'unexpected_answer'], body);
  }
});

test('a request says which SDK sent it', async () => {
  await house.client({ baseUrl: front.url }).menu.list();
  assert.equal(front.headers()['user-agent'], `roomservice-sdk/${VERSION} node/${process.versions.node}`);
});
