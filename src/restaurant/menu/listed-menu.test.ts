import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { startService, type TestService } from '#test/support/service.ts';
import { NO_CACHES } from '#platform/changes/changes.ts';
import { etagOf } from '#platform/http/etag.ts';
import { createMenuReader } from './listed-menu.ts';

describe('the cache of rendered menus', () => {
  let service: TestService;
  const tenants: { tenantId: number; currency: string }[] = [];
  before(async () => {
    service = await startService();
    for (let count = 0; count < 3; count += 1) {
      const { tenantId } = await service.tenant();
      tenants.push({ tenantId, currency: 'EUR' });
    }
  });
  after(() => service.close());

  const newReader = (maxCachedBytes?: number) => {
    const { db } = service.database;
    return createMenuReader({
      db,
      caches: NO_CACHES,
      ...(maxCachedBytes === undefined ? {} : { maxCachedBytes }),
    });
  };

  it('concurrent reads of a menu share one rendering, and the menu stays cached while the cache is not full', async () => {
    const read = newReader();
    const [tenant] = tenants;
    assert.ok(tenant);
    const together = await Promise.all([read(tenant), read(tenant)]);
    await Promise.all(tenants.map(read));
    assert.equal(together[0], together[1]);
    assert.equal(await read(tenant), together[0]);
  });

  it('a full cache of menus evicts the least recently read menu', async () => {
    const [one, two, three] = tenants;
    assert.ok(one && two && three);
    const { plain, gzipped } = await newReader()(one);
    const read = newReader(Math.ceil((plain.body.length + gzipped.body.length) * 2.5));
    const first = await read(one);
    const second = await read(two);
    assert.equal(await read(one), first);
    await read(three);
    assert.equal(await read(one), first, 'the first was read after the second');
    assert.notEqual(await read(two), second, 'the second was evicted');
  });

  it('the cache keeps only the latest version of each menu, so a menu that changes often evicts no other menu', async () => {
    const [one, two] = tenants;
    assert.ok(one && two);
    const { plain, gzipped } = await newReader()(one);
    const read = newReader(Math.ceil((plain.body.length + gzipped.body.length) * 2.5));
    const second = await read(two);
    for (let change = 0; change < 3; change += 1) {
      const earlier = await read(one);
      await service.database.db
        .updateTable('menu')
        .set((eb) => ({ version: eb('version', '+', 1) }))
        .where('tenant_id', '=', one.tenantId)
        .execute();
      assert.notEqual(await read(one), earlier);
    }
    assert.equal(await read(two), second);
  });

  it('a menu that is rendered on the thread has the same bytes, pages and dishes as a small menu has', async () => {
    const description = 'd'.repeat(2_000);
    const dishes = Array.from({ length: 700 }, (_, index) => ({
      sku: `D${index}`,
      name: 'D',
      price: '1',
      category: 'C',
    }));
    const { tenantId } = await service.tenant({ menu: { categories: [{ name: 'C', description }], dishes } });
    const menu = await newReader()({ tenantId, currency: 'EUR' });
    assert.deepEqual(gunzipSync(menu.gzipped.body), menu.plain.body);
    assert.deepEqual([etagOf(menu.plain.body), etagOf(menu.gzipped.body)], [menu.plain.etag, menu.gzipped.etag]);
    const listed = JSON.parse(menu.plain.body.toString());
    assert.deepEqual([listed.length, menu.dishes.length], [700, 700]);
    assert.deepEqual(JSON.parse(`[${menu.dishes.slice(698, 900).toString()}]`), listed.slice(698));
    assert.equal(String(menu.dishes.slice(0, 700)), String(menu.plain.body.subarray(1, -1)));
    assert.deepEqual([menu.bySku.get('D699'), menu.bySku.get('D700')], [listed[699], undefined]);
  });

  it('if the database fails to read a menu, the failure is not cached, so the next read returns the menu', async () => {
    const read = newReader(1);
    await sql`ALTER TABLE dish RENAME TO dish_away`.execute(service.database.db);
    const failed = await Promise.allSettled([...tenants, ...tenants].map(read));
    await sql`ALTER TABLE dish_away RENAME TO dish`.execute(service.database.db);
    assert.deepEqual([...new Set(failed.map(({ status }) => status))], ['rejected']);
    for (const tenant of tenants) {
      assert.equal((await read(tenant)).dishes.length, 2);
    }
  });
});
