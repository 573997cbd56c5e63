import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  assertNightCounters,
  book,
  dayAhead,
  setStayStatus,
  openChannel,
  reservationPath,
  ROOMS,
  sellable,
  STAFF_RESERVATIONS,
  type TestHotel,
} from '#test/support/hotel.ts';
import { eventsOfSubject, openDemo, startSandboxWorker } from '#test/support/sandbox.ts';
import { useService } from '#test/support/shared-service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { entriesOf } from '#test/support/lists.ts';

const service = await useService();

/** Longest time in milliseconds that a test waits for an expected status. It is long, because the machine may be busy. */
const SETTLE_MS = 60_000;

describe('sandbox front desk', { concurrency: true }, () => {
  async function stayOf(hotel: TestHotel, name = 'Ana Silva', changes: Record<string, unknown> = {}) {
    const answer = await book(service, hotel, { guest: { name, phone: '+351 900 000 000' }, ...changes });
    assert.equal(answer.status, 201, answer.text);
    return { id: answer.body.reservation_id as string, externalId: answer.body.external_reservation_id as string };
  }

  const statusOf = async (hotel: TestHotel, id: string): Promise<string> =>
    (await service.call('GET', `${STAFF_RESERVATIONS}${id}/`, { headers: hotel.staff })).body.status;

  const reaches = (hotel: TestHotel, id: string, status: string) =>
    eventually(async () => (await statusOf(hotel, id)) === status, `reservation that is ${status}`, SETTLE_MS);

  const reportedEvents = async (hotel: TestHotel, externalId: string) =>
    (await eventsOfSubject(service, hotel, externalId)).map(({ event, data }) => [event, data['status']]);

  const BOOKED = ['reservation.created', 'confirmed'];

  it('the sandbox changes stays of guests named "No Show", "Cancelled By Hotel" and "Early Checkout" to no_show, cancelled and completed', async (t) => {
    const hotel = await openDemo(service);
    const guests: [string, string[]][] = [
      ['No Show', ['reservation.modified', 'no_show']],
      ['Cancelled By Hotel', ['reservation.cancelled', 'cancelled']],
      ['Early Checkout', ['reservation.modified', 'completed']],
    ];
    const stays = await Promise.all(guests.map(([name]) => stayOf(hotel, name)));
    const ordinary = await stayOf(hotel);
    startSandboxWorker(t, service, hotel, 60);
    for (const [index, [, [type, status = '']]] of guests.entries()) {
      const stay = stays[index] ?? { id: '', externalId: '' };
      await reaches(hotel, stay.id, status);
      assert.deepEqual(await reportedEvents(hotel, stay.externalId), [BOOKED, [type, status]]);
    }
    assert.deepEqual(await reportedEvents(hotel, ordinary.externalId), [BOOKED]);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('if the sandbox runs at high speed, a stay whose check-out is 4 days ahead is completed, and a stay whose check-out is 700 days ahead stays "confirmed"', async (t) => {
    const hotel = await openDemo(service);
    const near = await stayOf(hotel, undefined, { check_in: dayAhead(3), check_out: dayAhead(4) });
    const far = await stayOf(hotel, undefined, { check_in: dayAhead(600), check_out: dayAhead(700) });
    // The sandbox runs 150,000 times as fast as real time. So a check-out in 4 days comes in less than 4 s. A check-out in 700 days comes
    // only after more than 6 minutes.
    startSandboxWorker(t, service, hotel, 150_000);
    await reaches(hotel, near.id, 'completed');
    assert.deepEqual(await reportedEvents(hotel, near.externalId), [BOOKED, ['reservation.modified', 'completed']]);
    assert.equal(await statusOf(hotel, far.id), 'confirmed');
  });

  it('the sandbox at real-time speed completes a confirmed stay whose check-out is over, and leaves a pending stay pending', async (t) => {
    const hotel = await openDemo(service);
    const tellStay = await openChannel(service, hotel);
    const over = await tellStay({ check_in: dayAhead(-5), check_out: dayAhead(-3) });
    const pending = await tellStay({ check_in: dayAhead(-5), check_out: dayAhead(-3), status: 'pending' });
    startSandboxWorker(t, service, hotel, 1);
    const stays = await entriesOf(service, STAFF_RESERVATIONS, hotel.staff);
    const idOf = (answer: { body: { external_id: string } }): string =>
      stays.find((stay: { external_id: string }) => stay.external_id === answer.body.external_id).reservation_id;
    await reaches(hotel, idOf(over), 'completed');
    assert.equal(await statusOf(hotel, idOf(pending)), 'pending');
  });

  it('the sandbox does not change a stay that staff have completed or that the partner has cancelled', async (t) => {
    const hotel = await openDemo(service);
    const [moved, cancelled, last] = [
      await stayOf(hotel, 'No Show'),
      await stayOf(hotel, 'No Show'),
      await stayOf(hotel, 'No Show'),
    ];
    assert.equal((await setStayStatus(service, hotel, moved.id, 'completed')).status, 200);
    const path = reservationPath(cancelled.externalId, 'cancel/');
    assert.equal((await service.call('POST', path, { headers: hotel.partner })).status, 200);
    startSandboxWorker(t, service, hotel, 600);
    await reaches(hotel, last.id, 'no_show');
    assert.deepEqual(await reportedEvents(hotel, moved.externalId), [BOOKED, ['reservation.modified', 'completed']]);
    assert.deepEqual(await reportedEvents(hotel, cancelled.externalId), [
      BOOKED,
      ['reservation.cancelled', 'cancelled'],
    ]);
  });

  it('in the demo hotel, the first room type can be booked, "Full House" has no free room, and "Last Room" has one room', async () => {
    const hotel = await openDemo(service);
    const [full, last] = [hotel.roomTypes['Full House'], hotel.roomTypes['Last Room']];
    const nights = [dayAhead(30), dayAhead(32)] as const;
    assert.deepEqual(await sellable(service, hotel, full, ...nights), [0, 0]);
    const refused = await book(service, hotel, { room_type_id: full });
    assert.deepEqual([refused.status, refused.body.code], [409, 'room_not_available']);
    assert.deepEqual(await sellable(service, hotel, last, ...nights), [1, 1]);
    const answers = [
      await book(service, hotel, { room_type_id: last }),
      await book(service, hotel, { room_type_id: last }),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 409],
    );
    const rooms = await service.call('GET', ROOMS, { headers: hotel.partner });
    assert.equal((await book(service, hotel, { room_type_id: rooms.body[0].room_type_id })).status, 201);
  });
});
