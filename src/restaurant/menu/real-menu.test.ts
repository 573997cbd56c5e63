import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { dumpRows, listDishes, MENU, STAFF_MENU } from '#test/support/restaurant.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { compileSchema, findFaults } from '#platform/lib/validation.ts';
import { Dish } from './schema.ts';

const { menu } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../examples/demo/tenant.json'), 'utf8'));

const { service, tenant } = await useRestaurant({ menu });

describe('a real menu', () => {
  it('200: the menu of the demo tenant lists 243 valid dishes, and all ids of dishes, variants and add-ons differ', async () => {
    const dishes = await listDishes(service, tenant);
    const validate = compileSchema(Dish);
    assert.deepEqual(
      dishes.flatMap((dish) => findFaults(validate, dish, dish.sku)),
      [],
    );
    const variants = dishes.flatMap((dish) => dish.price_variants);
    const addons = dishes.flatMap((dish) => dish.addons);
    assert.deepEqual([dishes.length, variants.length, addons.length], [243, 226, 2_040]);
    const ids = new Set([...dishes, ...variants, ...addons].map(({ id }) => id));
    assert.equal(ids.size, 243 + 226 + 2_040);
  });

  it('200: if staff PUT the demo menu that GET returned, no row changes, and the pages of the menu still contain all dishes', async () => {
    const rows = await dumpRows(service, 'menu', 'dish');
    const { body } = await service.call('GET', STAFF_MENU, { headers: tenant.staff });
    assert.equal((await service.call('PUT', STAFF_MENU, { headers: tenant.staff, json: body })).status, 200);
    assert.deepEqual(await dumpRows(service, 'menu', 'dish'), rows);
    const pages = await Promise.all(
      [1, 2].map((page) => service.call('GET', `${MENU}?page=${page}&page_size=200`, { headers: tenant.partner })),
    );
    assert.deepEqual(
      pages.flatMap((page) => page.body.results),
      await listDishes(service, tenant),
    );
  });
});
