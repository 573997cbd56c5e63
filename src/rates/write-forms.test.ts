import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { dayAfter } from '../../test/support/hotel.ts';
import { hotelTenant, type ManagedHotel } from '../../test/support/pms.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { type Rate, readRates, writeRates, writeRestrictions } from './rates.ts';

const FIRST = '2031-02-20';
const DAYS = 60;
const day = (index: number) => dayAfter(FIRST, index);

let service: TestService;
let hotel: ManagedHotel;
before(async () => {
  service = await startService();
  hotel = await hotelTenant(service);
});
after(() => service.close());

/** Writes prices from the last day to the first, some of them twice, then restrictions over their end and beyond; reads all. */
async function writeAll(batchSize: number, planName: string): Promise<{ written: Rate[]; read: Rate[] }> {
  const { db } = service.database;
  const { tenantId } = hotel;
  const rate_plan_id = hotel.id('Harbour House', 'Double', planName);
  const actor = { tenantId, type: 'operator', id: null } as const;
  const rates = Array.from({ length: 40 }, (_, index) => ({
    date: day(39 - index),
    price: index % 2 === 0 ? index + 0.5 : '99999999.99',
    is_sold_out: index % 3 === 0,
  }));
  rates.push({ date: day(5), price: '0', is_sold_out: true });
  const written = await writeRates({ db, batchSize }, actor, { rate_plan_id, rates });
  const restrictions = Array.from({ length: 20 }, (_, index) => ({
    date: day(49 - index),
    stop_sell: index % 2 === 0,
  }));
  assert.equal(await writeRestrictions({ db, batchSize }, actor, { rate_plan_id, restrictions }), 20);
  return { written, read: await readRates(db, tenantId, rate_plan_id, FIRST, day(DAYS)) };
}

describe('rates as a list of rows, as a cluster wants them, and as arrays', () => {
  it('leave the same nights', async () => {
    const rows = await writeAll(1, 'Saver');
    const arrays = await writeAll(64, 'Closed for good');
    assert.deepEqual(arrays.written, rows.written);
    const differing = (rates: Rate[]) => rates.slice(0, 40);
    assert.deepEqual(differing(arrays.read), differing(rows.read));
    assert.deepEqual(
      arrays.read.map(({ is_sold_out }) => is_sold_out),
      rows.read.map(({ is_sold_out }) => is_sold_out),
    );
    assert.deepEqual(arrays.read[5], { date: day(5), price: '0.00', is_sold_out: true });
    assert.deepEqual(arrays.read[39], { date: day(39), price: '0.50', is_sold_out: true });
    assert.deepEqual(
      arrays.read.slice(40, 51).map(({ price, is_sold_out }) => [price, is_sold_out]),
      Array.from({ length: 11 }, (_, index) => ['1.00', index < 10 && index % 2 === 1]),
      'a night without a price has the plan’s own',
    );
  });
});
