import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bookByOta, hotelTenant, PMS } from '#test/support/pms.ts';
import { useService } from '#test/support/shared-service.ts';

/**
 * Returns a property with one room type, the given time zone, and the given check-in and check-out times. The name of the property contains
 * these three values.
 */
const propertyAt = (timezone: string, check_in_time: string, check_out_time: string) => ({
  name: `${timezone} ${check_in_time} ${check_out_time}`,
  country_code: 'XX',
  timezone,
  check_in_time,
  check_out_time,
  room_types: [{ name: 'Room', max_occupancy: 2, physical_capacity: 5 }],
});

/**
 * Stays to test. Each entry has the time zone, the check-in time and the check-out time of the property, the days of check-in and
 * check-out, and the expected `check_in_date` and `check_out_date` in UTC.
 */
const STAYS = [
  // In Lisbon the clocks go forward on 28 March 2027 at 1:00, and back on 31 October 2027 at 2:00.
  ['Europe/Lisbon', '15:00', '11:00', '2027-03-27', '2027-03-29', '2027-03-27T15:00', '2027-03-29T10:00'],
  ['Europe/Lisbon', '15:00', '11:00', '2027-10-30', '2027-11-01', '2027-10-30T14:00', '2027-11-01T11:00'],
  // The next two stays touch 29 February of 2028 and of 2000. A year that is divisible by 100 is a leap year only if it is also divisible
  // by 400, as 2000 is.
  ['Europe/Lisbon', '15:00', '11:00', '2028-02-28', '2028-02-29', '2028-02-28T15:00', '2028-02-29T11:00'],
  ['Europe/Lisbon', '15:00', '11:00', '2000-02-29', '2000-03-01', '2000-02-29T15:00', '2000-03-01T11:00'],
  // Kiritimati is 14 hours ahead of UTC, and Pago Pago is 11 hours behind UTC. So the date in UTC often differs from the local date.
  ['Pacific/Kiritimati', '14:00', '10:00', '2026-05-02', '2026-05-03', '2026-05-02T00:00', '2026-05-02T20:00'],
  ['Pacific/Kiritimati', '13:59', '13:59', '2025-12-31', '2026-01-01', '2025-12-30T23:59', '2025-12-31T23:59'],
  ['Pacific/Pago_Pago', '15:00', '12:59', '2025-12-30', '2025-12-31', '2025-12-31T02:00', '2025-12-31T23:59'],
  ['Pacific/Pago_Pago', '15:00', '23:59', '2026-02-27', '2026-02-28', '2026-02-28T02:00', '2026-03-01T10:59'],
  // In New York, the clocks go forward from 2:00 to 3:00 on 8 March 2026. This stay ends on 8 March at 1:30, before the clocks change.
  ['America/New_York', '02:30', '01:30', '2026-03-07', '2026-03-08', '2026-03-07T07:30', '2026-03-08T06:30'],
  // This stay begins on 8 March at 2:30. This time does not exist on 8 March, so the guest checks in at 3:30.
  ['America/New_York', '02:30', '01:30', '2026-03-08', '2026-03-09', '2026-03-08T07:30', '2026-03-09T05:30'],
  // This stay ends on 1 November at 1:30. This time occurs twice on 1 November, and the guest checks out at the first 1:30.
  ['America/New_York', '02:30', '01:30', '2026-10-31', '2026-11-01', '2026-10-31T06:30', '2026-11-01T05:30'],
  // Lord Howe moves its clocks by only half an hour in summer, and the offset of Kathmandu is 5 hours and 45 minutes.
  ['Australia/Lord_Howe', '15:00', '11:00', '2026-04-04', '2026-04-06', '2026-04-04T04:00', '2026-04-06T00:30'],
  ['Asia/Kathmandu', '00:00', '23:59', '2026-01-01', '2026-01-02', '2025-12-31T18:15', '2026-01-02T18:14'],
  ['UTC', '00:00', '00:00', '1999-12-31', '2000-01-01', '1999-12-31T00:00', '2000-01-01T00:00'],
] as const;

const service = await useService();
const propertiesByName = new Map(
  STAYS.map(([zone, from, to]) => [`${zone} ${from} ${to}`, propertyAt(zone, from, to)]),
);
const hotel = await hotelTenant(service, { properties: [...propertiesByName.values()] });

describe("check_in_date and check_out_date are the property's check-in and check-out times in UTC", () => {
  for (const [zone, from, to, check_in, check_out, begins, ends] of STAYS) {
    it(`a stay in ${zone} from ${check_in} ${from} to ${check_out} ${to} is shown from ${begins} to ${ends} UTC`, async () => {
      const room_type_id = hotel.id(`${zone} ${from} ${to}`, 'Room');
      const { body } = await bookByOta(service, hotel, { room_type_id, check_in, check_out });
      const answer = await service.call('GET', `${PMS}/reservations/${body.id}/`, { headers: hotel.pms });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.check_in_date, `${begins}:00.000Z`);
      assert.equal(answer.body.check_out_date, `${ends}:00.000Z`);
    });
  }

  it('a new check-in time of the property also applies to reservations that are already stored', async () => {
    const [first, ...rest] = hotel.document.properties ?? [];
    assert.ok(first);
    const room_type_id = hotel.id(first.name, 'Room');
    const { body } = await bookByOta(service, hotel, { room_type_id, check_in: '2026-12-01', check_out: '2026-12-02' });
    const { users, menu, ...document } = hotel.document;
    const properties = [{ ...first, check_in_time: '16:45' }, ...rest];
    await service.apply({ ...document, properties });
    const answer = await service.call('GET', `${PMS}/reservations/${body.id}/`, { headers: hotel.pms });
    assert.equal(answer.body.check_in_date, '2026-12-01T16:45:00.000Z');
  });
});
