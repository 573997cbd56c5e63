import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hotelTenant, PMS } from '#test/support/pms.ts';
import { useService } from '#test/support/shared-service.ts';
import { sampleHotel } from '#test/support/tenants.ts';
import { OperatorError } from '#platform/errors.ts';

const ZONE_FAULT = 'properties.0.timezone: must be the name of a time zone such as "Europe/Lisbon"';
const PRICE_FAULT = 'must be a decimal text such as "12.50", with at most two decimals';

const PLAN = { name: 'Plan', base_price: '10.00' };
const ROOM = { name: 'Room', max_occupancy: 2, physical_capacity: 1, rate_plans: [PLAN] };
const PROPERTY = { name: 'House', country_code: 'PT', timezone: 'Europe/Lisbon', room_types: [ROOM] };

const propertyWith = (changes: object) => [{ ...PROPERTY, ...changes }];
const room = (changes: object) => propertyWith({ room_types: [{ ...ROOM, ...changes }] });
const plan = (changes: object) => room({ rate_plans: [{ ...PLAN, ...changes }] });

const service = await useService();
const hotel = await hotelTenant(service);

describe('invalid properties of a tenant document', () => {
  const apply = (properties: unknown) => {
    const { users, menu, ...document } = hotel.document;
    return service.apply({ ...document, properties });
  };
  /**
   * Applies the hotel's tenant document with an invalid value of the field `properties` (hotel buildings). Returns the faults that the
   * error message lists after its first line.
   */
  const faultsOf = async (properties: unknown): Promise<string[]> => {
    const error: unknown = await apply(properties).catch((caught: unknown) => caught);
    assert.ok(error instanceof OperatorError, JSON.stringify(error));
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  };

  const inRoom = 'properties.0.room_types.0';
  const inPlan = `${inRoom}.rate_plans.0`;
  for (const [fault, ...documents] of [
    ['properties: must be a list', {}, 'House'],
    ['properties: must be a list, or leave the field out', null],
    ['properties.0: must be an object', ['House'], [null]],
    ['properties.0.name: is required', propertyWith({ name: undefined })],
    ['properties.0.name: must not be empty', propertyWith({ name: '' })],
    ['properties.0.name: must have at most 255 characters', propertyWith({ name: 'x'.repeat(256) })],
    ['properties.0.address: must be a text', propertyWith({ address: 7 })],
    ['properties.0.address: must be a text, or leave the field out', propertyWith({ address: null })],
    ['properties.0.country_code: is required', propertyWith({ country_code: undefined })],
    [
      'properties.0.country_code: must be a country code of two capital letters, such as "PT"',
      propertyWith({ country_code: 'pt' }),
      propertyWith({ country_code: 'PRT' }),
    ],
    ['properties.0.timezone: is required', propertyWith({ timezone: undefined })],
    [
      'properties.0.check_in_time: must be a time of day from 00:00 to 23:59',
      ...['24:00', '9:00', '15:60', '15:00:00', '15:00 ', ''].map((time) => propertyWith({ check_in_time: time })),
    ],
    ['properties.0.check_out_time: must be a text', propertyWith({ check_out_time: 11 })],
    ['properties.0.room_types: must be a list', propertyWith({ room_types: {} })],
    [`${inRoom}.physical_capacity: is required`, room({ physical_capacity: undefined })],
    [`${inRoom}.physical_capacity: must be at least 0`, room({ physical_capacity: -1 })],
    [`${inRoom}.physical_capacity: must be at most 1000000`, room({ physical_capacity: 1_000_001 })],
    [
      `${inRoom}.physical_capacity: must be a whole number`,
      ...[1.5, '3', null].map((capacity) => room({ physical_capacity: capacity })),
    ],
    [`${inRoom}.max_occupancy: must be at least 1`, room({ max_occupancy: 0 })],
    [`${inRoom}.max_occupancy: must be at most 2147483647`, room({ max_occupancy: 2 ** 31 })],
    [`${inRoom}.base_price: must be a text`, room({ base_price: 90 })],
    [
      `${inRoom}.base_price: ${PRICE_FAULT}`,
      ...['-1.00', '1.005', '100000000', '1e2', ''].map((price) => room({ base_price: price })),
    ],
    [`${inRoom}.amenities.1: must be a text`, room({ amenities: ['wifi', 7] })],
    [`${inRoom}.images.0: must be an absolute http or https URL`, room({ images: ['a picture'] })],
    [
      `${inRoom}.images.1: must be an absolute http or https URL`,
      room({ images: ['HTTPS://a.example/a.png', 'javascript:alert(1)'] }),
    ],
    [`${inRoom}.rate_plans: must be a list, or leave the field out`, room({ rate_plans: null })],
    [`${inPlan}.name: must not be empty`, plan({ name: '' })],
    [`${inPlan}.base_price: must be a text`, plan({ base_price: null }), plan({ base_price: 10 })],
    [`${inPlan}.base_price: is required`, plan({ base_price: undefined })],
    [`${inPlan}.min_nights: must be at least 1`, plan({ min_nights: 0 })],
    [`${inPlan}.is_refundable: must be true or false`, plan({ is_refundable: 'yes' })],
  ] as [string, ...unknown[]][]) {
    it(`a tenant document with an invalid property is refused with the message: ${fault}`, async () => {
      for (const properties of documents) {
        assert.deepEqual(await faultsOf(properties), [fault], JSON.stringify(properties));
      }
    });
  }

  for (const timezone of ['Europe/Atlantis', 'PST', 'IST', '+01:00', 'Z', 'Local', '2026-05-01T15:00Z', ' UTC']) {
    it(`a property with the time zone ${JSON.stringify(timezone)} is refused`, async () => {
      assert.deepEqual(await faultsOf(propertyWith({ timezone })), [ZONE_FAULT]);
    });
  }

  it('all repeated names and unknown time zones of the properties are reported in one message', async () => {
    const twice = { ...ROOM, rate_plans: [PLAN, { name: 'Other', base_price: '1.00' }, PLAN] };
    const other = { ...PROPERTY, name: 'Other', timezone: 'Mars', room_types: [ROOM, twice] };
    assert.deepEqual(await faultsOf([PROPERTY, other, PROPERTY]), [
      'properties.2.name: "House" is given twice',
      'properties.1.timezone: must be the name of a time zone such as "Europe/Lisbon"',
      'properties.1.room_types.1.name: "Room" is given twice',
      'properties.1.room_types.1.rate_plans.2.name: "Plan" is given twice',
    ]);
  });

  it('a document with one invalid property changes no property, even if its other properties are valid', async () => {
    const list = async () => (await service.call('GET', `${PMS}/properties/`, { headers: hotel.pms })).text;
    const listed = await list();
    for (const bad of [
      room({ physical_capacity: -1 }),
      propertyWith({ timezone: 'Mars' }),
      [...sampleHotel(), ...sampleHotel()],
    ]) {
      await faultsOf([...sampleHotel().slice(1), ...bad]);
      assert.equal(await list(), listed);
    }
  });

  it('room types or properties whose names differ only in case, check-in at 23:59, check-out at 00:00 and a capacity of 0 are accepted', async () => {
    const clock = { check_in_time: '23:59', check_out_time: '00:00' };
    const rooms = [ROOM, { ...ROOM, name: 'room', physical_capacity: 0 }, { ...ROOM, name: '__proto__' }];
    const applied = await apply([
      { ...PROPERTY, ...clock, room_types: rooms },
      { ...PROPERTY, name: 'HOUSE', timezone: 'Pacific/Kiritimati' },
    ]);
    assert.deepEqual(
      applied.properties.map((property) => property.room_types.map(({ name }) => name)),
      [['Room', 'room', '__proto__'], ['Room']],
    );
  });
});
