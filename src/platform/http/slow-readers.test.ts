import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { assertError } from '#test/support/answers.ts';
import { insertOrders } from '#test/support/orders.ts';
import { openConnection, type RawConnection } from '#test/support/raw-http.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';

const ORDERS = '/v1/third-party/orders/';
const STAFF_ORDERS = '/v1/staff/orders/';
const STAFF_MENU = '/v1/staff/menu/';
const READERS = { maxWaiting: 3, overMs: 1_500, longestMs: 6_000, checkEveryMs: 50 };

describe('clients that read long lists slowly', () => {
  const lines: string[] = [];
  let service: TestService;
  let tenant: TestTenant;
  const connections: RawConnection[] = [];
  before(async () => {
    service = await startService({ readers: READERS, onLog: (line) => lines.push(line) });
    tenant = await service.tenant();
    // The list has 16 MB, and the socket buffers hold far less. So the service must stop sending when the client stops reading.
    await insertOrders(service, tenant, 2_000);
    await sql`UPDATE restaurant_order SET notes = repeat('n', 8000)`.execute(service.database.db);
  });
  afterEach(() => connections.splice(0).forEach(({ socket }) => socket.destroy()));
  after(() => service.close());

  /** Opens a connection and requests a list. The client reads the first bytes of the response, and then stops reading. */
  async function openSlowReader(headers: Record<string, string> = tenant.staff, path = STAFF_ORDERS) {
    const connection = openConnection(service.url);
    connections.push(connection);
    const first = once(connection.socket, 'data').then(() => connection.socket.pause());
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    connection.send(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${head.join('')}\r\n`);
    await first;
    return connection;
  }

  const list = (headers = tenant.staff, path = STAFF_ORDERS) => service.call('GET', path, { headers });
  const cuts = () => lines.filter((line) => line.includes('list response cut off'));
  async function until(isTrue: () => boolean): Promise<void> {
    for (const deadline = Date.now() + 15_000; !isTrue() && Date.now() < deadline; ) await sleep(10);
    assert.ok(isTrue());
  }

  it('429, 200: a user who reads none of three list responses gets no further list until one of the connections is closed', async () => {
    const readers = await Promise.all(Array.from({ length: 3 }, () => openSlowReader()));
    await sleep(300); // In this time, the service fills the socket buffers, and the responses then wait.
    for (const path of [STAFF_ORDERS, `${STAFF_ORDERS}?page_size=1`]) {
      const refused = await list(tenant.staff, path);
      assert.match(assertError(refused, 429, 'rate_limited'), /^3 list responses are not read to their end\. /);
      assert.equal(refused.headers.get('retry-after'), '2');
    }
    readers[0]?.socket.destroy();
    const again = await list(tenant.staff, `${STAFF_ORDERS}?page_size=1`);
    assert.deepEqual([again.status, again.body.count], [200, 2_000]);
  });

  it('429: a user with three unread list responses can neither get nor replace the menu document, because both calls return the whole menu', async () => {
    await Promise.all(Array.from({ length: 3 }, () => openSlowReader()));
    await sleep(300);
    assertError(await service.call('GET', STAFF_MENU, { headers: tenant.staff }), 429, 'rate_limited');
    const replacing = { headers: tenant.staff, json: { dishes: [] } };
    assertError(await service.call('PUT', STAFF_MENU, replacing), 429, 'rate_limited');
    const { dishes } = (await list(tenant.owner, STAFF_MENU)).body;
    assert.ok(dishes.length > 0, 'the refused menu was not applied');
  });

  it('200: while a user leaves three list responses unread, other users and partners get lists, and the user can read one order', async () => {
    await Promise.all(Array.from({ length: 3 }, () => openSlowReader()));
    await sleep(300);
    assert.equal((await list(tenant.owner)).status, 200);
    assert.equal((await list(tenant.partner, ORDERS)).body.length, 2_000);
    assert.equal((await list(tenant.partner, `${ORDERS}?page_size=1`)).status, 200);
    const [{ order_id: orderId }] = (await list(tenant.owner)).body;
    assert.equal((await list(tenant.staff, `${STAFF_ORDERS}${orderId}/`)).status, 200);
  });

  it('200: twelve concurrent lists of one credential arrive complete if their client reads all of them', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => list(tenant.partner, ORDERS)));
    assert.deepEqual([...new Set(answers.map(({ status, body }) => `${status} ${body.length}`))], ['200 2000']);
  });

  it('200: if a user leaves three list responses unread, the service cuts off these responses after the time limit, and then sends the user another list', async () => {
    const cutEarlier = cuts().length;
    const readers = await Promise.all(Array.from({ length: 3 }, () => openSlowReader()));
    await until(() => cuts().length === cutEarlier + 3);
    assert.match(cuts().at(-1) ?? '', /the client read less than 16384 bytes per second for 1\.5 s/);
    assert.equal((await list()).status, 200);
    for (const reader of readers) {
      reader.socket.resume();
      assert.deepEqual(await reader.closed(), [], 'there is no complete response');
    }
  });

  it('a list that is read slowly but steadily is not cut off before the maximum duration of a list', async () => {
    const cutEarlier = cuts().length;
    const startedAt = performance.now();
    const { socket } = await openSlowReader();
    const taking = setInterval(() => {
      socket.resume();
      setTimeout(() => socket.pause(), 1);
    }, 100);
    await until(() => cuts().length > cutEarlier || socket.bytesRead > 16_000_000);
    clearInterval(taking);
    if (cuts().length > cutEarlier) {
      assert.match(cuts().at(-1) ?? '', /the client did not read the whole response in 6 s/);
      assert.ok(performance.now() - startedAt >= READERS.longestMs);
    }
  });

  it('200: a list that waits in the queue is sent even if the clients of earlier lists close their connections', async () => {
    const busy = Array.from({ length: 3 }, () => list(tenant.partner, ORDERS));
    const leaving = Array.from({ length: 3 }, () => {
      const signal = AbortSignal.timeout(5);
      return service.call('GET', ORDERS, { headers: tenant.partner, signal }).catch(() => null);
    });
    const next = list(tenant.partner, ORDERS);
    await Promise.all([...busy, ...leaving]);
    assert.equal((await next).body.length, 2_000);
  });
});
