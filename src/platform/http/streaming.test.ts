import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { pino } from 'pino';
import { callUnchecked } from '#test/support/http.ts';
import { insertOrders } from '#test/support/orders.ts';
import { openConnection } from '#test/support/raw-http.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { createDatabase, type Database } from '../db/database.ts';
import { layoutOf } from '#test/support/test-cluster.ts';
import { createHttpApp } from './app.ts';
import { sendLongList } from './list.ts';
import { PageQuery } from './paging.ts';

const ORDERS = '/v1/third-party/orders/';
const OPEN_ORDERS = '/v1/staff/orders/?open=true&limit=500';

/**
 * Makes each order 40 KB long, so that the list of 500 orders has 20 MB. The socket buffers hold far less, so the service must stop sending
 * when a client stops reading.
 */
async function lengthen({ database }: TestService): Promise<void> {
  await sql`UPDATE restaurant_order SET notes = repeat('n', 40000)`.execute(database.db);
}

describe('a streamed list', () => {
  let service: TestService;
  let tenant: TestTenant;
  before(async () => {
    service = await startService();
    tenant = await service.tenant();
  });
  after(() => service.close());

  it('200: lists of 0 to 2,500 orders arrive complete, newest first, and each order is as in a GET of it', async () => {
    for (const count of [0, 1, 2, 99, 100, 101, 999, 1_000, 1_001, 2_500]) {
      const { credential, partner } = await service.credential(tenant.tenantId);
      const expected = await insertOrders(service, { ...tenant, credential }, count);
      const { body } = await service.call('GET', ORDERS, { headers: partner });
      const orders = body as { external_order_id: string }[];
      assert.deepEqual(
        orders.map((order) => order.external_order_id),
        expected,
        `${count} orders`,
      );
      for (const order of [...orders.slice(0, 1), ...orders.slice(-1)]) {
        const one = await service.call('GET', `${ORDERS}${order.external_order_id}/`, { headers: partner });
        assert.deepEqual(one.body, order);
      }
    }
  });

  it('a streamed list contains every existing order once, even if new orders are placed while it is sent', async () => {
    const other = await service.credential(tenant.tenantId);
    const known = await insertOrders(service, { ...tenant, ...other }, 1_200);
    const reading = service.call('GET', ORDERS, { headers: other.partner });
    const placing = Array.from({ length: 20 }, (_, index) =>
      service.call('POST', ORDERS, {
        headers: other.partner,
        json: { external_order_id: `new-${index}`, items: [{ item_id: 'WATER', quantity: 1 }] },
      }),
    );
    const ids = ((await reading).body as { external_order_id: string }[]).map((order) => order.external_order_id);
    await Promise.all(placing);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(ids.slice(-1_200), known);
  });
});

describe('a streamed list with slow readers', () => {
  let service: TestService;
  let tenant: TestTenant;
  let db: Database;
  let node: TestService;
  let wholeLength: number;
  before(async () => {
    service = await startService();
    tenant = await service.tenant();
    await insertOrders(service, tenant, 500);
    await lengthen(service);
    db = createDatabase({ url: service.database.url, poolSize: 2, layout: layoutOf(service.database.db) });
    node = await startService({ beside: { ...service, database: { ...service.database, db } } });
    wholeLength = (await node.call('GET', OPEN_ORDERS, { headers: tenant.staff })).text.length;
  });
  after(async () => {
    await node.close();
    await db.destroy();
    await service.close();
  });

  /** Opens a connection and requests a list. The client reads the first bytes of the response, and then stops reading. */
  function openSlowReader() {
    const connection = openConnection(node.url);
    const { authorization } = tenant.staff;
    connection.socket.once('data', () => connection.socket.pause());
    connection.send(
      `GET ${OPEN_ORDERS} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
    );
    return connection;
  }

  /**
   * Returns the number of database connections that are in a transaction or run a statement. Does not count the connection of this query,
   * and the polls for recent changes, which each service sends five times a second.
   */
  async function busyConnections(): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      SELECT count(*) AS count FROM pg_stat_activity
      WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()
        AND query NOT LIKE '%recent_change%'
    `.execute(service.database.db);
    return rows[0]?.count ?? 0;
  }

  it('200: six clients that read a list slowly hold no database connection, so other calls succeed with a pool of 2 connections', async () => {
    const readers = Array.from({ length: 6 }, openSlowReader);
    await Promise.all(
      readers.map(async ({ socket }) => {
        while (socket.bytesRead === 0) await sleep(10);
      }),
    );
    for (let sent = 0; sent < 10; sent += 1) {
      const answer = await node.call('GET', `${ORDERS}N-1/`, { headers: tenant.partner });
      assert.equal(answer.status, 200);
    }
    // The service reads from the database until the socket buffers are full. After that, no database connection may be busy.
    let idleChecks = 0;
    for (const deadline = Date.now() + 60_000; idleChecks < 10 && Date.now() < deadline; await sleep(20)) {
      idleChecks = (await busyConnections()) === 0 ? idleChecks + 1 : 0;
    }
    assert.equal(idleChecks, 10, 'no database connection is busy while the readers do not read');
    const read = readers.map(({ socket }) => socket.bytesRead);
    assert.ok(
      Math.max(...read) < wholeLength / 2,
      `the responses must not be complete: ${read.join()} of ${wholeLength} bytes`,
    );

    readers[0]?.socket.resume();
    const [answer] = (await readers[0]?.closed()) ?? [];
    assert.equal(answer?.body.length, wholeLength, 'a reader that continues gets the whole list');
    for (const { socket } of readers) socket.destroy();
    assert.equal((await node.call('GET', `${ORDERS}N-1/`, { headers: tenant.partner })).status, 200);
  });

  it('a slow reader gets the whole list, even if all database connections break while it is sent', async () => {
    const reader = openSlowReader();
    while (reader.socket.bytesRead === 0) await sleep(10);
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
    `.execute(service.database.db);
    reader.socket.resume();
    const [answer] = await reader.closed();
    assert.equal(answer?.body.length, wholeLength);
  });
});

describe('a streamed list that fails after it has begun', () => {
  it('if a query fails in the middle of a streamed list, the response is cut off, and the log has the cause', async () => {
    const lines: string[] = [];
    const service = await startService({ onLog: (line) => lines.push(line) });
    try {
      const tenant = await service.tenant();
      await insertOrders(service, tenant, 500);
      await lengthen(service);
      const { authorization } = tenant.staff;
      const connection = openConnection(service.url);
      connection.socket.once('data', () => connection.socket.pause());
      connection.send(
        `GET ${OPEN_ORDERS} HTTP/1.1\r\nHost: a\r\nX-Request-Id: cut\r\nAuthorization: ${authorization}\r\n\r\n`,
      );
      while (connection.socket.bytesRead === 0) await sleep(10);
      await sql`ALTER TABLE restaurant_order RENAME TO moved_away`.execute(service.database.db);
      connection.socket.resume();
      assert.deepEqual(await connection.closed(), [], 'there is no complete response');
      const logged = () => lines.filter((line) => line.includes('"request_id":"cut"'));
      for (const deadline = Date.now() + 10_000; logged().length < 2 && Date.now() < deadline; ) await sleep(10);
      assert.ok(logged().some((line) => line.includes('response cut off') && line.includes('does not exist')));
      assert.ok(logged().some((line) => line.includes('"msg":"request"') && line.includes('"cut_off":true')));
    } finally {
      await service.close();
    }
  });
});

it('200: HEAD of a long list reads only the first batch of rows, and does no work after the response', async (test) => {
  const app = createHttpApp({ logger: pino({ level: 'silent' }), trustedProxies: [] });
  test.after(() => app.close());
  let reads = 0;
  const list = {
    async readBatch(afterId: string | null, limit: number) {
      reads += 1;
      const from = Number(afterId ?? 0);
      const length = Math.min(limit, 5_000 - from);
      return Array.from({ length }, (_, index) => ({ id: String(from + index + 1) }));
    },
    readPage: () => assert.fail('no page is asked for'),
  };
  app.get('/list', { schema: { querystring: PageQuery } }, (request, reply) =>
    sendLongList(request, reply, list, ({ id }) => id),
  );
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const head = await callUnchecked(url, 'HEAD', '/list');
  await sleep(20); // The service must do no work after the response, so there is no event for which the test could wait.
  assert.deepEqual([head.status, head.text, reads], [200, '', 1]);
  const { status, body } = await callUnchecked(url, 'GET', '/list');
  assert.deepEqual([status, body.length], [200, 5_000]);
  assert.ok(reads > 5);
});
