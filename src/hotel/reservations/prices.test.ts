import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  book,
  dayAhead,
  openHouse,
  pmsHeaders,
  STAFF_RESERVATIONS,
  type TestHotel,
  writePlan,
} from '#test/support/hotel.ts';
import { startService, type TestService } from '#test/support/service.ts';

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

type Plan = { name: string; base_price: string; min_nights?: number; is_active?: boolean };

const houseOf = (rate_plans: Plan[], base_price: string | null = '90.00') =>
  openHouse(service, [{ name: 'Double', max_occupancy: 2, base_price, physical_capacity: 50, rate_plans }]);

/** What two nights cost, and under which plan. */
async function priceOf(house: TestHotel, changes: Record<string, unknown> = {}): Promise<[string, string | null]> {
  const booked = await book(service, house, changes);
  assert.equal(booked.status, 201, booked.text);
  const path = `${STAFF_RESERVATIONS}${booked.body.reservation_id}/`;
  const { body } = await service.call('GET', path, { headers: house.staff });
  assert.equal(body.total_amount, booked.body.total_amount);
  const name = Object.entries(house.plans).find(([, id]) => id === body.rate_plan_id)?.[0] ?? null;
  return [body.total_amount, name?.split('/')[1] ?? null];
}

describe('a partner pays', () => {
  it('the cheapest of the active plans', async () => {
    const house = await houseOf([
      { name: 'Flexible', base_price: '100' },
      { name: 'Saver', base_price: '80.5' },
      { name: 'Withdrawn', base_price: '1.00', is_active: false },
    ]);
    assert.deepEqual(await priceOf(house), ['161.00', 'Saver']);
  });

  it('as numbers compare, not as texts', async () => {
    const house = await houseOf([
      { name: 'Nine', base_price: '9.00' },
      { name: 'Ten', base_price: '10.00' },
    ]);
    assert.deepEqual(await priceOf(house, { check_out: dayAhead(31) }), ['9.00', 'Nine']);
  });

  it('of two plans at one price the first in the tenant document', async () => {
    const house = await houseOf([
      { name: 'Zebra', base_price: '70.00' },
      { name: 'Ant', base_price: '70.00' },
    ]);
    assert.deepEqual(await priceOf(house), ['140.00', 'Zebra']);
  });

  it('the least for the whole stay, the prices of single nights included', async () => {
    const house = await houseOf([
      { name: 'Flexible', base_price: '100.00' },
      { name: 'Saver', base_price: '80.00' },
    ]);
    const pms = await pmsHeaders(service, house);
    await writePlan(service, pms, 'rates', house.plans['Double/Saver'], [
      { date: dayAhead(31), price: '120.05' },
      { date: dayAhead(32), price: '0' },
    ]);
    assert.deepEqual(await priceOf(house), ['200.00', 'Flexible']);
    assert.deepEqual(await priceOf(house, { check_out: dayAhead(33) }), ['200.05', 'Saver']);
    assert.deepEqual(
      await priceOf(house, { check_in: dayAhead(29), check_out: dayAhead(31) }),
      ['160.00', 'Saver'],
      'the night of departure costs nothing',
    );
  });

  it('the next one where the cheapest is closed on a night or asks for a longer stay', async () => {
    const house = await houseOf([
      { name: 'Flexible', base_price: '100.00' },
      { name: 'Weekly', base_price: '50.00', min_nights: 7 },
      { name: 'Saver', base_price: '80.00' },
    ]);
    assert.deepEqual(await priceOf(house), ['160.00', 'Saver']);
    assert.deepEqual(await priceOf(house, { check_out: dayAhead(36) }), ['480.00', 'Saver']);
    assert.deepEqual(await priceOf(house, { check_out: dayAhead(37) }), ['350.00', 'Weekly']);
    const pms = await pmsHeaders(service, house);
    const closed = [{ date: dayAhead(31), price: 80, is_sold_out: true }];
    await writePlan(service, pms, 'rates', house.plans['Double/Saver'], closed);
    assert.deepEqual(await priceOf(house), ['200.00', 'Flexible']);
    assert.deepEqual(await priceOf(house, { check_out: dayAhead(31) }), ['80.00', 'Saver']);
  });

  it('nothing, where a plan costs nothing', async () => {
    const house = await houseOf([
      { name: 'Flexible', base_price: '100.00' },
      { name: 'Owners', base_price: '0.00' },
    ]);
    assert.deepEqual(await priceOf(house), ['0.00', 'Owners']);
  });

  it("the room type's own price where no plan is active, and 0.00 where it has none", async () => {
    const withdrawn = [{ name: 'Old', base_price: '1.00', is_active: false }];
    assert.deepEqual(await priceOf(await houseOf([])), ['180.00', null]);
    assert.deepEqual(await priceOf(await houseOf(withdrawn, '90.10')), ['180.20', null]);
    assert.deepEqual(await priceOf(await houseOf([], null)), ['0.00', null]);
    assert.deepEqual(await priceOf(await houseOf(withdrawn, null)), ['0.00', null]);
  });

  it('the highest price for the longest stay, to the cent', async () => {
    const house = await houseOf([{ name: 'Royal', base_price: '99999999.99' }]);
    const years = { check_in: '2090-01-01', check_out: '2092-01-01' };
    assert.deepEqual(await priceOf(house, years), ['72999999992.70', 'Royal']);
  });

  it('what it was when booked, whatever the plan costs later', async () => {
    const house = await houseOf([{ name: 'Flexible', base_price: '100.00' }]);
    const booked = await book(service, house, { external_reservation_id: 'early' });
    const pms = await pmsHeaders(service, house);
    await writePlan(service, pms, 'rates', house.plans['Double/Flexible'], [{ date: dayAhead(30), price: '7' }]);
    assert.deepEqual((await book(service, house, { external_reservation_id: 'early' })).body, booked.body);
    assert.deepEqual(await priceOf(house), ['107.00', 'Flexible']);
  });
});
