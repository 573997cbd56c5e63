import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { startService, type TestService } from '#test/support/service.ts';
import { openRecorded } from '#test/support/statements.ts';
import { pino } from 'pino';
import { NO_CACHES } from '#platform/changes/changes.ts';
import { createMenuReader } from './listed-menu.ts';

describe('the memory of rendered menus', () => {
  let service: TestService;
  const houses: { tenantId: number; currency: string }[] = [];
  before(async () => {
    service = await startService();
    for (let count = 0; count < 3; count += 1) {
      const { tenantId } = await service.tenant();
      houses.push({ tenantId, currency: 'EUR' });
    }
  });
  after(() => service.close());

  const newReader = (maxKeptBytes?: number) => {
    const { db } = service.database;
    const log = pino({ level: 'silent' });
    return createMenuReader({
      db,
      caches: NO_CACHES,
      log,
      ...(maxKeptBytes === undefined ? {} : { maxKeptBytes }),
    });
  };

  it('keeps what there is room for, and renders a menu once for all who ask at the same time', async () => {
    const read = newReader();
    const [house] = houses;
    assert.ok(house);
    const together = await Promise.all([read(house), read(house)]);
    await Promise.all(houses.map(read));
    assert.equal(together[0], together[1]);
    assert.equal(await read(house), together[0]);
  });

  it('lets the least recently used go first when there is no more room', async () => {
    const [one, two, three] = houses;
    assert.ok(one && two && three);
    const { plain, gzipped } = await newReader()(one);
    const read = newReader(Math.ceil((plain.body.length + gzipped.body.length) * 2.5));
    const first = await read(one);
    const second = await read(two);
    assert.equal(await read(one), first);
    await read(three);
    assert.equal(await read(one), first, 'used after the second');
    assert.notEqual(await read(two), second, 'the least recently used');
  });

  it('keeps one version of each: a menu that changes again and again drives no other out', async () => {
    const [one, two] = houses;
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

  it('makes large menus one at a time, and others meanwhile', async () => {
    const large = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const description = 'd'.repeat(2_000);
        const dishes = Array.from({ length: 700 }, (_, index) => ({
          sku: `D${index}`,
          name: 'D',
          price: '1',
          category: 'C',
        }));
        const { tenantId } = await service.tenant({ menu: { categories: [{ name: 'C', description }], dishes } });
        return { tenantId, currency: 'EUR' };
      }),
    );
    const { db, statementsOf } = openRecorded(service.database.url, 4);
    const log = pino({ level: 'silent' });
    const read = createMenuReader({ db, caches: NO_CACHES, log });
    const ended: string[] = [];
    const sent = await statementsOf(async () => {
      const reads = large.map((house) =>
        read(house).then(({ plain }) => ended.push(`large ${plain.body.length > 2 ** 20}`)),
      );
      const [small] = houses;
      assert.ok(small);
      await Promise.all([...reads, read(small).then(() => ended.push('small'))]);
    });
    await db.destroy();
    assert.equal(ended[0], 'small');
    assert.deepEqual(
      ended.slice(1),
      Array.from({ length: 3 }, () => 'large true'),
    );
    // Once to tell its size, and once in its turn.
    assert.equal(sent.filter((text) => text.includes('"sections"')).length, 3 * 2 + 1);
  });

  it('forgets a menu that could not be loaded, however little room there is', async () => {
    const read = newReader(1);
    await sql`ALTER TABLE dish RENAME TO dish_away`.execute(service.database.db);
    const failed = await Promise.allSettled([...houses, ...houses].map(read));
    await sql`ALTER TABLE dish_away RENAME TO dish`.execute(service.database.db);
    assert.deepEqual([...new Set(failed.map(({ status }) => status))], ['rejected']);
    for (const house of houses) {
      assert.equal((await read(house)).dishes.length, 2);
    }
  });
});
