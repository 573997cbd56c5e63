import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { dayAhead } from '../../test/support/hotel.ts';
import { bookByOta, hotelTenant } from '../../test/support/pms.ts';
import { useService } from '../../test/support/shared-service.ts';
import { ROUTES } from '../src/generated/pms.ts';
import { RoomservicePms } from '../src/index.ts';
import { startFaultProxy } from './front.ts';
import { failureOf } from './partner-tenant.ts';
import { operationsCalled } from './operations.ts';

const service = await useService();
const front = await startFaultProxy(service.url);
const hotel = await hotelTenant(service);
const [apiKey = '', apiSecret = ''] = Object.values(hotel.pms);
const pms = new RoomservicePms({ baseUrl: front.url, apiKey, apiSecret });
const nights = { check_in: dayAhead(20), check_out: dayAhead(22) };
const stay = { room_type_id: hotel.id('Harbour House', 'Double'), ...nights };
const plan = { rate_plan_id: hotel.id('Harbour House', 'Double', 'Flexible'), ...nights };

after(() => front.close());

describe('the PMS client', () => {
  test('the PMS client reads the properties, and the room types of a property with their rate plans', async () => {
    const [property] = await pms.properties();
    assert.equal(property?.name, 'Harbour House');
    const roomTypes = await pms.roomTypes(property.id);
    assert.deepEqual(
      roomTypes.find(({ name }) => name === 'Double')?.rate_plans.map(({ name }) => name),
      ['Flexible', 'Saver'],
    );
  });

  test('the PMS client reads for each night how many rooms of a room type exist and how many of them can be sold', async () => {
    assert.deepEqual(await pms.inventory(stay), [
      { date: dayAhead(20), physical_capacity: 3, sellable: 3 },
      { date: dayAhead(21), physical_capacity: 3, sellable: 3 },
    ]);
  });

  test('the PMS client writes rates and restrictions even if the first response is lost, and reads the new values', async () => {
    front.failNext('lose');
    const rates = [{ date: plan.check_in, price: '123.40' }];
    await pms.putRates({ rate_plan_id: plan.rate_plan_id, rates });
    front.failNext('lose');
    const restrictions = [{ date: dayAhead(21), stop_sell: true }];
    assert.deepEqual(await pms.putRestrictions({ rate_plan_id: plan.rate_plan_id, restrictions }), { updated: 1 });
    assert.deepEqual(await pms.rates(plan), [
      { date: dayAhead(20), price: '123.40', is_sold_out: false },
      { date: dayAhead(21), price: '100.00', is_sold_out: true },
    ]);
  });

  test('the PMS client reads all reservations, the reservations with one status, and one reservation by its id', async () => {
    await bookByOta(service, hotel, stay);
    const [reservation, ...others] = await pms.reservations({ status: 'confirmed' });
    assert.deepEqual([reservation?.guest.full_name, others], ['Ada Guest', []]);
    assert.deepEqual(await pms.reservation(reservation?.id ?? ''), reservation);
    assert.deepEqual(await pms.reservations(), [reservation]);
    assert.deepEqual(await pms.reservations({ status: 'expired' }), []);
  });

  test("401 and 404: the PMS client throws the service's error code for a wrong credential and for an unknown reservation", async () => {
    const wrong = new RoomservicePms({ baseUrl: service.url, apiKey: 'none', apiSecret: 'none' });
    const refused = await failureOf(wrong.properties());
    assert.deepEqual([refused.status, refused.code], [401, 'invalid_credentials']);
    const unknown = await failureOf(pms.reservation('00000000-0000-0000-0000-000000000000'));
    assert.deepEqual([unknown.status, unknown.code], [404, 'error']);
  });
});

test('every PMS operation in the SDK has a client method, and a test of this file calls the method', () => {
  assert.deepEqual(operationsCalled(ROUTES, front.requestsEver), Object.keys(ROUTES).sort());
});
