import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultsOf } from '#test/support/answers.ts';
import { dishOf, place, STAFF_ORDERS } from '#test/support/restaurant.ts';
import { useService } from '#test/support/shared-service.ts';

const QUOTE = '/v1/third-party/orders/quote/';
const MAX_LINES_BYTES = 131_072;

const service = await useService();
const dishes = [
  { sku: 'A', name: 'A', price: '1.00', category: 'C', addons: [{ name: 'X', price: '1.00' }] },
  { sku: 'FREE', name: 'n'.repeat(255), price: '0.00', category: 'C' },
];
const tenant = await service.tenant({ menu: { categories: [{ name: 'C' }], dishes } });
const addon_id = (await dishOf(service, tenant, 'A')).addons[0]?.id ?? '';

interface Item {
  item_id: string;
  quantity: number;
  addons?: { addon_id: string }[];
}

function itemsOf(items: number, addons = 0): Item[] {
  return Array.from({ length: items }, (_, index) => {
    const count = Math.floor(addons / items) + (index < addons % items ? 1 : 0);
    return { item_id: 'A', quantity: 1, addons: Array.from({ length: count }, () => ({ addon_id })) };
  });
}

async function linesOf(orderId: string): Promise<unknown[]> {
  const path = `${STAFF_ORDERS}${orderId}/`;
  return (await service.call('GET', path, { headers: tenant.staff })).body.lines;
}

const quote = (items: Item[]) => service.call('POST', QUOTE, { headers: tenant.partner, json: { items } });

async function assertPlaced(items: Item[]): Promise<void> {
  const placed = await place(service, tenant, { items });
  assert.equal(placed.status, 201, placed.text);
  const lines = await linesOf(placed.body.order_id);
  assert.equal(lines.length, items.length);
  assert.deepEqual((await quote(items)).body.lines, lines);
}

async function assertRefused(items: Item[], fault: string): Promise<void> {
  assert.deepEqual(faultsOf(await place(service, tenant, { items })), [fault]);
  assert.deepEqual(faultsOf(await quote(items)), [fault]);
}

describe('the bounds of an order', () => {
  it('201: an order may have 500 items; 400: an order of 501 items is refused', async () => {
    await assertPlaced(itemsOf(500));
    await assertRefused(itemsOf(501), 'items: must have at most 500 entries');
  });

  it('201: an order may have 2,000 items and add-ons together; 400: an order of 2,001 is refused', async () => {
    await assertPlaced(itemsOf(500, 1_500));
    const fault =
      'items: are 2001 items and add-ons together, but an order may have at most 2000. Send them as several orders';
    await assertRefused(itemsOf(500, 1_501), fault);
  });

  it('201: one item may have 1,000 add-ons; 400: one of 1,001 add-ons is refused', async () => {
    await assertPlaced(itemsOf(1, 1_000));
    await assertRefused(itemsOf(1, 1_001), 'items.0.addons: must have at most 1000 entries');
  });

  it('201: the lines of an order may have 128 KiB; 400: lines of one byte more are refused', async () => {
    const { body } = await quote([{ item_id: 'FREE', quantity: 1 }]);
    const lineBytes = JSON.stringify(body.lines[0]).length + 1;
    const count = Math.floor((MAX_LINES_BYTES - 1) / lineBytes);
    let missing = MAX_LINES_BYTES - 1 - count * lineBytes;
    // The dish costs nothing, so each further digit of a quantity is one byte more.
    const items = Array.from({ length: count }, (): Item => {
      const digits = Math.min(missing, 8);
      missing -= digits;
      return { item_id: 'FREE', quantity: 10 ** digits };
    });
    await assertPlaced(items);
    const last = items.at(-1);
    assert.ok(last);
    last.quantity = 10;
    await assertRefused(
      items,
      `items: would take ${MAX_LINES_BYTES + 1} bytes with the names from the menu, but an order may have at most ${MAX_LINES_BYTES}. ` +
        'Send them as several orders',
    );
  });
});
