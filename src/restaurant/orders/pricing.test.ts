import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { assertError } from '#test/support/answers.ts';
import { dishOf, dumpRows, ORDERS, place, STAFF_ORDERS } from '#test/support/restaurant.ts';
import { useService } from '#test/support/shared-service.ts';
import { ApiError } from '#platform/errors.ts';
import { MAX_ORDER_LINES_BYTES } from '#platform/lib/bounds.ts';
import type { Dish, ListedMenu } from '../menu/menu.ts';
import { priceItems } from './pricing.ts';
import type { OrderLine } from './schema.ts';

/**
 * Random item of an order, with the prices and the tax of its dish. Prices are in cents, and `taxPercentage` is in hundredths of a
 * percent.
 */
interface Case {
  price: number;
  variant: number | null;
  addons: { price: number; quantity: number | null }[];
  quantity: number;
  taxPercentage: number;
  isTaxable: boolean;
}

/** Generates values of `usual` most of the time, and sometimes values of `extreme`, which go up to the limits of the schema. */
const mostly = <T>(usual: fc.Arbitrary<T>, extreme: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: extreme });
const cents = mostly(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 9_999_999_999 }));
const quantities = mostly(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 2_147_483_647 }));
const cases: fc.Arbitrary<Case> = fc.record({
  price: cents,
  variant: fc.option(cents),
  addons: fc.array(fc.record({ price: cents, quantity: fc.option(quantities) }), { maxLength: 4 }),
  quantity: quantities,
  taxPercentage: fc.oneof(fc.constant(750), fc.integer({ min: 0, max: 99_999 })),
  isTaxable: fc.boolean(),
});

/** Returns the expected price of an item in cents. Calculates with integers only, by the rule of rule 21, and rounds half a cent up. */
function expectedCents(item: Case): bigint {
  const addons = item.addons.reduce((sum, addon) => sum + BigInt(addon.price) * BigInt(addon.quantity ?? 1), 0n);
  const untaxed = BigInt(item.quantity) * (BigInt(item.variant ?? item.price) + addons);
  const tenThousandths = item.isTaxable ? 10_000n + BigInt(item.taxPercentage) : 10_000n;
  return (untaxed * tenThousandths + 5_000n) / 10_000n;
}

function text(hundredths: number | bigint): string {
  const digits = String(hundredths).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

function menuOf(items: Case[]): ListedMenu {
  const dishes = items.map((item, index) => ({
    sku: `D${index}`,
    name: `Dish ${index}`,
    price: text(item.price),
    is_taxable: item.isTaxable,
    extra_tax_percentage: text(item.taxPercentage),
    price_variants:
      item.variant === null ? [] : [{ id: 'variant', name: 'V', price: text(item.variant), currency: '' }],
    addons: item.addons.map((addon, position) => ({
      id: `${position}`,
      name: `A${position}`,
      price: text(addon.price),
    })),
  }));
  return { bySku: new Map(dishes.map((dish) => [dish.sku, dish])) } as unknown as ListedMenu;
}

function orderOf(items: Case[]) {
  return items.map((item, index) => ({
    item_id: `D${index}`,
    quantity: item.quantity,
    ...(item.variant === null ? {} : { variant_id: 'variant' }),
    addons: item.addons.map((addon, position) => ({
      addon_id: `${position}`,
      ...(addon.quantity === null ? {} : { quantity: addon.quantity }),
    })),
  }));
}

const linesOf = ({ lines }: { lines: string }) => JSON.parse(lines) as OrderLine[];

function dishWith(sku: string, addonNames: string[]): Dish {
  const addons = addonNames.map((name, index) => ({ id: String(index), name, price: '1.00' }));
  const bare = { sku, name: sku, price: '1.00', is_taxable: false, extra_tax_percentage: '0.00', price_variants: [] };
  return { ...bare, addons } as unknown as Dish;
}

function menuWith(dishes: Dish[]) {
  return { bySku: new Map(dishes.map((dish) => [dish.sku, dish])) };
}

describe('the dishes of an order', () => {
  it('the lines of an order are in the same order as its items, also if a dish is ordered several times', async () => {
    const skus = Array.from({ length: 40 }, (_, index) => `D${index}`);
    const menu = menuWith(skus.map((sku) => dishWith(sku, ['A', 'B'])));
    const ordered = [...skus, ...skus.toReversed(), ...skus];
    const priced = await priceItems(
      menu,
      ordered.map((sku, index) => ({ item_id: sku, quantity: index + 1, addons: [{ addon_id: String(index % 2) }] })),
    );
    assert.deepEqual(
      linesOf(priced).map((line) => [line.sku, line.quantity, line.addons[0]?.name]),
      ordered.map((sku, index) => [sku, index + 1, index % 2 === 0 ? 'A' : 'B']),
    );
  });

  it('if an order has several invalid items, the error names the first one, even if a valid and an invalid item have the same dish', async () => {
    const menu = menuWith(['A', 'B', 'C'].map((sku) => dishWith(sku, [])));
    const item = (sku: string, more: object = {}) => ({ item_id: sku, quantity: 1, ...more });
    const bad = { variant_id: 'none' };
    for (const [items, fault] of [
      [[item('A'), item('B', bad), item('A', bad), item('none')], 'items.1.variant_id'],
      [[item('A'), item('B'), item('A', bad), item('B', bad)], 'items.2.variant_id'],
      [[item('A'), item('none'), item('A', bad)], 'items.1.item_id'],
      [[item('A'), item('B', { addons: [{ addon_id: 'x' }] }), item('A', bad)], 'items.1.addons.0.addon_id'],
    ] as const) {
      await assert.rejects(
        () => priceItems(menu, [...items]),
        ({ message }: Error) => message.startsWith(`${fault}: `),
      );
    }
  });

  it('an order whose lines exceed 128 KiB is refused, but if it also contains an unknown dish, the error reports that dish', async () => {
    const menu = menuWith([dishWith('D', ['\u{1f355}'.repeat(512)])]);
    const items = (lines: number) =>
      Array.from({ length: lines }, () => ({ item_id: 'D', quantity: 1, addons: [{ addon_id: '0' }] }));
    const lineBytes = Buffer.byteLength((await priceItems(menu, items(1))).lines) - 1;
    const most = Math.floor((MAX_ORDER_LINES_BYTES - 1) / lineBytes);
    const fitting = await priceItems(menu, items(most));
    assert.equal(Buffer.byteLength(fitting.lines), 1 + most * lineBytes);
    const bytes = 1 + (most + 1) * lineBytes;
    await assert.rejects(
      () => priceItems(menu, items(most + 1)),
      ({ message }: Error) =>
        message.startsWith(
          `items: would take ${bytes} bytes with the names from the menu, but an order may have at most 131072. `,
        ),
    );
    await assert.rejects(() => priceItems(menu, [...items(most + 1), { item_id: 'F', quantity: 1 }]), {
      code: 'item_not_found',
    });
  });
});

describe('the price of an order', () => {
  it('the line totals and the total of random orders are the same as in an exact calculation with integers', async () => {
    let pricedCount = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(cases, { minLength: 1, maxLength: 5 }), async (items) => {
        const lines = items.map(expectedCents);
        const total = lines.reduce((sum, line) => sum + line, 0n);
        if (total > 9_999_999_999n) {
          await assert.rejects(
            () => priceItems(menuOf(items), orderOf(items)),
            (error: unknown) => error instanceof ApiError && error.code === 'invalid_request',
          );
          return;
        }
        pricedCount += 1;
        const priced = await priceItems(menuOf(items), orderOf(items));
        assert.deepEqual(
          linesOf(priced).map((line) => line.total),
          lines.map(text),
        );
        assert.equal(priced.total, text(total));
      }),
      { numRuns: 2_000 },
    );
    assert.ok(pricedCount > 500, `only ${pricedCount} could be priced`);
  });

  it('the total of an order may be 99,999,999.99, but one cent more is refused', async () => {
    const line = { variant: null, addons: [], quantity: 1, taxPercentage: 0, isTaxable: true };
    const largest = [{ ...line, price: 9_999_999_999 }];
    assert.equal((await priceItems(menuOf(largest), orderOf(largest))).total, '99999999.99');
    const beyond = [...largest, { ...line, price: 1 }];
    await assert.rejects(() => priceItems(menuOf(beyond), orderOf(beyond)), { code: 'invalid_request' });
  });
});

const service = await useService();

describe('POST /v1/third-party/orders/ prices', () => {
  async function orderFrom(dish: object, items: (ids: { variant: string; addon: string }) => object[]) {
    const menu = {
      categories: [{ name: 'C' }],
      dishes: [{ sku: 'D', name: 'D', price: '1.00', category: 'C', ...dish }],
    };
    const tenant = await service.tenant({ menu });
    const { price_variants, addons } = await dishOf(service, tenant, 'D');
    const ids = { variant: price_variants[0]?.id ?? '', addon: addons[0]?.id ?? '' };
    const placed = await place(service, tenant, { items: items(ids).map((item) => ({ item_id: 'D', ...item })) });
    assert.equal(placed.status, 201, placed.text);
    const path = `${STAFF_ORDERS}${placed.body.order_id}/`;
    const { body } = await service.call('GET', path, { headers: tenant.staff });
    return { lines: body.lines, total: body.total, totals: body.lines.map((line: { total: string }) => line.total) };
  }

  it("201: a line costs quantity × (unit price + add-ons), and a variant's price replaces the dish's price", async () => {
    const dish = {
      price: '10.00',
      price_variants: [{ name: 'L', price: '13.00' }],
      addons: [{ name: 'A', price: '1.50' }],
    };
    const { lines, totals, total } = await orderFrom(dish, ({ variant, addon }) => [
      { quantity: 3 },
      { quantity: 2, addons: [{ addon_id: addon }] },
      { quantity: 2, variant_id: variant, addons: [{ addon_id: addon, quantity: 3 }, { addon_id: addon }] },
    ]);
    assert.deepEqual(totals, ['30.00', '23.00', '38.00']);
    assert.equal(total, '91.00');
    assert.deepEqual(
      lines.map((line: { unit_price: string; variant: string | null }) => [line.unit_price, line.variant]),
      [
        ['10.00', null],
        ['10.00', null],
        ['13.00', 'L'],
      ],
    );
    assert.deepEqual(lines[2].addons, [
      { name: 'A', quantity: 3, price: '1.50' },
      { name: 'A', quantity: 1, price: '1.50' },
    ]);
  });

  it('201: the price with tax is rounded half up for each line, and the total is the sum of the rounded lines', async () => {
    const dish = { price: '0.10', extra_tax_percentage: '5' };
    const { totals, total } = await orderFrom(dish, () => [{ quantity: 1 }, { quantity: 1 }, { quantity: 3 }]);
    // The prices of the three lines before rounding are 0.105, 0.105 and 0.315.
    assert.deepEqual(totals, ['0.11', '0.11', '0.32']);
    assert.equal(total, '0.54');
  });

  it('201: no tax is added to a dish that is not taxable', async () => {
    const dish = { price: '2.50', extra_tax_percentage: '19.00', is_taxable: false };
    const { lines, total } = await orderFrom(dish, () => [{ quantity: 2 }]);
    assert.deepEqual([lines[0].extra_tax_percentage, total], ['0.00', '5.00']);
  });

  it('201: a dish may cost 0.00, and an order may cost 99,999,999.99', async () => {
    assert.equal((await orderFrom({ price: '0' }, () => [{ quantity: 2_147_483_647 }])).total, '0.00');
    assert.equal((await orderFrom({ price: '99999999.99' }, () => [{ quantity: 1 }])).total, '99999999.99');
  });

  it('400: an order with a total above 99,999,999.99 is refused and not stored', async () => {
    const tenant = await service.tenant();
    const rows = await dumpRows(service, 'restaurant_order');
    for (const quantity of [10_000_000, 2_147_483_647]) {
      const answer = await place(service, tenant, { items: [{ item_id: 'PIZZA-1', quantity }] });
      assert.match(assertError(answer, 400, 'invalid_request'), /^items: /);
    }
    assert.deepEqual(await dumpRows(service, 'restaurant_order'), rows);
    assert.deepEqual((await service.call('GET', ORDERS, { headers: tenant.partner })).body, []);
  });

  it('200: an order keeps its names, prices and currency even if the menu and the currency of the tenant change later', async () => {
    const tenant = await service.tenant();
    const { body } = await place(service, tenant);
    const read = async () =>
      (await service.call('GET', `${STAFF_ORDERS}${body.order_id}/`, { headers: tenant.staff })).body;
    const asPlaced = await read();
    const change = { price: '99', name: 'Dear', extra_tax_percentage: '50', is_active: false };
    await service.call('PATCH', '/v1/staff/dishes/PIZZA-1/', { headers: tenant.staff, json: change });
    const { menu: _, ...document } = tenant.document;
    await service.apply({ ...document, currency: 'CHF' });
    assert.deepEqual(await read(), asPlaced);
  });
});
