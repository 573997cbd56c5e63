import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { makeChannel, nowSeconds, sendReservation } from '#test/support/channel.ts';
import { dayAfter, dayAhead, setStayStatus } from '#test/support/hotel.ts';
import { useHotel } from '#test/support/shared-service.ts';

const { service, hotel } = await useHotel();
const channel = await makeChannel(service, hotel);

/**
 * Unix time in seconds at which the tests begin. A `before` hook sets it, because this file may be imported minutes before its tests begin,
 * and the service refuses old timestamps.
 */
let now: number;
before(() => {
  now = nowSeconds();
});

let made = 0;
/** Returns a function that makes the bodies of calls for one reservation. The body of version n has n nights and an amount of n. */
function versions(): (version: number) => Record<string, unknown> {
  made += 1;
  const external_id = `order ${made}`;
  return (version) => ({
    external_id,
    status: 'confirmed',
    room_type_id: hotel.roomTypes['Double'],
    check_in: dayAhead(40),
    check_out: dayAfter(dayAhead(40), version),
    total_amount: `${version}.00`,
    guest: { full_name: 'Ada' },
  });
}

describe('order of several OTA calls for one reservation', () => {
  it('200: a call that is older than the last applied call changes nothing and gets the stored reservation', async () => {
    const version = versions();
    const second = await sendReservation(service, channel, version(2), now);
    assert.equal(second.status, 201);
    const first = await sendReservation(service, channel, version(1), now - 1);
    assert.deepEqual([first.status, first.body], [200, second.body]);
    const third = await sendReservation(service, channel, version(3), now + 1);
    assert.deepEqual([third.status, third.body.total_amount], [200, '3.00']);
  });

  it("200: if an outdated call names a room type of another property, the dates in the response use the time zone of the stored reservation's property", async () => {
    const version = versions();
    const stored = await sendReservation(service, channel, {
      ...version(1),
      room_type_id: hotel.roomTypes['Lagoon Lodge/Double'],
    });
    const older = await sendReservation(service, channel, version(2), nowSeconds() - 60);
    assert.deepEqual([older.status, older.body], [200, stored.body]);
    assert.match(stored.body.check_in_date, /T00:00:00\.000Z$/);
  });

  it('200: a repeated OTA call does not undo a later change by staff, but an OTA call with a later timestamp undoes this change', async () => {
    const version = versions();
    const { body } = await sendReservation(service, channel, version(1), now);
    assert.equal((await setStayStatus(service, hotel, body.id, 'completed')).status, 200);
    const again = await sendReservation(service, channel, version(1), now);
    assert.deepEqual([again.status, again.body], [200, { ...body, status: 'completed' }]);
    const later = await sendReservation(service, channel, version(1), now + 1);
    assert.deepEqual([later.status, later.body], [200, body]);
  });

  it('200: two different OTA calls with equal timestamps are applied in order of arrival, and a replay of these calls changes nothing', async () => {
    const version = versions();
    const send = async (number: number, at: number, expected = 200) => {
      const { status, text, body } = await sendReservation(service, channel, version(number), at);
      assert.equal(status, expected, text);
      return body.total_amount;
    };
    assert.equal(await send(1, now, 201), '1.00');
    assert.equal(await send(2, now), '2.00');
    assert.equal(await send(1, now), '2.00');
    assert.equal(await send(2, now), '2.00');
    assert.equal(await send(3, now + 1), '3.00');
    for (const number of [1, 2, 3]) {
      assert.equal(await send(number, now), '3.00');
    }
    assert.equal(await send(4, now + 1), '4.00');
    assert.equal(await send(3, now + 1), '4.00');
  });

  it('200: calls for a reservation are applied even if another reservation of the same source has a later timestamp', async () => {
    assert.equal((await sendReservation(service, channel, versions()(1), now + 100)).status, 201);
    const older = versions();
    assert.equal((await sendReservation(service, channel, older(1), now - 100)).status, 201);
    const changed = await sendReservation(service, channel, older(2), now - 99);
    assert.deepEqual([changed.status, changed.body.total_amount], [200, '2.00']);
  });
});
