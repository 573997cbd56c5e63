import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { insertOrders } from '#test/support/orders.ts';
import { exchange } from '#test/support/raw-http.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';

const ORDERS = '/v1/third-party/orders/';

interface Page {
  count: number;
  next: string | null;
  previous: string | null;
  results: { external_order_id: string }[];
}

const service = await useService();

describe('pages of a list', () => {
  let tenant: TestTenant;
  let newestFirst: string[];
  before(async () => {
    tenant = await service.tenant();
    newestFirst = await insertOrders(service, tenant, 120);
  });

  const get = (query: string, headers: Record<string, string> = tenant.partner, path = ORDERS) =>
    service.call('GET', `${path}${query}`, { headers });

  async function page(query: string): Promise<Page> {
    const answer = await get(query);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.body), ['count', 'next', 'previous', 'results']);
    return answer.body as Page;
  }

  const idsOf = ({ results }: Page) => results.map((order) => order.external_order_id);

  it('200: a call without page and page_size gets a plain array of all entries, newest first', async () => {
    const all = (await get('')).body as Page['results'];
    assert.deepEqual(
      all.map((order) => order.external_order_id),
      newestFirst,
    );
  });

  it('200: page_size is 50 if only page is given, and page is 1 if only page_size is given', async () => {
    assert.deepEqual(await page('?page=1'), await page('?page=1&page_size=50'));
    assert.deepEqual(idsOf(await page('?page=3')), newestFirst.slice(100));
    assert.deepEqual(idsOf(await page('?page_size=7')), newestFirst.slice(0, 7));
    assert.deepEqual(idsOf(await page('?page_size=200')), newestFirst);
  });

  it('200: a client that follows the next link of each page reads the whole list, newest first', async () => {
    for (const size of [17, 40, 200]) {
      const found: string[] = [];
      for (let query: string | null = `?page=1&page_size=${size}`; query !== null; ) {
        const read = await page(query);
        found.push(...idsOf(read));
        assert.equal(read.count, 120);
        query = read.next === null ? null : new URL(read.next).search;
      }
      assert.deepEqual(found, newestFirst);
    }
  });

  it('200: next and previous are the URLs of the neighbouring pages, and null if there is no such page', async () => {
    const link = (number: number) => `${service.url}${ORDERS}?page=${number}&page_size=50`;
    const links = async (query: string) => {
      const { previous, next } = await page(query);
      return [previous, next];
    };
    assert.deepEqual(await links('?page=1'), [null, link(2)]);
    assert.deepEqual(await links('?page=2&page_size=50'), [link(1), link(3)]);
    assert.deepEqual(await links('?page=3'), [link(2), null]);
    assert.deepEqual(await links('?page_size=200'), [null, null]);
  });

  it('200: the next link keeps the other query parameters, and has no trailing slash if the request has none', async () => {
    const { next } = await page('?page=1&x=a%26b&y=%3F%23?&page_size=5&z=%E2%98%83');
    const { searchParams, origin, pathname } = new URL(next ?? '');
    assert.deepEqual([origin, pathname], [service.url, ORDERS]);
    assert.deepEqual(Object.fromEntries(searchParams), { page: '2', x: 'a&b', y: '?#?', page_size: '5', z: '☃' });
    const answer = await get('?page=1', tenant.partner, '/v1/third-party/orders');
    assert.equal(answer.body.next, `${service.url}/v1/third-party/orders?page=2&page_size=50`);
  });

  it('404: a page number after the last page is refused', async () => {
    for (const query of ['?page=4', '?page=121&page_size=1', '?page=2&page_size=200']) {
      const answer = await get(query);
      assert.deepEqual([answer.status, answer.body.code], [404, 'error'], query);
    }
  });

  it('200, 404: for an empty list, page 1 is returned without entries, and a request for page 2 gets 404', async () => {
    const { partner } = await service.credential(tenant.tenantId);
    const empty = { count: 0, next: null, previous: null, results: [] };
    assert.deepEqual((await get('?page=1', partner)).body, empty);
    assert.deepEqual((await get('?page_size=1', partner)).body, empty);
    assert.equal((await get('?page=2', partner)).status, 404);
  });

  it('200: the menu and the credentials have pages', async () => {
    for (const [path, headers] of [
      ['/v1/third-party/menu/', tenant.partner],
      ['/v1/third-party/credentials/', tenant.owner],
    ] as const) {
      const all = (await get('', headers, path)).body as unknown[];
      const { body } = await get('?page_size=1', headers, path);
      assert.deepEqual([body.count, body.results], [all.length, all.slice(0, 1)], path);
    }
  });
});

describe('the base URL of page links', () => {
  let tenant: TestTenant;
  before(async () => {
    tenant = await service.tenant();
    await insertOrders(service, tenant, 2);
  });

  /** Requests a list with these headers. Returns the part of the `next` link before the path, such as `http://inside.example:81`. */
  async function baseOf(node: TestService, headers: string, version = '1.1'): Promise<string> {
    const partner = Object.entries(tenant.partner).map(([name, value]) => `${name}: ${value}\r\n`);
    const [answer] = await exchange(
      node.url,
      `GET ${ORDERS}?page_size=1 HTTP/${version}\r\n${headers}${partner.join('')}Connection: close\r\n\r\n`,
    );
    assert.equal(answer?.status, 200, answer?.body);
    return (JSON.parse(answer.body) as { next: string }).next.replace(`${ORDERS}?page_size=1&page=2`, '');
  }

  async function nodeWith(config: object, check: (node: TestService) => Promise<void>): Promise<void> {
    const node = await startService({ beside: service, config });
    try {
      await check(node);
    } finally {
      await node.close();
    }
  }

  const forwarded = 'X-Forwarded-Host: outside.example\r\nX-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.1\r\n';

  it('page links begin with the Host header of the request if neither PUBLIC_URL nor a trusted proxy is configured', async () => {
    assert.equal(await baseOf(service, 'Host: inside.example:81\r\n'), 'http://inside.example:81');
    assert.equal(await baseOf(service, 'Host: [::1]:81\r\n'), 'http://[::1]:81');
  });

  it('page links begin with the address on which the service listens if the Host header is missing or empty', async () => {
    assert.equal(await baseOf(service, '', '1.0'), service.url);
    assert.equal(await baseOf(service, 'Host:\r\n'), service.url);
  });

  it('if PUBLIC_URL is set, page links begin with it, including its path, even if a trusted proxy forwards another host', () =>
    nodeWith({ publicUrl: 'https://api.example.org/base', trustedProxies: ['127.0.0.1'] }, async (node) => {
      assert.equal(await baseOf(node, 'Host: inside.example\r\n'), 'https://api.example.org/base');
      assert.equal(await baseOf(node, `Host: inside.example\r\n${forwarded}`), 'https://api.example.org/base');
    }));

  it('page links begin with the forwarded host and protocol only if a trusted proxy has forwarded the request', async () => {
    const headers = `Host: inside.example\r\n${forwarded}`;
    assert.equal(await baseOf(service, headers), 'http://inside.example');
    await nodeWith({ trustedProxies: ['192.0.2.7', '10.0.0.0/8'] }, async (node) => {
      assert.equal(await baseOf(node, headers), 'http://inside.example');
    });
    await nodeWith({ trustedProxies: ['192.0.2.7', '127.0.0.0/8'] }, async (node) => {
      assert.equal(await baseOf(node, headers), 'https://outside.example');
      assert.equal(await baseOf(node, 'Host: inside.example\r\n'), 'http://inside.example');
    });
  });

  it('page links use the last forwarded host and protocol, and ignore a forwarded text that is no host or no protocol of HTTP', () =>
    nodeWith({ trustedProxies: ['127.0.0.1'] }, async (node) => {
      const base = (host: string, proto: string) =>
        baseOf(node, `Host: inside.example\r\nX-Forwarded-Host: ${host}\r\nX-Forwarded-Proto: ${proto}\r\n`);
      assert.equal(await base('a.example, b.example:8443', 'http, HTTPS'), 'https://b.example:8443');
      assert.equal(await base('[2001:db8::1]:81', ''), 'http://[2001:db8::1]:81');
      for (const host of ['', 'a.example,', 'outside.example/path', 'a b', 'user@outside.example']) {
        assert.equal(await base(host, 'https'), 'https://inside.example', host);
      }
      for (const proto of ['javascript', 'https:', 'on', 'https,']) {
        assert.equal(await base('outside.example', proto), 'http://outside.example', proto);
      }
    }));
});
