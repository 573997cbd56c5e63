import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { AVAILABILITY } from '#test/support/hotel.ts';
import { bookByPartner, hotelTenant, type ManagedHotel, PMS } from '#test/support/pms.ts';
import { type Answer, startService, type TestService } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';

describe('what a PMS writes is what partners book by', () => {
  let service: TestService;
  let hotel: ManagedHotel;
  before(async () => {
    service = await startService();
  });
  beforeEach(async () => {
    hotel = await hotelTenant(service);
  });
  after(() => service.close());

  const put = async (what: 'rates' | 'restrictions', plan: string, entries: object[]) => {
    const json = { rate_plan_id: hotel.id('Harbour House', 'Double', plan), [what]: entries };
    const answer = await service.call('PUT', `${PMS}/${what}/`, { headers: hotel.pms, json });
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

  it('a stay costs the sum of the nightly prices of its plan', async () => {
    await put('rates', 'Saver', [
      { date: '2101-01-01', price: '70.10' },
      { date: '2101-01-02', price: 0 },
      { date: '2101-01-04', price: 9_999 },
    ]);
    assert.equal(await total('2101-01-01', '2101-01-04'), '150.10', 'the day of check-out is not paid for');
  });

  it('the cheapest plan is taken by the whole stay, not by the night', async () => {
    await put('rates', 'Saver', [{ date: '2101-01-01', price: 1_000 }]);
    assert.equal(await total('2101-01-01', '2101-01-04'), '300.00');
    assert.equal(await total('2101-01-02', '2101-01-04'), '160.00');
  });

  it('a plan that is sold out on one night is not taken for a stay over it', async () => {
    await put('restrictions', 'Saver', [{ date: '2101-01-02', stop_sell: true }]);
    assert.equal(await total('2101-01-01', '2101-01-03'), '200.00');
    assert.equal(await total('2101-01-03', '2101-01-05'), '160.00');
    await put('restrictions', 'Saver', [{ date: '2101-01-02' }]);
    assert.equal(await total('2101-01-01', '2101-01-03'), '160.00');
  });

  it('409 room_not_available and 0 sellable on a night that every active plan is sold out on', async () => {
    await put('rates', 'Flexible', [{ date: '2101-01-02', price: 1, is_sold_out: true }]);
    assert.deepEqual(await sellable(), [3, 3, 3], 'one plan is still open');
    await put('restrictions', 'Saver', [{ date: '2101-01-02', stop_sell: true }]);
    assert.deepEqual(await sellable(), [3, 0, 3]);
    await isRefused('2101-01-01', '2101-01-03');
    await isRefused('2101-01-02', '2101-01-03');
    assert.equal(await total('2101-01-03', '2101-01-04'), '100.00');
    await put('rates', 'Flexible', [{ date: '2101-01-02', price: 1 }]);
    assert.deepEqual(await sellable(), [3, 3, 2]);
    assert.equal(await total('2101-01-02', '2101-01-03'), '1.00');
  });

  it('409 room_not_available where each plan is closed on another night of the stay, though no night is closed', async () => {
    await put('restrictions', 'Flexible', [{ date: '2101-01-01', stop_sell: true }]);
    await put('restrictions', 'Saver', [{ date: '2101-01-02', stop_sell: true }]);
    assert.deepEqual(await sellable(), [3, 3, 3]);
    await isRefused('2101-01-01', '2101-01-03');
  });

  it('min_nights counts for the whole plan, on every date', async () => {
    assert.equal(await total('2101-02-01', '2101-02-02'), '100.00', 'Saver asks for two nights');
    await put('restrictions', 'Saver', [{ date: '2101-01-01', min_nights: 1 }]);
    assert.equal(await total('2101-02-01', '2101-02-02'), '80.00');
    await put('restrictions', 'Saver', [{ date: '2101-01-01', min_nights: 4 }]);
    await put('restrictions', 'Flexible', [{ date: '2101-01-01', min_nights: 3 }]);
    await isRefused('2101-02-01', '2101-02-03');
    assert.equal(await total('2101-02-01', '2101-02-04'), '300.00');
    assert.equal(await total('2101-03-01', '2101-03-05'), '320.00');
  });

  it('what is written on an inactive plan sells nothing and closes nothing', async () => {
    await put('rates', 'Closed for good', [{ date: '2101-01-01', price: 0 }]);
    await put('restrictions', 'Closed for good', [{ date: '2101-01-02', stop_sell: true }]);
    assert.deepEqual(await sellable(), [3, 3, 3]);
    assert.equal(await total('2101-01-01', '2101-01-02'), '100.00');
  });

  it('a booking keeps the total it was made at', async () => {
    const booked = await book('2101-01-01', '2101-01-02');
    await put('rates', 'Flexible', [{ date: '2101-01-01', price: 500, is_sold_out: true }]);
    const { body } = await service.call('GET', `${PMS}/reservations/${booked.body.reservation_id}/`, {
      headers: hotel.pms,
    });
    assert.deepEqual([body.total_amount, body.status], ['100.00', 'confirmed']);
  });

  it('a stay is booked while the prices of its plan are being written, at those from before', async () => {
    await put('rates', 'Saver', [{ date: '2101-01-01', price: 70 }]);
    const { db } = service.database;
    let writing = Promise.resolve();
    await db.transaction().execute(async (tx) => {
      await sql`SELECT FROM rate WHERE tenant_id = ${hotel.tenantId} FOR UPDATE`.execute(tx);
      writing = put('rates', 'Saver', [{ date: '2101-01-01', price: 60 }]);
      await eventually(async () => {
        const { rows } = await sql`
          SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        `.execute(db);
        return rows.length > 0;
      }, 'a write that waits for the night');
      assert.equal(await total('2101-01-01', '2101-01-03'), '150.00');
    });
    await writing;
    assert.equal(await total('2101-01-01', '2101-01-03'), '140.00');
  });
});
