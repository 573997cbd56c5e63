import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bookByOta, bookByPartner, hotelTenant, PMS } from '#test/support/pms.ts';
import { useService } from '#test/support/shared-service.ts';

const service = await useService();
const hotel = await hotelTenant(service);
const double = hotel.id('Harbour House', 'Double');
const suite = hotel.id('Harbour House', 'Suite');

describe('GET /v1/channel-manager/pms/inventory/', () => {
  const ask = (query: string, headers = hotel.pms) => service.call('GET', `${PMS}/inventory/?${query}`, { headers });
  const inventory = async (roomTypeId: string, checkIn: string, checkOut: string) => {
    const answer = await ask(`room_type_id=${roomTypeId}&check_in=${checkIn}&check_out=${checkOut}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body as { date: string; physical_capacity: number; sellable: number }[];
  };
  const sellable = async (roomTypeId: string, checkIn: string, checkOut: string) =>
    (await inventory(roomTypeId, checkIn, checkOut)).map((entry) => entry.sellable);

  it('200: the inventory has date, capacity and sellable rooms for each night from check_in to the night before check_out', async () => {
    assert.deepEqual(await inventory(double, '2028-02-27', '2028-03-02'), [
      { date: '2028-02-27', physical_capacity: 3, sellable: 3 },
      { date: '2028-02-28', physical_capacity: 3, sellable: 3 },
      { date: '2028-02-29', physical_capacity: 3, sellable: 3 },
      { date: '2028-03-01', physical_capacity: 3, sellable: 3 },
    ]);
  });

  it('200: the inventory has each night once, also when the clocks go forward or back in the range', async () => {
    for (const [from, to] of [
      ['2027-03-26', '2027-03-30'],
      ['2027-10-29', '2027-11-02'],
    ] as const) {
      const dates = (await inventory(double, from, to)).map((entry) => entry.date);
      assert.equal(new Set(dates).size, 4);
      assert.equal(dates[0], from);
    }
  });

  it('200: a booking takes a room on its nights but not on the day of check-out, and a cancellation releases the room', async () => {
    const stay = { room_type_id: double, check_in: '2101-05-02', check_out: '2101-05-04' };
    assert.equal((await bookByPartner(service, hotel, { ...stay, external_reservation_id: 'mine' })).status, 201);
    assert.deepEqual(await sellable(double, '2101-05-01', '2101-05-05'), [3, 2, 2, 3]);
    const cancelled = await service.call('POST', '/v1/third-party/hotels/reservations/mine/cancel/', {
      headers: hotel.partner,
    });
    assert.equal(cancelled.status, 200, cancelled.text);
    assert.deepEqual(await sellable(double, '2101-05-01', '2101-05-05'), [3, 3, 3, 3]);
  });

  it('200: sellable is negative after OTAs have oversold a night', async () => {
    const stay = { room_type_id: suite, check_in: '2026-05-02', check_out: '2026-05-04' };
    for (const checkOut of ['2026-05-04', '2026-05-04', '2026-05-03']) {
      assert.equal((await bookByOta(service, hotel, { ...stay, check_out: checkOut })).status, 201);
    }
    assert.deepEqual(await inventory(suite, '2026-05-01', '2026-05-05'), [
      { date: '2026-05-01', physical_capacity: 1, sellable: 1 },
      { date: '2026-05-02', physical_capacity: 1, sellable: -2 },
      { date: '2026-05-03', physical_capacity: 1, sellable: -1 },
      { date: '2026-05-04', physical_capacity: 1, sellable: 1 },
    ]);
  });

  it('200: the inventory shows the free rooms of a night that is closed for sale, although partners see 0 sellable rooms', async () => {
    const closed = await service.call('PUT', `${PMS}/restrictions/`, {
      headers: hotel.pms,
      json: {
        rate_plan_id: hotel.id('Harbour House', 'Suite', 'Suite rate'),
        restrictions: [{ date: '2101-08-01', stop_sell: true }],
      },
    });
    assert.equal(closed.status, 200, closed.text);
    assert.deepEqual(await sellable(suite, '2101-08-01', '2101-08-03'), [1, 1]);
    const shown = await service.call(
      'GET',
      `/v1/third-party/hotels/availability/?room_type_id=${suite}&check_in=2101-08-01&check_out=2101-08-03`,
      { headers: hotel.partner },
    );
    assert.deepEqual(
      shown.body.days.map((day: { sellable: number }) => day.sellable),
      [0, 1],
    );
  });

  it('200: the inventory accepts 730 nights, the first and the last supported date, and a room type id in capital letters', async () => {
    assert.equal((await inventory(double, '2027-01-01', '2028-12-31')).length, 730);
    assert.deepEqual(await sellable(double, '0001-01-01', '0001-01-02'), [3]);
    assert.deepEqual(await sellable(double, '9999-12-30', '9999-12-31'), [3]);
    assert.deepEqual(await sellable(double.toUpperCase(), '2027-01-01', '2027-01-02'), [3]);
  });

  it('400 invalid_request: a check_out that is not after check_in, or is more than 730 nights later, is refused', async () => {
    const id = `room_type_id=${double}`;
    for (const [query, field] of [
      [`${id}&check_in=2027-05-02&check_out=2027-05-02`, 'check_out'],
      [`${id}&check_in=2027-05-02&check_out=2027-05-01`, 'check_out'],
      [`${id}&check_in=2027-01-01&check_out=2029-01-01`, 'check_out'],
    ] as const) {
      const answer = await ask(query);
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request'], query);
      assert.deepEqual(Object.keys(answer.body), ['code', 'message']);
      assert.match(answer.body.message, new RegExp(`(^|\\| )${field}: `), query);
    }
  });
});
