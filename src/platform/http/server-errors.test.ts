import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { type DatabaseProxy, startDatabaseProxy } from '#test/support/database-proxy.ts';
import type { Answer, CallOptions } from '#test/support/http.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { OWNER_PASSWORD } from '#test/support/tenants.ts';

const order = { external_order_id: 'A', items: [{ item_id: 'WATER', quantity: 1 }] };

/** Matches internal details that a response must not show: SQL words, table names, PostgreSQL, stack traces and file names. */
const INTERNAL =
  /select|insert|relation|column|restaurant_order|postgres|pool|ECONN|socket|\.ts|node_modules|    at |\//i;

function assertServerError(status: number, answer: Answer): void {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.deepEqual(Object.keys(answer.body), ['message', 'request_id']);
  assert.doesNotMatch(answer.body.message, INTERNAL);
  assert.equal(answer.headers.get('x-request-id'), answer.body.request_id);
  assert.doesNotMatch(JSON.stringify([...answer.headers]), /restaurant_order|ECONN|postgres/);
}

describe('a database that returns errors', () => {
  const lines: string[] = [];
  let service: TestService;
  let tenant: TestTenant;
  before(async () => {
    service = await startService({ onLog: (line) => lines.push(line) });
    tenant = await service.tenant();
    await sql`ALTER TABLE restaurant_order RENAME TO moved_away`.execute(service.database.db);
    await sql`ALTER TABLE dish RENAME TO dish_moved_away`.execute(service.database.db);
  });
  after(() => service.close());

  it('500: if a statement of a call fails, the response has a request id but no internal details, and one log line has this id and the cause', async () => {
    const { partner, owner, staff } = tenant;
    const calls: [string, string, CallOptions][] = [
      ['GET', '/v1/third-party/orders/', { headers: partner }],
      ['GET', '/v1/third-party/orders/?page=1', { headers: partner }],
      ['GET', '/v1/third-party/orders/A/', { headers: partner }],
      ['POST', '/v1/third-party/orders/A/cancel/', { headers: partner }],
      ['POST', '/v1/third-party/orders/', { headers: partner, json: order }],
      ['GET', '/v1/third-party/menu/', { headers: partner }],
      ['GET', '/v1/staff/orders/', { headers: staff }],
      ['GET', '/v1/staff/menu/', { headers: owner }],
    ];
    for (const [index, [method, path, { headers, ...options }]] of calls.entries()) {
      const id = `caller-${index}`;
      const answer = await service.call(method, path, { ...options, headers: { ...headers, 'x-request-id': id } });
      assertServerError(500, answer);
      assert.equal(answer.body.request_id, id);
      const logged = lines.filter((line) => line.includes(answer.body.request_id) && line.includes('does not exist'));
      assert.equal(logged.length, 1, `the log has ${method} ${path} once, with the cause`);
    }
  });

  it('200: if the tables of orders and menus are missing, requests that do not need those tables still succeed', async () => {
    const answer = await service.call('GET', '/v1/third-party/credentials/', { headers: tenant.owner });
    assert.equal(answer.status, 200);
    assert.equal((await service.call('GET', '/readyz')).status, 200);
  });
});

describe('a database that cannot be reached', () => {
  let service: TestService;
  let tenant: TestTenant;
  let proxy: DatabaseProxy;
  let node: TestService;
  before(async () => {
    service = await startService();
    tenant = await service.tenant();
    proxy = await startDatabaseProxy(service.database.url, 4);
    node = await startService({ beside: { ...service, database: { ...service.database, db: proxy.db } } });
  });
  after(async () => {
    await node.close();
    await proxy.close();
    await service.close();
  });

  const calls = () =>
    Promise.all([
      node.call('GET', '/v1/third-party/orders/', { headers: tenant.partner }),
      node.call('POST', '/v1/third-party/orders/', { headers: tenant.partner, json: order }),
      node.call('GET', '/v1/third-party/menu/', { headers: tenant.partner }),
      node.call('GET', '/v1/third-party/credentials/', { headers: tenant.owner }),
      node.call('POST', '/v1/third-party/credentials/', { headers: tenant.owner, json: {} }),
      node.call('PUT', '/v1/staff/menu/', { headers: tenant.staff, json: { dishes: [] } }),
      node.call('POST', '/v1/auth/token/', {
        json: { email: tenant.document.users?.[0]?.email, password: OWNER_PASSWORD },
      }),
    ]);

  function assertUnavailable(answers: Answer[]): void {
    for (const answer of answers) {
      assertServerError(503, answer);
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d?$/);
    }
  }

  /**
   * Waits until `/readyz` responds with this status. This takes up to four seconds, because the service checks the state of the database
   * only at intervals.
   */
  async function becomesReady(status: number): Promise<void> {
    const answer = await eventually(async () => {
      const latest = await node.call('GET', '/readyz');
      return latest.status === status && latest;
    }, `readiness ${status}`);
    assert.deepEqual(answer.body, { status: status === 200 ? 'ok' : 'unavailable' });
    assert.equal((await node.call('GET', '/livez')).status, 200);
  }

  it('503: while the database refuses connections, calls fail within 5 s with Retry-After, and they succeed when it is back', async () => {
    await becomesReady(200);
    await proxy.refuse();
    const begin = Date.now();
    assertUnavailable(await calls());
    assert.ok(Date.now() - begin < 5_000);
    await becomesReady(503);
    await proxy.restore();
    await becomesReady(200);
    assert.ok((await calls()).every(({ status }) => status < 500));
  });

  it('if idle database connections break, the next call of each caller may get 503, but the second call gets no server error', async () => {
    await calls();
    // A background process of PostgreSQL, for example of autovacuum, may end by itself before it is terminated.
    const { rows } = await sql<{ ended: boolean }>`
      SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
    `.execute(service.database.db);
    assert.ok(rows.length > 0 && rows.every(({ ended }) => ended));
    assert.ok((await calls()).every(({ status }) => status < 500 || status === 503));
    assert.ok((await calls()).every(({ status }) => status < 500));
  });
});
