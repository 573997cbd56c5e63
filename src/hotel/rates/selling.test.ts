import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { AVAILABILITY } from '#test/support/hotel.ts';
import { bookByPartner, hotelTenant, type ManagedHotel, PMS } from '#test/support/pms.ts';
import type { Answer } from '#test/support/http.ts';
import { useService } from '#test/support/shared-service.ts';
import { countWaiting } from '#test/support/statements.ts';
import { eventually } from '#test/support/webhooks.ts';

const service = await useService();

describe('effect of rates and restrictions from a PMS on bookings of partners', () => {
  let hotel: ManagedHotel;
  beforeEach(async () => {
    hotel = await hotelTenant(service);
  });

  const put = async (list: 'rates' | 'restrictions', plan: string, entries: object[]) => {
    const json = { rate_plan_id: hotel.id('Harbour House', 'Double', plan), [list]: entries };
    const answer = await service.call('PUT', `${PMS}/${list}/`, { headers: hotel.pms, json });
    assert.equal(answer.status, 200, answer.text);
  };
  const book = (check_in: string, check_out: string): Promise<Answer> =>
    bookByPartner(service, hotel, { room_type_id: hotel.id('Harbour House', 'Double'), check_in, check_out });
  const total = async (checkIn: string, checkOut: string): Promise<string> => {
    const answer = await book(checkIn, checkOut);
    assert.equal(answer.status, 201, answer.text);
    return answer.body.total_amount;
  };
  const isRefused = async (checkIn: string, checkOut: string) => {
    const answer = await book(checkIn, checkOut);
    assert.deepEqual([answer.status, answer.body.code], [409, 'room_not_available'], answer.text);
  };
  const sellable = async (): Promise<number[]> => {
    const query = `room_type_id=${hotel.id('Harbour House', 'Double')}&check_in=2101-01-01&check_out=2101-01-04`;
    const { body } = await service.call('GET', `${AVAILABILITY}?${query}`, { headers: hotel.partner });
    return body.days.map((day: { sellable: number }) => day.sellable);
  };

  it('a stay costs the sum of the nightly prices of its rate plan, and the price on the day of check-out does not count', async () => {
    await put('rates', 'Saver', [
      { date: '2101-01-01', price: '70.10' },
      { date: '2101-01-02', price: 0 },
      { date: '2101-01-04', price: 9_999 },
    ]);
    assert.equal(await total('2101-01-01', '2101-01-04'), '150.10', 'the price on the day of check-out does not count');
  });

  it('a booking gets the rate plan that is cheapest for the whole stay, not the cheapest plan of each night', async () => {
    await put('rates', 'Saver', [{ date: '2101-01-01', price: 1_000 }]);
    assert.equal(await total('2101-01-01', '2101-01-04'), '300.00');
    assert.equal(await total('2101-01-02', '2101-01-04'), '160.00');
  });

  it('a booking does not get a rate plan that is sold out on one of the booked nights', async () => {
    await put('restrictions', 'Saver', [{ date: '2101-01-02', stop_sell: true }]);
    assert.equal(await total('2101-01-01', '2101-01-03'), '200.00');
    assert.equal(await total('2101-01-03', '2101-01-05'), '160.00');
    await put('restrictions', 'Saver', [{ date: '2101-01-02' }]);
    assert.equal(await total('2101-01-01', '2101-01-03'), '160.00');
  });

  it('409 room_not_available: a night on which all active plans are sold out has 0 sellable rooms and cannot be booked', async () => {
    await put('rates', 'Flexible', [{ date: '2101-01-02', price: 1, is_sold_out: true }]);
    assert.deepEqual(await sellable(), [3, 3, 3], 'the plan Saver is still open');
    await put('restrictions', 'Saver', [{ date: '2101-01-02', stop_sell: true }]);
    assert.deepEqual(await sellable(), [3, 0, 3]);
    await isRefused('2101-01-01', '2101-01-03');
    await isRefused('2101-01-02', '2101-01-03');
    assert.equal(await total('2101-01-03', '2101-01-04'), '100.00');
    await put('rates', 'Flexible', [{ date: '2101-01-02', price: 1 }]);
    assert.deepEqual(await sellable(), [3, 3, 2]);
    assert.equal(await total('2101-01-02', '2101-01-03'), '1.00');
  });

  it('409 room_not_available: a stay of 2 nights is refused if one plan is sold out on night 1 and the other plan on night 2', async () => {
    await put('restrictions', 'Flexible', [{ date: '2101-01-01', stop_sell: true }]);
    await put('restrictions', 'Saver', [{ date: '2101-01-02', stop_sell: true }]);
    assert.deepEqual(await sellable(), [3, 3, 3]);
    await isRefused('2101-01-01', '2101-01-03');
  });

  it('if a PMS sends min_nights with one date, this min_nights applies to stays on all dates', async () => {
    assert.equal(await total('2101-02-01', '2101-02-02'), '100.00', 'the plan Saver requires two nights');
    await put('restrictions', 'Saver', [{ date: '2101-01-01', min_nights: 1 }]);
    assert.equal(await total('2101-02-01', '2101-02-02'), '80.00');
    await put('restrictions', 'Saver', [{ date: '2101-01-01', min_nights: 4 }]);
    await put('restrictions', 'Flexible', [{ date: '2101-01-01', min_nights: 3 }]);
    await isRefused('2101-02-01', '2101-02-03');
    assert.equal(await total('2101-02-01', '2101-02-04'), '300.00');
    assert.equal(await total('2101-03-01', '2101-03-05'), '320.00');
  });

  it('rates and restrictions of an inactive plan change neither the price of a stay nor the sellable rooms', async () => {
    await put('rates', 'Closed for good', [{ date: '2101-01-01', price: 0 }]);
    await put('restrictions', 'Closed for good', [{ date: '2101-01-02', stop_sell: true }]);
    assert.deepEqual(await sellable(), [3, 3, 3]);
    assert.equal(await total('2101-01-01', '2101-01-02'), '100.00');
  });

  it('a reservation keeps its total after a PMS changes the price of its night and closes that night', async () => {
    const booked = await book('2101-01-01', '2101-01-02');
    await put('rates', 'Flexible', [{ date: '2101-01-01', price: 500, is_sold_out: true }]);
    const { body } = await service.call('GET', `${PMS}/reservations/${booked.body.reservation_id}/`, {
      headers: hotel.pms,
    });
    assert.deepEqual([body.total_amount, body.status], ['100.00', 'confirmed']);
  });

  it('if a write of new prices waits for a lock, a booking does not wait, and gets the previous prices', async () => {
    await put('rates', 'Saver', [{ date: '2101-01-01', price: 70 }]);
    const { db } = service.database;
    let writing = Promise.resolve();
    await db.transaction().execute(async (tx) => {
      await sql`SELECT FROM rate WHERE tenant_id = ${hotel.tenantId} FOR UPDATE`.execute(tx);
      writing = put('rates', 'Saver', [{ date: '2101-01-01', price: 60 }]);
      await eventually(async () => (await countWaiting(db)) > 0, 'write of a price that waits for a lock');
      assert.equal(await total('2101-01-01', '2101-01-03'), '150.00');
    });
    await writing;
    assert.equal(await total('2101-01-01', '2101-01-03'), '140.00');
  });
});
