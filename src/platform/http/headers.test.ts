import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { insertOrders } from '#test/support/orders.ts';
import { exchange, openConnection } from '#test/support/raw-http.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

describe('headers of every response', () => {
  const lines: string[] = [];
  let service: TestService;
  let tenant: TestTenant;
  before(async () => {
    service = await startService({ onLog: (line) => lines.push(line) });
    tenant = await service.tenant();
  });
  after(() => service.close());

  it('every response is JSON with nosniff, Cache-Control and a unique request id, and has no header about the server software, CORS or cookies', async () => {
    const answers = await Promise.all([
      service.call('GET', '/livez'),
      service.call('GET', '/readyz'),
      service.call('GET', '/nope'),
      service.call('OPTIONS', '/v1/third-party/menu/', { headers: { origin: 'https://a.example' } }),
      service.call('GET', '/v1/third-party/menu/'),
      service.call('GET', '/v1/third-party/menu/', { headers: { ...tenant.partner, origin: 'https://a.example' } }),
      service.call('GET', '/v1/third-party/orders/', { headers: tenant.partner }),
      service.call('GET', '/v1/third-party/orders/?page=0', { headers: tenant.partner }),
      service.call('POST', '/v1/third-party/orders/', { headers: tenant.partner, body: '{' }),
      service.call('POST', '/v1/third-party/credentials/', { headers: tenant.owner, json: {} }),
      service.call('POST', '/v1/auth/token/', { json: { email: 'a@b.example', password: 'a wrong password' } }),
    ]);
    const ids = new Set<string>();
    for (const { status, headers } of answers) {
      assert.equal(headers.get('cache-control'), headers.has('etag') ? 'private, no-cache' : 'no-store');
      assert.equal(headers.get('x-content-type-options'), 'nosniff', `${status}`);
      assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
      assert.match(headers.get('x-request-id') ?? '', UUID);
      ids.add(headers.get('x-request-id') ?? '');
      const names = [...headers.keys()];
      assert.ok(
        !names.some((name) => /^(?:server|x-powered-by|via|access-control-.*|set-cookie)$/.test(name)),
        names.join(),
      );
    }
    assert.equal(ids.size, 11, 'each response has its own id');
  });

  it('a response repeats the X-Request-Id of the request if that id consists of 1 to 128 allowed characters', async () => {
    for (const id of ['a', 'A-b_c.d:e/f+g=', '4bf92f3577b34da6a3ce929d0e0e4736', 'x'.repeat(128)]) {
      const headers = { 'x-request-id': id };
      assert.equal((await service.call('GET', '/livez', { headers })).headers.get('x-request-id'), id);
      assert.equal((await service.call('GET', '/nope', { headers })).headers.get('x-request-id'), id);
      assert.equal((await service.call('GET', '/v1/third-party/menu/', { headers })).headers.get('x-request-id'), id);
    }
  });

  it('a response gets a new X-Request-Id if the one in the request is empty, too long, repeated or has forbidden characters', async () => {
    const get = (idHeaders: string) =>
      exchange(service.url, `GET /livez HTTP/1.1\r\nHost: a\r\n${idHeaders}Connection: close\r\n\r\n`);
    for (const id of ['', 'x'.repeat(129), 'a b', 'a"b', '<script>', '{"a":1}', '\xe9', 'a\tb', 'a;b', '%0d%0aX: y']) {
      const [answer] = await get(`X-Request-Id: ${id}\r\n`);
      assert.match(answer?.headers['x-request-id'] ?? '', UUID, id);
    }
    const [twice] = await get('X-Request-Id: a\r\nX-Request-Id: b\r\n');
    assert.match(twice?.headers['x-request-id'] ?? '', UUID);
  });

  /** Waits for the log line of the request with this id, and asserts that there is only one. */
  async function lineOf(id: string): Promise<Record<string, unknown>> {
    const found = () => lines.filter((line) => line.includes(`"request_id":"${id}"`));
    for (const deadline = Date.now() + 10_000; found().length === 0 && Date.now() < deadline; ) await sleep(10);
    assert.equal(found().length, 1);
    return JSON.parse(found()[0] ?? '') as Record<string, unknown>;
  }

  it('the log line of a request shows its X-Request-Id, but neither the query string nor the API secret', async () => {
    lines.length = 0;
    const headers = { ...tenant.partner, 'x-request-id': 'find-me' };
    const { status } = await service.call('GET', '/v1/third-party/orders/?page=1&x=in-the-query', { headers });
    const { duration_ms, time, level, pid, hostname, ...logged } = await lineOf('find-me');
    assert.equal(typeof duration_ms, 'number');
    assert.deepEqual(logged, {
      request_id: 'find-me',
      msg: 'request',
      method: 'GET',
      path: '/v1/third-party/orders/',
      status,
      tenant_id: tenant.tenantId,
      credential_id: tenant.credential.id,
    });
    assert.ok(!lines.some((line) => line.includes('in-the-query')));
    assert.ok(!lines.some((line) => line.includes(tenant.credential.api_secret)));
  });

  it('the log line of a request has `cut_off` if the client closes the connection before the end of the response', async () => {
    await insertOrders(service, tenant, 500);
    await sql`UPDATE restaurant_order SET notes = repeat('n', 40000)`.execute(service.database.db);
    const { socket, send } = openConnection(service.url);
    socket.once('data', () => socket.destroy());
    const { authorization } = tenant.staff;
    send(
      `GET /v1/staff/orders/?open=true&limit=500 HTTP/1.1\r\nHost: a\r\nX-Request-Id: left\r\nAuthorization: ${authorization}\r\n\r\n`,
    );
    const { status, cut_off } = await lineOf('left');
    assert.deepEqual({ status, cut_off }, { status: 200, cut_off: true });
  });
});
