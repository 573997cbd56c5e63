import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { assertError } from '#test/support/answers.ts';
import { insertOrders } from '#test/support/orders.ts';
import { openConnection, type RawConnection } from '#test/support/raw-http.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import type { ReaderBounds } from './slow-readers.ts';

const ORDERS = '/v1/third-party/orders/';
const STAFF_ORDERS = '/v1/staff/orders/';
/** Bounds with which no response is cut off during a test, even if the machine is slow. */
const READERS = { maxWaiting: 3, overMs: 60_000, longestMs: 600_000, checkEveryMs: 50 };

describe('clients that read long lists slowly', () => {
  let service: TestService;
  let tenant: TestTenant;
  const connections: RawConnection[] = [];
  before(async () => {
    service = await startService({ readers: READERS });
    tenant = await service.tenant();
    // The list has 16 MB, and the socket buffers hold far less. So the service must stop sending when the client stops reading.
    await insertOrders(service, tenant, 2_000);
    await sql`UPDATE restaurant_order SET notes = repeat('n', 8000)`.execute(service.database.db);
  });
  afterEach(() => connections.splice(0).forEach(({ socket }) => socket.destroy()));
  after(() => service.close());

  /** Opens a connection and requests a list. The client reads the first bytes of the response, and then stops reading. */
  async function openSlowReader(node = service) {
    const connection = openConnection(node.url);
    connections.push(connection);
    const first = once(connection.socket, 'data').then(() => connection.socket.pause());
    const head = Object.entries(tenant.staff).map(([name, value]) => `${name}: ${value}\r\n`);
    connection.send(`GET ${STAFF_ORDERS} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${head.join('')}\r\n`);
    await first;
    return connection;
  }

  const list = (headers = tenant.staff, path = STAFF_ORDERS) => service.call('GET', path, { headers });

  /** Starts a second node of the service with short bounds. `cuts` returns its log lines about responses that were cut off. */
  async function startHastyNode(bounds: Partial<ReaderBounds>) {
    const lines: string[] = [];
    const readers = { ...READERS, ...bounds };
    const node = await startService({ beside: service, readers, onLog: (line) => lines.push(line) });
    return { node, cuts: () => lines.filter((line) => line.includes('list response cut off')) };
  }

  it('429, 200: a user who reads none of three list responses gets no further list until one of the connections is closed', async () => {
    const readers = await Promise.all(Array.from({ length: 3 }, () => openSlowReader()));
    await sleep(300); // In this time, the service fills the socket buffers, and the responses then wait.
    for (const path of [STAFF_ORDERS, `${STAFF_ORDERS}?page_size=1`]) {
      const refused = await list(tenant.staff, path);
      assert.match(assertError(refused, 429, 'rate_limited'), /^3 list responses are not read to their end\. /);
      assert.equal(refused.headers.get('retry-after'), '60');
    }
    readers[0]?.socket.destroy();
    // The next request may arrive before the service has noticed that the connection is closed. It is then refused, too.
    const again = await eventually(async () => {
      const answer = await list(tenant.staff, `${STAFF_ORDERS}?page_size=1`);
      return answer.status !== 429 && answer;
    }, 'list after a connection is closed');
    assert.deepEqual([again.status, again.body.count], [200, 2_000]);
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
    const { node, cuts } = await startHastyNode({ overMs: 1_500 });
    try {
      const readers = await Promise.all(Array.from({ length: 3 }, () => openSlowReader(node)));
      await eventually(() => cuts().length === 3, 'third response that is cut off', 60_000);
      assert.match(cuts().at(-1) ?? '', /the client read less than 16384 bytes per second for 1\.5 s/);
      const again = await node.call('GET', `${STAFF_ORDERS}?page_size=1`, { headers: tenant.staff });
      assert.equal(again.status, 200);
      for (const reader of readers) {
        reader.socket.resume();
        assert.deepEqual(await reader.closed(), [], 'there is no complete response');
      }
    } finally {
      await node.close();
    }
  });

  it('a list that is read slowly but steadily is not cut off before the maximum duration of a list', async () => {
    // If the machine stalls for two seconds, the reader takes no bytes in this time. `overMs` is longer, so the stall does no harm.
    const bounds = { overMs: 3_500, longestMs: 5_000 };
    const { node, cuts } = await startHastyNode(bounds);
    const startedAt = performance.now();
    const { socket } = await openSlowReader(node);
    const taking = setInterval(() => socket.read(Math.min(100_000, socket.readableLength)), 50);
    try {
      await eventually(() => cuts().length > 0 || socket.bytesRead > 16_000_000, 'end of the list', 60_000);
      if (cuts().length > 0) {
        assert.match(cuts().at(-1) ?? '', /the client did not read the whole response in 5 s/);
        assert.ok(performance.now() - startedAt >= bounds.longestMs);
      }
    } finally {
      clearInterval(taking);
      await node.close();
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
