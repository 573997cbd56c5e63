import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { assertError } from '#test/support/answers.ts';
import { openHotel, pmsHeaders, type TestHotel } from '#test/support/hotel.ts';
import { type ServiceOptions, startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { createDatabase } from '#platform/db/database.ts';
import { layoutOf } from '#test/support/test-cluster.ts';
import { newId } from '#platform/lib/ids.ts';
import type { Caller } from '../credentials/credentials.ts';
import { collectRefusals, type Refusal } from './refusals.ts';
import type { RefusedCall } from './schema.ts';

const ORDERS = '/v1/third-party/orders/';
const UNKNOWN_ITEM = { external_order_id: 'an order', items: [{ item_id: 'NO-SUCH-DISH', quantity: 1 }] };

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

/** Starts a node, runs the work on it, and stops the node. Before a node stops, it writes its refused calls to the database. */
async function onNode(work: (node: TestService) => Promise<void>, options: ServiceOptions = {}): Promise<void> {
  const node = await startService({ ...options, beside: service });
  try {
    await work(node);
  } finally {
    await node.close();
  }
}

async function list(tenant: TestTenant, id = tenant.credential.id): Promise<RefusedCall[]> {
  const answer = await service.call('GET', `/v1/staff/credentials/${id}/refusals/`, { headers: tenant.staff });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Returns the refused calls, oldest first, each as a text of method, path, status and code. */
async function told(tenant: TestTenant, id?: string) {
  return (await list(tenant, id))
    .map(({ method, path, status, code }) => `${method} ${path} ${status} ${code}`)
    .reverse();
}

async function countRows(tenantId: number): Promise<number> {
  const { db } = service.database;
  return (await db.selectFrom('refused_call').select('id').where('tenant_id', '=', tenantId).execute()).length;
}

describe('GET /v1/staff/credentials/{id}/refusals/', () => {
  let hotel: TestHotel;
  before(async () => {
    hotel = await openHotel(service);
  });

  it('200: after a process has stopped, its refused calls are listed with the code, the message and the request id of their responses', async () => {
    const tenant = await service.tenant();
    assert.deepEqual(await list(tenant), []);
    const begunAt = Date.now();
    await onNode(async (node) => {
      const headers = { ...tenant.partner, 'x-request-id': 'mine-1' };
      const refused = await node.call('POST', ORDERS, { headers, json: UNKNOWN_ITEM });
      assertError(refused, 400, 'item_not_found');
    });
    const [call, ...others] = await list(tenant);
    assert.ok(call);
    assert.deepEqual(others, []);
    const { id, at, ...rest } = call;
    assert.deepEqual(Object.keys(call), ['id', 'at', 'method', 'path', 'status', 'code', 'message', 'request_id']);
    assert.deepEqual(rest, {
      method: 'POST',
      path: ORDERS,
      status: 400,
      code: 'item_not_found',
      message: 'items.0.item_id: no dish on the menu has the sku "NO-SUCH-DISH"',
      request_id: 'mine-1',
    });
    assert.match(id, /^[\da-f-]{36}$/);
    assert.ok(Date.parse(at) >= begunAt && Date.parse(at) <= Date.now());
  });

  it('200: refused calls of the restaurant and of the hotel are listed, newest first, with paths that show names of parameters instead of values', async () => {
    const { credential, partner: headers } = await service.credential(hotel.tenantId);
    await onNode(async (node) => {
      await node.call('GET', `${ORDERS}secret%2Forder/?page=1`, { headers });
      await node.call('POST', `${ORDERS}x/cancel`, { headers });
      await node.call('GET', '/v1/third-party/hotels/availability/?room_type_id=x', { headers });
      await node.call('POST', '/v1/third-party/hotels/reservations/', { headers, json: {} });
      await node.call('GET', '/v1/third-party/menu/?tenant_id=1', { headers });
      await node.call('POST', ORDERS, { headers: { ...headers, 'content-type': 'text/plain' }, body: 'x' });
      await node.call('POST', ORDERS, { headers, body: Buffer.alloc(1_100_000) });
    });
    assert.deepEqual(await told(hotel, credential.id), [
      'GET /v1/third-party/orders/{external_order_id}/ 404 order_not_found',
      'POST /v1/third-party/orders/{external_order_id}/cancel/ 404 order_not_found',
      'GET /v1/third-party/hotels/availability/ 400 invalid_request',
      'POST /v1/third-party/hotels/reservations/ 400 invalid_request',
      'GET /v1/third-party/menu/ 400 invalid_request',
      'POST /v1/third-party/orders/ 415 error',
      'POST /v1/third-party/orders/ 413 error',
    ]);
  });

  it('200: the refused calls of a PMS are listed under its credential', async () => {
    const pms = await pmsHeaders(service, hotel);
    const [{ id }] = (await service.call('GET', '/v1/channel-manager/credentials/', { headers: hotel.owner })).body;
    await onNode(async (node) => {
      await node.call('GET', '/v1/channel-manager/pms/rates/', { headers: pms });
      await node.call('GET', `/v1/channel-manager/pms/reservations/${newId()}/`, { headers: pms });
      await node.call('GET', '/v1/channel-manager/pms/properties/', { headers: pms });
    });
    assert.deepEqual(await told(hotel, id), [
      'GET /v1/channel-manager/pms/rates/ 400 invalid_request',
      'GET /v1/channel-manager/pms/reservations/{booking_id}/ 404 error',
    ]);
  });

  it('200: a call of a tenant without the hotel feature (403) and a call above the rate limit (429) are listed', async () => {
    const tenant = await service.tenant({ features: ['restaurant'] });
    await onNode(
      async (node) => {
        for (const path of ['/v1/third-party/menu/', '/v1/third-party/hotels/rooms/', '/v1/third-party/menu/']) {
          await node.call('GET', path, { headers: tenant.partner });
        }
      },
      { config: { rateLimitPerMinute: 2 } },
    );
    assert.deepEqual(await told(tenant), [
      'GET /v1/third-party/hotels/rooms/ 403 error',
      'GET /v1/third-party/menu/ 429 rate_limited',
    ]);
  });

  it('200: the list of refused calls does not contain calls that succeed, calls with a wrong secret, calls to unknown paths, staff calls or calls of other tenants', async () => {
    const tenant = await service.tenant();
    const other = await service.tenant();
    await onNode(async (node) => {
      const { partner, owner } = tenant;
      assert.equal((await node.call('GET', '/v1/third-party/menu/', { headers: partner })).status, 200);
      const wrong = { ...partner, 'x-api-secret': 'wrong' };
      assert.equal((await node.call('POST', ORDERS, { headers: wrong, json: {} })).status, 401);
      assert.equal((await node.call('GET', '/v1/third-party/no/such/path/', { headers: partner })).status, 404);
      assert.equal((await node.call('GET', `/v1/staff/orders/${newId()}/`, { headers: owner })).status, 404);
      assert.equal((await node.call('POST', ORDERS, { headers: other.partner, json: {} })).status, 400);
    });
    assert.deepEqual(await list(tenant), []);
    assert.equal(await countRows(tenant.tenantId), 0);
    assert.equal((await list(other)).length, 1);
  });

  it('200: only the newest 50 refused calls of a credential are listed and stored, counted over all nodes', async () => {
    const tenant = await service.tenant();
    const refuse = (from: number, to: number) =>
      onNode(async (node) => {
        for (let index = from; index < to; index += 1) {
          const headers = { ...tenant.partner, 'x-request-id': `call-${index}` };
          await node.call('POST', ORDERS, { headers, json: {} });
        }
      });
    await refuse(0, 20);
    await refuse(20, 80);
    await refuse(80, 90);
    const ids = (await list(tenant)).map((call) => call.request_id);
    assert.deepEqual(
      ids,
      Array.from({ length: 50 }, (_, index) => `call-${89 - index}`),
    );
    assert.equal(await countRows(tenant.tenantId), 50);
  });

  it('200: in the list of refused calls, an error message has no secret and at most 500 characters, and texts that PostgreSQL cannot store cause no error', async () => {
    const tenant = await service.tenant();
    const { api_secret: secret } = tenant.credential;
    await onNode(async (node) => {
      const headers = tenant.partner;
      const items = [{ item_id: `my secret ${secret}`, quantity: 1 }];
      await node.call('POST', ORDERS, { headers, json: { external_order_id: 'x', items } });
      const many = Array.from({ length: 100 }, () => ({ quantity: 0 }));
      await node.call('POST', ORDERS, { headers, json: { external_order_id: 'x', items: many } });
      const forms = new URLSearchParams([['a\0b[c', '1']]);
      await node.call('POST', ORDERS, { headers, body: forms });
    });
    const [form, many, single] = await list(tenant);
    assert.equal(single?.message, 'items.0.item_id: no dish on the menu has the sku "my secret rss_…"');
    assert.equal(Array.from(many?.message ?? '').length, 500);
    assert.match(many?.message ?? '', /^items\.0\.item_id: is required \| .*…$/);
    assert.equal(form?.code, 'invalid_request');
    const { rows } = await sql<{ dump: string }>`
      SELECT string_agg(c::text, '') AS dump FROM refused_call AS c WHERE tenant_id = ${tenant.tenantId}`.execute(
      service.database.db,
    );
    assert.ok(!rows[0]?.dump.includes(secret));
  });
});

describe('the writes of refused calls', () => {
  const REFUSAL: Refusal = {
    method: 'GET',
    path: '/x/:id/',
    status: 404,
    code: 'error',
    message: 'No such thing.',
    request_id: 'r',
  };
  let tenant: TestTenant;
  let statements: string[];
  beforeEach(async () => {
    tenant = await service.tenant();
    statements = [];
  });

  const callerOf = ({ tenantId, credential }: Pick<TestTenant, 'tenantId' | 'credential'>): Caller => ({
    tenantId,
    credentialId: credential.id,
    features: [],
    currency: 'EUR',
  });

  /** Opens a database connection that adds the first word of each SQL statement, for example `INSERT`, to `statements`. */
  function recording() {
    return createDatabase({
      url: service.database.url,
      poolSize: 1,
      layout: layoutOf(service.database.db),
      log: ({ query }) => void statements.push(query.sql.trim().split(/\s/, 1)[0] ?? ''),
    });
  }

  function refusalsOf(db: ReturnType<typeof recording>, counts: { failed: number }) {
    return collectRefusals({ db, onError: () => void (counts.failed += 1) });
  }

  const noFaults = () => ({ failed: 0 });

  it('refused calls are written every 5 s by two statements for all credentials, and without such calls there is no statement', async () => {
    const others = [await service.credential(tenant.tenantId), await service.credential(tenant.tenantId)];
    const db = recording();
    try {
      const refusals = refusalsOf(db, noFaults());
      for (const { credential } of [tenant, ...others]) {
        for (let count = 0; count < 30; count += 1) {
          refusals.add(callerOf({ tenantId: tenant.tenantId, credential }), REFUSAL);
        }
      }
      assert.deepEqual(statements, []);
      await eventually(async () => (await countRows(tenant.tenantId)) === 90, 'three credentials with 30 calls each');
      await refusals.close();
      assert.deepEqual(statements, ['INSERT', 'WITH']);
    } finally {
      await db.destroy();
    }
  });

  it('if a write of refused calls fails, a later write stores them, and until then only the newest 50 of a credential wait in memory', async () => {
    const db = recording();
    const counts = noFaults();
    try {
      const refusals = refusalsOf(db, counts);
      await sql`ALTER TABLE refused_call RENAME TO elsewhere`.execute(service.database.db);
      for (let index = 0; index < 70; index += 1) {
        refusals.add(callerOf(tenant), { ...REFUSAL, request_id: `call-${index}` });
      }
      try {
        await eventually(() => counts.failed === 1, 'failed write');
      } finally {
        await sql`ALTER TABLE elsewhere RENAME TO refused_call`.execute(service.database.db);
      }
      await refusals.close();
    } finally {
      await db.destroy();
    }
    const ids = (await list(tenant)).map((call) => call.request_id);
    assert.equal(ids.length, 50);
    assert.deepEqual([ids[0], ids[49]], ['call-69', 'call-20']);
  });

  it('if two nodes each write 40 refused calls of one credential at the same time, the database then has 50 calls, the limit for one credential', async () => {
    const nodes = [recording(), recording()];
    const counts = noFaults();
    for (let round = 0; round < 10; round += 1) {
      const both = nodes.map((db) => refusalsOf(db, counts));
      for (const refusals of both) {
        for (let count = 0; count < 40; count += 1) {
          refusals.add(callerOf(tenant), REFUSAL);
        }
      }
      await Promise.all(both.map((refusals) => refusals.close()));
      assert.equal(await countRows(tenant.tenantId), 50);
    }
    assert.deepEqual(counts, noFaults());
    await Promise.all(nodes.map((db) => db.destroy()));
  });

  it('if refused calls of 1,003 credentials come before the next write to the database, the calls of 1,000 credentials are written, and the other calls are dropped', async () => {
    const { db } = service.database;
    const ids = Array.from({ length: 1_003 }, () => newId());
    await sql`
      INSERT INTO credential (tenant_id, id, audience, label, api_key, secret_hash)
      SELECT ${tenant.tenantId}, id, 'third_party', '', ${randomUUID()} || id::text, 'x' FROM unnest(${ids}::uuid[]) AS id
    `.execute(db);
    const counts = noFaults();
    const refusals = refusalsOf(db, counts);
    for (const id of ids) {
      refusals.add({ ...callerOf(tenant), credentialId: id }, REFUSAL);
      refusals.add({ ...callerOf(tenant), credentialId: id }, REFUSAL);
    }
    await refusals.close();
    assert.deepEqual(counts, noFaults());
    assert.equal(await countRows(tenant.tenantId), 2_000);
  });
});
