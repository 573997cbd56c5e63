import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultsOf } from '#test/support/answers.ts';
import { place, setOrderStatus, STAFF_ORDERS } from '#test/support/restaurant.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { entriesOf } from '#test/support/lists.ts';
import { firstIdAt, newIdAt } from '#platform/lib/ids.ts';
import { callNumberOf } from '#platform/lib/natural-id.ts';
import { ORDER_STATUSES } from './order-status.ts';

const DAY_MS = 86_400_000;

const { service, tenant } = await useRestaurant();
const sibling = await service.credential(tenant.tenantId);
const orders: [
  customer: object,
  order_type: string,
  status: string,
  external_order_id: string,
  of: { partner: Record<string, string> },
][] = [
  [{ name: 'Inês Duarte', phone: '+351 912 345 678' }, 'delivery', 'pending', 'A', tenant],
  [{ name: 'INES', phone: '351-912.345.678' }, 'pick_up', 'ready', 'same', tenant],
  [{ name: 'Ines', phone: '912 345 678' }, 'delivery', 'completed', 'same', sibling],
  [{ name: 'Øyvind Łoś' }, 'take_away', 'cancelled', 'B', sibling],
  [{ phone: '0' }, 'delivery', 'preparing', 'C', tenant],
  [{}, 'delivery', 'pending', 'same again', sibling],
];
/** Ids of the orders of the tenant, oldest first. */
const ids: string[] = [];
for (const [customer, order_type, status, external_order_id, { partner }] of orders) {
  const { body } = await place(service, { partner }, { customer, order_type, external_order_id });
  ids.push(body.order_id);
  if (status !== 'pending') {
    assert.equal((await setOrderStatus(service, tenant, body.order_id, status)).status, 200);
  }
}
// An order of another tenant, which no list may show.
await place(service, await service.tenant(), { customer: { name: 'Inês', phone: '0' }, external_order_id: 'same' });

const list = (query: Record<string, string>, of = tenant) =>
  service.call('GET', `${STAFF_ORDERS}?${new URLSearchParams(query)}`, { headers: of.staff });
async function found(query: Record<string, string>): Promise<number[]> {
  const path = `${STAFF_ORDERS}?${new URLSearchParams(query)}`;
  const entries = await entriesOf(service, path, tenant.staff);
  assert.deepEqual(await entriesOf(service, path, tenant.staff, 1), entries);
  return entries.map(({ order_id }: { order_id: string }) => ids.indexOf(order_id));
}

describe('filters of GET /v1/staff/orders/', () => {
  it('200: open=true lists orders of every status except completed and cancelled', async () => {
    assert.deepEqual(await found({ open: 'true' }), [5, 4, 1, 0]);
    const own = await service.tenant();
    for (const status of ORDER_STATUSES) {
      const { body } = await place(service, own);
      await setOrderStatus(service, own, body.order_id, status);
      const listed = (await list({ open: 'true', ids: body.order_id }, own)).body.results.length;
      assert.equal(listed, status === 'completed' || status === 'cancelled' ? 0 : 1, status);
    }
  });

  it('200: the filter `ids` finds each order with a given id once, ignores unknown ids, and leaves out the order of another tenant', async () => {
    const unknown = firstIdAt(0);
    const theirs = (await place(service, await service.tenant())).body.order_id;
    assert.deepEqual(await found({ ids: [ids[0], ids[3]?.toUpperCase(), ids[0], unknown, theirs].join() }), [3, 0]);
    assert.deepEqual(await found({ ids: unknown }), []);
    assert.deepEqual(
      await found({ ids: Array.from({ length: 50 }, (_, index) => ids[index % 6]).join() }),
      [5, 4, 3, 2, 1, 0],
    );
  });

  it('200: credential_id, order_type and external_order_id each list the orders with this value', async () => {
    assert.deepEqual(await found({ credential_id: sibling.credential.id }), [5, 3, 2]);
    assert.deepEqual(await found({ credential_id: firstIdAt(0) }), []);
    assert.deepEqual(await found({ order_type: 'delivery' }), [5, 4, 2, 0]);
    assert.deepEqual(await found({ external_order_id: 'same' }), [2, 1]);
    assert.deepEqual(await found({ external_order_id: 'SAME' }), []);
  });

  it('200: the filter number finds an order in any status by its number of any case, of the last 31 days', async () => {
    const numbers = ids.map(callNumberOf);
    for (const [index, number] of numbers.entries()) {
      const expected = numbers.flatMap((each, at) => (each === number ? [at] : [])).reverse();
      assert.ok(expected.includes(index));
      assert.deepEqual(await found({ number }), expected);
      assert.deepEqual(await found({ number: number.toLowerCase() }), expected);
    }
    assert.deepEqual(await found({ number: 'NONE' }), []);
    assert.deepEqual(await found({ number: 'TOO LONG' }), []);
    const at = new Date(Date.now() - 32 * DAY_MS);
    const old = {
      ...(await service.database.db
        .selectFrom('restaurant_order')
        .selectAll()
        .where('id', '=', ids[2] ?? '')
        .executeTakeFirstOrThrow()),
      id: `${newIdAt(at).slice(0, -5)}1f240`,
      external_order_id: 'old',
      created_at: at,
    };
    await service.database.db
      .insertInto('restaurant_order')
      .values({ ...old, lines: JSON.stringify(old.lines) })
      .execute();
    assert.deepEqual((await list({ number: '3WJ0' })).body.results, []);
    const { results } = (await list({ number: '3wj0', created_from: new Date(0).toISOString() })).body;
    assert.deepEqual(
      results.map(({ order_id }: { order_id: string }) => order_id),
      [old.id],
    );
    await service.database.db.deleteFrom('restaurant_order').where('id', '=', old.id).execute();
  });

  it('200: the filter phone compares only the digits of both numbers', async () => {
    for (const phone of ['+351 912 345 678', '351912345678', '(351) 912-345-678']) {
      assert.deepEqual(await found({ phone }), [1, 0], phone);
    }
    assert.deepEqual(await found({ phone: '0' }), [4]);
    assert.deepEqual(await found({ phone: '35191234567' }), []);
  });

  it('200: digits of any script in the filter phone and in the number of the order are compared as 0 to 9', async () => {
    const other = await service.tenant();
    const phones = [
      '+٣٥١ ٩١٢',
      '+۳۵۱ ۹۱۲',
      '+३५१ ९१२',
      '＋３５１ ９１２',
      '+351 ٩١٢',
      '𝟛𝟝𝟙-912',
      '+351 912',
      '351 912\u00A03',
    ];
    for (const [index, phone] of phones.entries()) {
      const { status } = await place(service, other, { customer: { phone }, external_order_id: `digits-${index}` });
      assert.equal(status, 201);
    }
    const seven = phones.slice(0, 7);
    for (const phone of [...seven, '351912', '３５１９１２', '\u202A+351 912\u202C', '３５１٩۱२']) {
      const { body, text } = await list({ phone }, other);
      const { results } = body;
      assert.deepEqual(
        results.map(({ customer }: { customer: { phone: string } }) => customer.phone).reverse(),
        seven,
        text,
      );
    }
    assert.deepEqual((await list({ phone: '351' }, other)).body.results, [], 'a mixed number has all of its digits');
    assert.equal((await list({ phone: '3519123' }, other)).body.results.length, 1);
    for (const phone of ['一二三', '²', '①', '\u200E']) {
      assert.equal((await list({ phone }, other)).status, 400, phone);
    }
  });

  it('200: spaces and invisible characters around a name and a phone are not stored and not searched for, but those inside stay', async () => {
    const other = await service.tenant();
    const marks = [
      '\u200E',
      '\u200F',
      '\uFEFF',
      '\u202A',
      '\u202E',
      '\u2066',
      '\u2069',
      '\u00AD',
      '\u00A0',
      ' ',
      '\u3000',
      '\t\n',
    ];
    for (const [index, mark] of marks.entries()) {
      const customer = { name: `${mark} Ana\u200DMaria ${mark}`, phone: `${mark}${mark}${'1'.repeat(20)}${mark}` };
      const answer = await place(service, other, { customer, notes: mark, external_order_id: `mark-${index}` });
      assert.equal(answer.status, 201, answer.text);
      const { results } = (await list({ name: `${mark}ana` }, other)).body;
      assert.equal(results.length, index + 1);
      assert.deepEqual(results[0].customer, { name: 'Ana\u200DMaria', phone: '1'.repeat(20) });
      const stored = service.database.db
        .selectFrom('restaurant_order')
        .select('notes')
        .where('id', '=', results[0].order_id);
      assert.equal((await stored.executeTakeFirstOrThrow()).notes, mark);
    }
    const long = await place(service, other, { customer: { phone: ` ${'1'.repeat(21)}` }, external_order_id: 'long' });
    assert.equal(long.status, 400);
    assert.equal(long.body.message, 'customer.phone: must have at most 20 characters');
    assert.equal((await list({ name: '\u200E\u00A0' }, other)).body.message, 'name: must not be empty');
  });

  it('200: the filter `name` finds customers whose names begin with its text, and ignores case and accents', async () => {
    for (const name of ['ines', 'INÊS', 'Ine', 'i\u0301nes']) {
      assert.deepEqual(await found({ name }), [2, 1, 0], name);
    }
    assert.deepEqual(await found({ name: 'ines d' }), [0]);
    assert.deepEqual(await found({ name: 'oyvind los' }), [3]);
    assert.deepEqual(await found({ name: 'uarte' }), []);
    for (const name of ['%', '_nes', 'ines%', "'", '\\']) {
      assert.deepEqual(await found({ name }), [], name);
    }
  });

  it('200: names in other alphabets, long names and names with unusual characters are stored and found', async () => {
    const own = await service.tenant();
    for (const [stored, searched] of [
      ['Йосип Ґалаґан', 'йосип ґ'],
      ['ΣΟΦΊΑΣ', 'σοφιασ'],
      ['Strauß', 'STRAUß'],
      ['田中 花子', '田中'],
      ['ﷺ'.repeat(255), 'ﷺ'],
      ['e\u0301'.repeat(127), 'éé'],
      ['🍕 Ana', '🍕 a'],
    ]) {
      const { body } = await place(service, own, { customer: { name: stored } });
      const listed = (await list({ name: searched ?? '' }, own)).body.results;
      assert.deepEqual(
        listed.map(({ order_id }: { order_id: string }) => order_id),
        [body.order_id],
        searched,
      );
    }
  });

  it('200: a search by name finds orders of the last 31 days, and with created_from all orders since this time', async () => {
    const own = await service.tenant();
    const insert = async (daysAgo: number) => {
      const at = new Date(Date.now() - daysAgo * DAY_MS);
      const row = {
        tenant_id: own.tenantId,
        id: firstIdAt(at.getTime()),
        credential_id: own.credential.id,
        external_order_id: `${daysAgo}`,
        status: 'pending',
        order_type: 'delivery',
        customer_name: 'Ana',
        customer_search_name: 'ana',
        lines: '[]',
        total: '0.00',
        currency: 'EUR',
        created_at: at,
        status_changed_at: at,
      };
      await service.database.db.insertInto('restaurant_order').values(row).execute();
    };
    await Promise.all([40, 32, 30].map(insert));
    const daysOf = async (query: Record<string, string>) =>
      (await list({ name: 'ana', ...query }, own)).body.results.map(
        (order: Record<string, string>) => order['external_order_id'],
      );
    const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
    assert.deepEqual(await daysOf({}), ['30']);
    assert.deepEqual(await daysOf({ created_from: daysAgo(35) }), ['30', '32']);
    assert.deepEqual(await daysOf({ created_from: '1969-01-01T00:00:00Z' }), ['30', '32', '40']);
    assert.deepEqual(await daysOf({ created_to: daysAgo(31) }), []);
  });

  it('200: an order at exactly created_from is listed, and an order at exactly created_to is not', async () => {
    const own = await service.tenant();
    const { body } = await place(service, own);
    const { created_at } = (await service.call('GET', `${STAFF_ORDERS}${body.order_id}/`, { headers: own.staff })).body;
    const at = (ms: number) => new Date(Date.parse(created_at) + ms).toISOString();
    const finer = created_at.replace('Z', '4Z');
    const count = async (query: Record<string, string>) => (await list(query, own)).body.results.length;
    assert.deepEqual(
      [
        await count({ created_from: created_at }),
        await count({ created_from: at(1) }),
        await count({ created_from: finer }),
      ],
      [1, 0, 0],
    );
    assert.deepEqual(
      [await count({ created_to: created_at }), await count({ created_to: at(1) }), await count({ created_to: finer })],
      [0, 1, 1],
    );
    assert.equal(await count({ created_from: at(0), created_to: at(1) }), 1);
    assert.equal(await count({ created_from: at(5), created_to: at(1) }), 0);
    assert.equal(await count({ created_from: '0001-01-01T00:00:00Z', created_to: '9999-12-31T23:59:59Z' }), 1);
  });

  it('200: order=oldest lists the oldest order first', async () => {
    assert.deepEqual(await found({ order: 'oldest' }), [0, 1, 2, 3, 4, 5]);
    assert.deepEqual(await found({ order: 'oldest', open: 'true' }), [0, 1, 4, 5]);
  });

  it('200: combined filters list the orders that pass all of them', async () => {
    assert.deepEqual(
      await found({ open: 'true', order_type: 'delivery', credential_id: tenant.credential.id }),
      [4, 0],
    );
    assert.deepEqual(await found({ status: 'pending', open: 'true', credential_id: sibling.credential.id }), [5]);
    assert.deepEqual(await found({ status: 'completed', open: 'true' }), []);
    assert.deepEqual(await found({ name: 'ines', phone: '351912345678', order: 'oldest' }), [0, 1]);
    assert.deepEqual(await found({ external_order_id: 'same', ids: ids.join(), status: 'ready' }), [1]);
  });

  it('400: a phone number without digits is refused', async () => {
    for (const phone of ['', 'unknown', '+']) {
      const faults = faultsOf(await list({ phone }));
      assert.ok(faults[0]?.startsWith('phone: '), `${phone}: ${faults.join()}`);
    }
  });
});
