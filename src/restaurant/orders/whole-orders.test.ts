import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { insertOrders } from '#test/support/orders.ts';
import { STAFF_ORDERS } from '#test/support/restaurant.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { openRecorded, type RecordedDatabase } from '#test/support/statements.ts';
import type { OrderLine } from './schema.ts';

/**
 * Returns the JSON of order lines, with about `bytes` bytes. The text is random, so that the database cannot compress it. The JSON contains
 * spaces that the service itself never writes. If a response contains them too, the service has copied the stored text unchanged.
 */
function linesText(bytes: number): string {
  const name = Array.from({ length: Math.ceil(bytes / 11) }, () => Math.random().toString(36).slice(2, 13)).join('');
  const line: OrderLine = {
    sku: 'A',
    name,
    variant: null,
    quantity: 1,
    unit_price: '1.00',
    addons: [],
    extra_tax_percentage: '0.00',
    total: '1.00',
  };
  return `[ ${JSON.stringify(line)} ]`;
}

const { service, tenant } = await useRestaurant();

describe('the lines of orders in the responses to staff', () => {
  let node: TestService;
  let recorded: RecordedDatabase;
  /** Sizes of the lines of each order in bytes, newest order first. */
  const sizes = [130_000, 100, 100, 70_000, 100, 100, 20_000, 20_000, 100];
  const texts = sizes.map(linesText);
  let ids: string[];
  before(async () => {
    await insertOrders(service, tenant, sizes.length);
    const { db } = service.database;
    const rows = await db
      .selectFrom('restaurant_order')
      .select('id')
      .where('tenant_id', '=', tenant.tenantId)
      .orderBy('id', 'desc')
      .execute();
    ids = rows.map(({ id }) => id);
    for (const [index, id] of ids.entries()) {
      await sql`UPDATE restaurant_order SET lines = ${texts[index]} WHERE id = ${id}`.execute(db);
    }
    recorded = openRecorded(service.database.url, 2);
    node = await startService({ beside: { ...service, database: { ...service.database, db: recorded.db } } });
  });
  after(async () => {
    await node.close();
    await recorded.db.destroy();
  });

  const get = (path: string) => node.call('GET', path, { headers: tenant.staff });
  const linesOf = (of: { lines: unknown }[]) => of.map(({ lines }) => lines);
  const expected = texts.map((text): unknown => JSON.parse(text));

  it('200: the list of orders, and the response for each single order, contain the order lines exactly as they are stored', async () => {
    const list = await get(STAFF_ORDERS);
    assert.deepEqual(linesOf(list.body.results), expected);
    for (const [index, id] of ids.entries()) {
      const one = await get(`${STAFF_ORDERS}${id}/`);
      const { history, ...listed } = one.body;
      assert.deepEqual(listed, list.body.results[index]);
      assert.ok(one.text.includes(texts[index] ?? ''), 'the lines have the stored bytes');
      const [withoutHistory = ''] = one.text.split(',"history":');
      assert.ok(list.text.includes(withoutHistory));
    }
  });

  it('the list reads the lines of up to 25 orders together', async () => {
    const sent = await recorded.statementsOf(async () => {
      const list = await get(STAFF_ORDERS);
      assert.deepEqual([list.status, linesOf(list.body.results)], [200, expected]);
    });
    assert.equal(sent.filter((text) => text.includes('lines::text')).length, 1);
  });

  it('a status change does not read the lines of the order when it locks the row, and reads them once for the response', async () => {
    const [id] = ids;
    const sent = await recorded.statementsOf(async () => {
      const path = `${STAFF_ORDERS}${id}/status/`;
      const answer = await node.call('POST', path, { headers: tenant.staff, json: { status: 'confirmed' } });
      assert.deepEqual([answer.status, answer.body.status], [200, 'confirmed']);
      assert.ok(answer.text.includes(texts[0] ?? ''));
    });
    assert.deepEqual(
      sent.filter((text) => text.includes('lines')).map((text) => text.includes('for update')),
      [false],
    );
  });
});
