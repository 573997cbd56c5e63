import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  book,
  dayAhead,
  openSmallHotel,
  pmsHeaders,
  STAFF_RESERVATIONS,
  type TestHotel,
  writePlan,
} from '#test/support/hotel.ts';
import { useService } from '#test/support/shared-service.ts';

const service = await useService();

type Plan = { name: string; base_price: string; min_nights?: number; is_active?: boolean };

const openHotelWith = (rate_plans: Plan[], base_price: string | null = '90.00') =>
  openSmallHotel(service, [{ name: 'Double', max_occupancy: 2, base_price, physical_capacity: 50, rate_plans }]);

/**
 * Books a stay of two nights. The fields in `changes` replace the defaults. Returns the total and the name of the rate plan. The name is
 * null if the reservation has no rate plan.
 */
async function priceOf(hotel: TestHotel, changes: Record<string, unknown> = {}): Promise<[string, string | null]> {
  const booked = await book(service, hotel, changes);
  assert.equal(booked.status, 201, booked.text);
  const path = `${STAFF_RESERVATIONS}${booked.body.reservation_id}/`;
  const { body } = await service.call('GET', path, { headers: hotel.staff });
  assert.equal(body.total_amount, booked.body.total_amount);
  const name = Object.entries(hotel.plans).find(([, id]) => id === body.rate_plan_id)?.[0] ?? null;
  return [body.total_amount, name?.split('/')[1] ?? null];
}

describe('price of a stay that a partner books', () => {
  it('a booking gets the price of the cheapest active plan', async () => {
    const hotel = await openHotelWith([
      { name: 'Flexible', base_price: '100' },
      { name: 'Saver', base_price: '80.5' },
      { name: 'Withdrawn', base_price: '1.00', is_active: false },
    ]);
    assert.deepEqual(await priceOf(hotel), ['161.00', 'Saver']);
  });

  it('the prices of rate plans are compared as numbers and not as texts', async () => {
    const hotel = await openHotelWith([
      { name: 'Nine', base_price: '9.00' },
      { name: 'Ten', base_price: '10.00' },
    ]);
    assert.deepEqual(await priceOf(hotel, { check_out: dayAhead(31) }), ['9.00', 'Nine']);
  });

  it('if two plans have the same price, a booking gets the first plan in the tenant document', async () => {
    const hotel = await openHotelWith([
      { name: 'Zebra', base_price: '70.00' },
      { name: 'Ant', base_price: '70.00' },
    ]);
    assert.deepEqual(await priceOf(hotel), ['140.00', 'Zebra']);
  });

  it('a booking gets the plan whose nightly prices have the lowest sum for the stay', async () => {
    const hotel = await openHotelWith([
      { name: 'Flexible', base_price: '100.00' },
      { name: 'Saver', base_price: '80.00' },
    ]);
    const pms = await pmsHeaders(service, hotel);
    await writePlan(service, pms, 'rates', hotel.plans['Double/Saver'], [
      { date: dayAhead(31), price: '120.05' },
      { date: dayAhead(32), price: '0' },
    ]);
    assert.deepEqual(await priceOf(hotel), ['200.00', 'Flexible']);
    assert.deepEqual(await priceOf(hotel, { check_out: dayAhead(33) }), ['200.05', 'Saver']);
    assert.deepEqual(
      await priceOf(hotel, { check_in: dayAhead(29), check_out: dayAhead(31) }),
      ['160.00', 'Saver'],
      'the price on the day of departure does not count',
    );
  });

  it('if the cheapest plan is closed on a night or requires a longer stay, a booking gets the next cheapest plan', async () => {
    const hotel = await openHotelWith([
      { name: 'Flexible', base_price: '100.00' },
      { name: 'Weekly', base_price: '50.00', min_nights: 7 },
      { name: 'Saver', base_price: '80.00' },
    ]);
    assert.deepEqual(await priceOf(hotel), ['160.00', 'Saver']);
    assert.deepEqual(await priceOf(hotel, { check_out: dayAhead(36) }), ['480.00', 'Saver']);
    assert.deepEqual(await priceOf(hotel, { check_out: dayAhead(37) }), ['350.00', 'Weekly']);
    const pms = await pmsHeaders(service, hotel);
    const closed = [{ date: dayAhead(31), price: 80, is_sold_out: true }];
    await writePlan(service, pms, 'rates', hotel.plans['Double/Saver'], closed);
    assert.deepEqual(await priceOf(hotel), ['200.00', 'Flexible']);
    assert.deepEqual(await priceOf(hotel, { check_out: dayAhead(31) }), ['80.00', 'Saver']);
  });

  it('a booking costs 0.00 if an active plan has the price 0.00', async () => {
    const hotel = await openHotelWith([
      { name: 'Flexible', base_price: '100.00' },
      { name: 'Owners', base_price: '0.00' },
    ]);
    assert.deepEqual(await priceOf(hotel), ['0.00', 'Owners']);
  });

  it("without an active plan, a booking costs the room type's own price, or 0.00 if that price is null", async () => {
    const withdrawn = [{ name: 'Old', base_price: '1.00', is_active: false }];
    assert.deepEqual(await priceOf(await openHotelWith([])), ['180.00', null]);
    assert.deepEqual(await priceOf(await openHotelWith(withdrawn, '90.10')), ['180.20', null]);
    assert.deepEqual(await priceOf(await openHotelWith([], null)), ['0.00', null]);
    assert.deepEqual(await priceOf(await openHotelWith(withdrawn, null)), ['0.00', null]);
  });

  it('the total of 730 nights at 99999999.99 is exact to the cent', async () => {
    const hotel = await openHotelWith([{ name: 'Royal', base_price: '99999999.99' }]);
    const years = { check_in: '2090-01-01', check_out: '2092-01-01' };
    assert.deepEqual(await priceOf(hotel, years), ['72999999992.70', 'Royal']);
  });

  it('a reservation keeps its total after the price of its plan has changed', async () => {
    const hotel = await openHotelWith([{ name: 'Flexible', base_price: '100.00' }]);
    const booked = await book(service, hotel, { external_reservation_id: 'early' });
    const pms = await pmsHeaders(service, hotel);
    await writePlan(service, pms, 'rates', hotel.plans['Double/Flexible'], [{ date: dayAhead(30), price: '7' }]);
    assert.deepEqual((await book(service, hotel, { external_reservation_id: 'early' })).body, booked.body);
    assert.deepEqual(await priceOf(hotel), ['107.00', 'Flexible']);
  });
});
