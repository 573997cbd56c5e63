import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { assertError, countByStatus } from '#test/support/answers.ts';
import { startCommitProxy } from '#test/support/lost-commit.ts';
import { auditOf, dumpRows, readStaffMenu, STAFF_MENU } from '#test/support/restaurant.ts';
import { startService, type TestTenant } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';
import type { EncodedBody } from '#platform/http/body.ts';
import { replaceMenu } from './menu.ts';
import type { MenuDocument } from './schema.ts';

const service = await useService();
let tenant: TestTenant;
beforeEach(async () => {
  tenant = await service.tenant();
});

const get = (headers: Record<string, string> = {}, method = 'GET', of = tenant) =>
  service.call(method, STAFF_MENU, { headers: { ...of.staff, ...headers } });
const put = (json: unknown, ifMatch?: string, node = service) =>
  node.call('PUT', STAFF_MENU, {
    headers: { ...tenant.staff, ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }) },
    json,
  });
const patch = (sku: string, json: object) =>
  service.call('PATCH', `/v1/staff/dishes/${sku}/`, { headers: tenant.staff, json });

const readMenu = () => readStaffMenu(service, tenant);

function priced(menu: MenuDocument, price: string): MenuDocument {
  return { ...menu, dishes: menu.dishes.map((dish, index) => (index === 0 ? { ...dish, price } : dish)) };
}

function encoded(menu: MenuDocument): EncodedBody {
  return {
    bytes: Buffer.from(JSON.stringify(menu)),
    contentType: 'application/json',
    contentEncoding: undefined,
  };
}

describe('GET /v1/staff/menu/ with If-None-Match', () => {
  it('200, 304: the menu has a strong ETag, and a call with this ETag in If-None-Match gets no body', async () => {
    const { etag } = await readMenu();
    assert.match(etag, /^"[\x21\x23-\x7e]+"$/);
    assert.equal((await readMenu()).etag, etag);
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await get({ 'if-none-match': header }, method);
        assert.deepEqual([answer.status, answer.text, answer.headers.get('etag')], [304, '', etag], header);
        assert.equal(answer.headers.get('cache-control'), 'private, no-cache');
      }
    }
    assert.equal((await get({ 'if-none-match': '"other"' })).status, 200);
  });

  it('200: a menu change (PUT, PATCH, availability, tenant document) makes a new ETag, and an equal PUT or PATCH keeps it', async () => {
    const { menu, etag } = await readMenu();
    const tags = [etag];
    const expectNewTag = async (what: string) => {
      const now = (await readMenu()).etag;
      assert.ok(!tags.includes(now), what);
      tags.push(now);
    };
    await put(priced(menu, '11.00'));
    await expectNewTag('PUT');
    await patch('WATER', { price: '9.99' });
    await expectNewTag('PATCH');
    const json = { skus: ['WATER'], is_active: false };
    await service.call('POST', '/v1/staff/dishes/availability/', { headers: tenant.staff, json });
    await expectNewTag('availability');
    await service.apply(tenant.document);
    await expectNewTag('tenant document');
    await put((await readMenu()).menu);
    await patch('WATER', { price: '2.50' });
    assert.equal((await readMenu()).etag, tags.at(-1));
  });

  it('200: two tenants with the same menu have different ETags, and a restore from a backup changes the ETag', async (t) => {
    const { etag } = await readMenu();
    const other = await service.tenant();
    assert.notEqual((await get({}, 'GET', other)).headers.get('etag'), etag);
    const { db } = service.database;
    const { era } = await db.selectFrom('feed_era').select('era').executeTakeFirstOrThrow();
    const setEra = (value: number) => db.updateTable('feed_era').set({ era: value }).execute();
    t.after(() => setEra(era));
    await setEra(era + 1);
    assert.notEqual((await readMenu()).etag, etag);
  });

  it('200: a tenant without a menu has an ETag too, and the first menu of the tenant changes this ETag', async () => {
    const { menu } = await readMenu();
    const { menu: _menu, ...document } = tenant.document;
    await service.database.db.deleteFrom('dish').where('tenant_id', '=', tenant.tenantId).execute();
    await service.database.db.deleteFrom('menu').where('tenant_id', '=', tenant.tenantId).execute();
    const { etag, menu: empty } = await readMenu();
    assert.deepEqual([empty.dishes, document.features], [[], ['restaurant']]);
    assert.equal((await put(menu, etag)).status, 200);
    assert.notEqual((await readMenu()).etag, etag);
    assert.equal((await put(empty, etag)).status, 412);
  });
});

describe('PUT /v1/staff/menu/ with If-Match', () => {
  it('200: the menu is replaced if If-Match is its ETag, a list that contains its ETag, or an asterisk', async () => {
    for (const [index, wrap] of [
      (etag: string) => etag,
      (etag: string) => `"other", ${etag}`,
      (etag: string) => `W/"weak",${etag} , "b"`,
      () => '*',
      () => ' * ',
    ].entries()) {
      const { menu, etag } = await readMenu();
      const answer = await put(priced(menu, `${index + 20}.00`), wrap(etag));
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.dishes[0].price, `${index + 20}.00`);
      // The service adds default values to the document before it stores it. Then the response to the PUT must not have an ETag (RFC 9110
      // §9.3.4).
      assert.equal(answer.headers.get('etag'), null);
    }
  });

  it('412: an ETag that is old, weak, malformed or of another tenant is refused, the message says what to do, no row changes', async () => {
    const { menu, etag: old } = await readMenu();
    await patch('WATER', { price: '3.00' });
    const { etag } = await readMenu();
    const foreign = (await get({}, 'GET', await service.tenant())).headers.get('etag') ?? '';
    const rows = await dumpRows(service, 'menu', 'dish', 'audit_entry', 'recent_change');
    for (const header of [old, `W/${etag}`, foreign, etag.slice(1, -1), `${etag}"`, '"*"', `"x", *`, ',', '']) {
      const answer = await put(priced(menu, '77.00'), header);
      assert.match(assertError(answer, 412, 'error'), /Read the menu again/);
    }
    assert.deepEqual(await dumpRows(service, 'menu', 'dish', 'audit_entry', 'recent_change'), rows);
  });

  it('400: an invalid document gets 400 and not 412, even with an old ETag', async () => {
    const { menu } = await readMenu();
    assertError(await put({ ...menu, dishes: 1 }, '"old"'), 400, 'invalid_request');
    const dishes = [...menu.dishes, ...menu.dishes];
    assertError(await put({ ...menu, dishes }, '"old"'), 400, 'invalid_request');
  });

  it('200, 412: in 10 tries, exactly one of two concurrent PUTs with the same ETag on two nodes replaces the menu', async () => {
    const other = await startService({ beside: service });
    try {
      for (let round = 0; round < 10; round += 1) {
        const { menu, etag } = await readMenu();
        const prices = [`${round + 30}.00`, `${round + 60}.00`];
        const answers = await Promise.all(
          prices.map((price, index) => put(priced(menu, price), etag, index === 0 ? service : other)),
        );
        assert.deepEqual(countByStatus(answers), { 200: 1, 412: 1 });
        const winner = answers.findIndex(({ status }) => status === 200);
        assert.equal((await readMenu()).menu.dishes[0]?.price, prices[winner]);
      }
    } finally {
      await other.close();
    }
  });

  it('200, 412: in 10 tries, a PUT of the menu never overwrites a concurrent PATCH of a dish', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { menu, etag } = await readMenu();
      const [replaced, patched] = await Promise.all([
        put(priced(menu, `${round + 30}.00`), etag),
        patch('WATER', { price: `${round + 1}.00` }),
      ]);
      assert.equal(patched.status, 200);
      assert.ok([200, 412].includes(replaced.status));
      assert.equal((await readMenu()).menu.dishes[1]?.price, `${round + 1}.00`);
    }
  });

  it('if only the response to its COMMIT is lost, replaceMenu with an ETag is not refused as outdated, and writes one audit entry', async () => {
    const proxy = await startCommitProxy(service.database.url);
    try {
      const { menu, etag } = await readMenu();
      proxy.dropNextCommitResponse();
      const actor = { tenantId: tenant.tenantId, type: 'operator', id: null } as const;
      await replaceMenu(proxy.db, actor, encoded(priced(menu, '44.00')), { currency: 'EUR', ifMatch: etag });
      assert.equal(proxy.lostCount, 1);
      const now = await readMenu();
      assert.equal(now.menu.dishes[0]?.price, '44.00');
      assert.deepEqual(await auditOf(service, tenant, 'menu.replaced'), [
        { subject: String(tenant.tenantId), details: { added: 0, changed: 1, taken_off: 0 } },
      ]);
    } finally {
      await proxy.close();
    }
  });

  it('200: a PUT that changes the menu adds one audit entry that counts added, changed and taken off dishes, and a PUT without a change adds no entry', async () => {
    const { menu } = await readMenu();
    const [pizza, , ...rest] = priced(menu, '12.00').dishes;
    assert.ok(pizza);
    const changed = { ...menu, dishes: [pizza, { ...pizza, sku: 'NEW' }, ...rest] };
    await put(changed);
    await put(changed);
    assert.deepEqual(await auditOf(service, tenant, 'menu.replaced'), [
      { subject: String(tenant.tenantId), details: { added: 1, changed: 1, taken_off: 1 } },
    ]);
  });
});
