import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultsOf } from '#test/support/answers.ts';
import { book, bookForHouse, dayAhead, openChannel, openHotel, setStayStatus } from '#test/support/hotel.ts';
import { insertOrderAt, readDays, report } from '#test/support/reports.ts';
import { place, setOrderStatus } from '#test/support/restaurant.ts';
import type { TestTenant } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';

const service = await useService();

const NO_ORDERS = { orders: 0, order_total: '0.00', by_credential: [] };
const NO_STAYS = { arrivals: 0, rooms_sold: 0, room_revenue: '0.00' };

describe('the orders of GET /v1/staff/reports/days/', () => {
  it('200: the report has the orders of each day by partner, without cancelled orders, and also days without orders', async () => {
    const tenant = await service.tenant();
    const second = await service.credential(tenant.tenantId);
    await insertOrderAt(service, tenant, '2026-05-01T10:00:00Z', { total: '10.50' });
    await insertOrderAt(service, tenant, '2026-05-01T11:00:00Z', { total: '99999999.99', status: 'pending' });
    await insertOrderAt(service, tenant, '2026-05-01T12:00:00Z', { total: '5.00', status: 'cancelled' });
    await insertOrderAt(service, tenant, '2026-05-03T12:00:00Z', { credential_id: second.credential.id });
    await insertOrderAt(service, tenant, '2026-05-01T13:00:00Z', { credential_id: second.credential.id });
    const { status, body } = await report(service, tenant, 'from=2026-05-01&to=2026-05-04&format=json');
    const label = 'A platform';
    const ofSecond = { id: second.credential.id, label, orders: 1, total: '10.00' };
    const rooms = { ...NO_STAYS, rooms: 0 };
    assert.equal(status, 200);
    assert.deepEqual(body, [
      {
        date: '2026-05-01',
        orders: 3,
        order_total: '100000020.49',
        by_credential: [{ id: tenant.credential.id, label, orders: 2, total: '100000010.49' }, ofSecond],
        ...rooms,
      },
      { date: '2026-05-02', ...NO_ORDERS, ...rooms },
      { date: '2026-05-03', orders: 1, order_total: '10.00', by_credential: [ofSecond], ...rooms },
    ]);
  });

  it('200: a new order counts in the report of the present day, and does not count after it is cancelled', async () => {
    const tenant = await service.tenant({ timezone: 'UTC' });
    const { body: order } = await place(service, tenant);
    const [from, to] = [new Date(order.created_at ?? Date.now()).toISOString().slice(0, 10), dayAhead(2)];
    const total = async () =>
      Object.values(await readDays(service, tenant, from, to)).map(({ orders, order_total }) => [orders, order_total]);
    assert.deepEqual((await total())[0], [1, '10.75']);
    await setOrderStatus(service, tenant, order.order_id, 'cancelled');
    assert.deepEqual((await total())[0], [0, '0.00']);
  });

  /**
   * Days in several time zones, each with its begin and its end as an instant in UTC. The time zone of most of these days changes its clock
   * on that day.
   */
  const DAYS: [timezone: string, day: string, begin: string, end: string][] = [
    ['Europe/Lisbon', '2026-03-29', '2026-03-29T00:00:00Z', '2026-03-29T23:00:00Z'],
    ['Europe/Lisbon', '2026-10-25', '2026-10-24T23:00:00Z', '2026-10-26T00:00:00Z'],
    // The clock skips the time from 00:00 to 01:00, so the day begins at 01:00.
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00Z', '2026-09-07T03:00:00Z'],
    // The time from 00:00 to 01:00 occurs twice, and the day begins at the first 00:00.
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'],
    ['Pacific/Kiritimati', '2026-05-01', '2026-04-30T10:00:00Z', '2026-05-01T10:00:00Z'],
    // This day does not exist in this time zone, so it ends at the instant at which it begins.
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00Z', '2011-12-30T10:00:00Z'],
  ];
  for (const [timezone, day, begin, end] of DAYS) {
    it(`200: in ${timezone}, the report of ${day} counts the orders at or after ${begin} and before ${end}`, async () => {
      const tenant = await service.tenant({ timezone });
      const at = (instant: string, ms: number) => new Date(Date.parse(instant) + ms).toISOString();
      const [dayBefore, nextDay] = [addDays(day, -1), addDays(day, 1)];
      await insertOrderAt(service, tenant, at(begin, -1), { total: '1.00' });
      await insertOrderAt(service, tenant, at(end, 0), { total: '4.00' });
      if (begin !== end) {
        await insertOrderAt(service, tenant, begin, { total: '2.00' });
        await insertOrderAt(service, tenant, at(end, -1), { total: '2.00' });
      }
      const days = await readDays(service, tenant, dayBefore, addDays(day, 2));
      assert.deepEqual(
        [dayBefore, day, nextDay].map((each) => days[each]?.order_total),
        ['1.00', begin === end ? '0.00' : '4.00', '4.00'],
      );
      assert.equal((await readDays(service, tenant, day, nextDay))[day]?.orders, begin === end ? 0 : 2);
    });
  }

  it('200: after the currency of the tenant has changed, orders in the earlier currency count, but do not add to the total', async () => {
    const tenant = await service.tenant();
    await insertOrderAt(service, tenant, '2026-05-01T10:00:00Z', { total: '7.00' });
    await insertOrderAt(service, tenant, '2026-05-01T10:00:00Z', { total: '3.00', currency: 'CHF' });
    await service.apply({ ...tenant.document, currency: 'CHF' });
    const days = await readDays(service, tenant, '2026-05-01', '2026-05-02');
    assert.deepEqual([days['2026-05-01']?.orders, days['2026-05-01']?.order_total], [2, '3.00']);
  });
});

describe('the stays of GET /v1/staff/reports/days/', () => {
  const from = dayAhead(29);
  const to = dayAhead(34);
  const valuesOf = async (tenant: TestTenant) =>
    Object.values(await readDays(service, tenant, from, to)).map(({ arrivals, rooms_sold, rooms, room_revenue }) => [
      arrivals,
      rooms_sold,
      rooms,
      room_revenue,
    ]);

  it('200: the report has the arrivals, rooms and sum of prices of each night, over all properties and sources', async () => {
    const hotel = await openHotel(service);
    // The first stay has two nights at 80.00 each (plan "Saver"). The second stay has two nights at 70.00 each, in the second property.
    await book(service, hotel);
    await book(service, hotel, { room_type_id: hotel.roomTypes['Lagoon Lodge/Double'] });
    // An OTA gives one amount of 100.00 for three nights, so the nights have 33.33, 33.33 and 33.34.
    const sendFromOta = await openChannel(service, hotel);
    const ota = { external_id: 'ota', check_out: dayAhead(33), total_amount: '100.00' };
    assert.equal((await sendFromOta(ota)).status, 201);
    // A stay of 40 nights begins before the range and ends after it.
    const long = { check_in: dayAhead(10), check_out: dayAhead(50), total_amount: '400.00' };
    assert.equal((await bookForHouse(service, hotel, long)).status, 201);
    assert.deepEqual(await valuesOf(hotel), [
      [0, 1, 18, '10.00'],
      [3, 4, 18, '193.33'],
      [0, 4, 18, '193.33'],
      [0, 2, 18, '43.34'],
      [0, 1, 18, '10.00'],
    ]);
  });

  it('200: a cancelled or expired stay does not count in the report, but a completed stay and a no-show count', async () => {
    const hotel = await openHotel(service);
    const ids: string[] = [];
    for (const status of ['completed', 'no_show', 'cancelled', 'expired']) {
      const room = status === 'completed' || status === 'no_show' ? 'Double' : 'Bunk';
      const { body } = await bookForHouse(service, hotel, { room_type_id: hotel.roomTypes[room] });
      ids.push(body.reservation_id);
      const { db } = service.database;
      await db.updateTable('reservation').set({ status }).where('id', '=', body.reservation_id).execute();
    }
    assert.deepEqual((await valuesOf(hotel))[1], [2, 2, 18, '160.00']);
    assert.equal((await setStayStatus(service, hotel, ids[1] ?? '', 'cancelled')).status, 200);
    assert.deepEqual((await valuesOf(hotel))[1], [1, 1, 18, '80.00']);
  });

  it('200: after the currency of the tenant has changed, a stay in the earlier currency counts, but adds no revenue', async () => {
    const hotel = await openHotel(service);
    await book(service, hotel);
    await service.apply({ ...hotel.document, currency: 'CHF' });
    assert.deepEqual((await valuesOf(hotel))[1], [1, 1, 18, '0.00']);
  });
});

describe('GET /v1/staff/reports/days/', () => {
  it('200: without the restaurant or hotel feature, the values of orders or stays are zero, even if earlier orders or stays exist', async () => {
    const hotel = await openHotel(service);
    await book(service, hotel);
    await insertOrderAt(service, hotel, `${dayAhead(30)}T12:00:00Z`);
    const read = async () => (await readDays(service, hotel, dayAhead(30), dayAhead(31)))[dayAhead(30)];
    const both = await read();
    assert.deepEqual([both?.orders, both?.rooms_sold], [1, 1]);
    await service.apply({ ...hotel.document, features: ['restaurant'] });
    assert.deepEqual(await read(), { ...both, ...NO_STAYS, rooms: 0 });
    await service.apply({ ...hotel.document, features: ['hotel'] });
    assert.deepEqual(await read(), { ...both, ...NO_ORDERS });
  });

  it("200: the report has only the tenant's own orders and stays", async () => {
    const [hotel, other] = [await openHotel(service), await openHotel(service)];
    await book(service, other);
    await insertOrderAt(service, other, `${dayAhead(30)}T12:00:00Z`);
    assert.deepEqual(Object.values(await readDays(service, hotel, dayAhead(30), dayAhead(31))), [
      { date: dayAhead(30), ...NO_ORDERS, ...NO_STAYS, rooms: 18 },
    ]);
  });

  it('200: a report may have 31 days, its `from` may be 0001-01-01, and its `to` may be 9999-12-31', async () => {
    const hotel = await openHotel(service);
    for (const [from, to] of [
      ['2026-05-01', '2026-06-01'],
      ['0001-01-01', '0001-02-01'],
      ['9999-12-01', '9999-12-31'],
      ['2024-02-28', '2024-03-01'],
    ] as const) {
      const { status, body } = await report(service, hotel, `from=${from}&to=${to}`);
      assert.deepEqual([status, body.length, body[0].date], [200, countDays(from, to), from]);
    }
  });

  it('400: a report with a reversed, empty or too long range is refused', async () => {
    const tenant = await service.tenant();
    const faults = async (query: string) => faultsOf(await report(service, tenant, query));
    assert.deepEqual(await faults('from=2026-05-02&to=2026-05-01'), ['to: must be after `from`']);
    assert.deepEqual(await faults('from=2026-05-01&to=2026-05-01'), ['to: must be after `from`']);
    assert.deepEqual(await faults('from=2026-05-01&to=2026-06-02'), ['to: must be at most 31 days after `from`']);
  });
});

function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * 86_400_000).toISOString().slice(0, 10);
}

function countDays(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000;
}
