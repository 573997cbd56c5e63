import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, countByStatus } from '#test/support/answers.ts';
import {
  assertNightCounters,
  book,
  dayAhead,
  eventsOf,
  setStayStatus,
  openChannel,
  openHotel,
  reservationPath,
  sellable,
  STAFF_RESERVATIONS,
} from '#test/support/hotel.ts';
import { dumpRows } from '#test/support/restaurant.ts';
import { useService } from '#test/support/shared-service.ts';
import { RESERVATION_STATUSES } from './reservation-status.ts';

const service = await useService();
const own = await openHotel(service);

describe('request_id of POST /v1/staff/reservations/{id}/status/', () => {
  const CHANGED = ['event', 'delivery', 'reservation', 'night', 'audit_entry'];

  // Each stay has its own nights, so that no test finds a night full.
  let nextDay = 40;
  const newStay = async (of = own) => {
    nextDay += 2;
    const dates = { check_in: dayAhead(nextDay), check_out: dayAhead(nextDay + 2) };
    const { status, text, body } = await book(service, of, dates);
    assert.equal(status, 201, text);
    return body as Record<string, string> & { reservation_id: string };
  };
  const change = (id: string, status: string, request_id?: string) =>
    setStayStatus(service, own, id, status, request_id === undefined ? {} : { request_id });
  /** Reads the statuses in the events of a reservation. Leaves out the event `reservation.created`, which reports the booking. */
  const statusesOfEvents = async (id: string, of = own) =>
    (await eventsOf(service, of.tenantId))
      .filter(({ type, sent }) => type !== 'reservation.created' && sent.data.reservation_id === id)
      .map(({ sent }) => sent.data.status);
  const freeRooms = ({ room_type_id, check_in = '', check_out = '' }: Record<string, string>) =>
    sellable(service, own, room_type_id, check_in, check_out);

  it('200: a change that is repeated with its request_id gets the same response, and writes no row and no second event', async () => {
    const { reservation_id: id } = await newStay();
    const request_id = crypto.randomUUID();
    const first = await change(id, 'no_show', request_id);
    assert.equal(first.status, 200, first.text);
    const rows = await dumpRows(service, ...CHANGED);
    for (const repeated of [request_id, request_id.toUpperCase()]) {
      const repeat = await change(id, 'no_show', repeated);
      assert.deepEqual([repeat.status, repeat.text], [200, first.text]);
    }
    const path = `${STAFF_RESERVATIONS}${id}/status/`;
    const form = new URLSearchParams({ status: 'no_show', request_id });
    const ofForm = await service.call('POST', path, { headers: own.owner, body: form });
    assert.deepEqual([ofForm.status, ofForm.text], [200, first.text]);
    assert.deepEqual(await dumpRows(service, ...CHANGED), rows);
    assert.deepEqual(await statusesOfEvents(id), ['no_show']);
  });

  it('200: a cancellation that is repeated with its request_id releases the nights only once', async () => {
    const stay = await newStay();
    const held = await freeRooms(stay);
    const request_id = crypto.randomUUID();
    assert.equal((await change(stay.reservation_id, 'cancelled', request_id)).status, 200);
    const released = await freeRooms(stay);
    assert.deepEqual(
      released,
      held.map((rooms) => rooms + 1),
    );
    const rows = await dumpRows(service, ...CHANGED);
    assert.equal((await change(stay.reservation_id, 'cancelled', request_id)).status, 200);
    assert.deepEqual(await freeRooms(stay), released);
    assert.deepEqual(await dumpRows(service, ...CHANGED), rows);
    await assertNightCounters(service, own.tenantId);
  });

  it('200: a call that repeats a request_id, with the same or another status, gets the stored stay and changes nothing', async () => {
    const { reservation_id: id } = await newStay();
    const request_id = crypto.randomUUID();
    const first = await change(id, 'no_show', request_id);
    const rows = await dumpRows(service, ...CHANGED);
    for (const status of RESERVATION_STATUSES) {
      const repeat = await change(id, status, request_id);
      assert.deepEqual([repeat.status, repeat.text], [200, first.text], status);
    }
    assert.deepEqual(await dumpRows(service, ...CHANGED), rows);
  });

  it('200: ten concurrent cancellations with one request_id all get the stay, with one event, and release the nights once', async () => {
    const stay = await newStay();
    const held = await freeRooms(stay);
    const request_id = crypto.randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => change(stay.reservation_id, 'cancelled', request_id)),
    );
    assert.deepEqual(countByStatus(answers), { 200: 10 });
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    assert.deepEqual(await statusesOfEvents(stay.reservation_id), ['cancelled']);
    assert.deepEqual(
      await freeRooms(stay),
      held.map((rooms) => rooms + 1),
    );
    await assertNightCounters(service, own.tenantId);
  });

  it('409: after a later change with another request_id or without a request_id, a call that repeats the earlier request_id is refused', async () => {
    for (const later of [crypto.randomUUID(), undefined]) {
      const { reservation_id: id } = await newStay();
      const earlier = crypto.randomUUID();
      assert.equal((await change(id, 'no_show', earlier)).status, 200);
      assert.equal((await change(id, 'cancelled', later)).status, 200);
      const message = assertError(await change(id, 'no_show', earlier), 409, 'invalid_status_transition');
      assert.match(message, /is cancelled\b/);
      assert.deepEqual(await statusesOfEvents(id), ['no_show', 'cancelled']);
    }
  });

  it('409: if staff change the status of a stay, the partner then cancels the stay, and staff repeat their call with the same request_id, the repeated call is refused', async () => {
    const stay = await newStay();
    const request_id = crypto.randomUUID();
    assert.equal((await change(stay.reservation_id, 'no_show', request_id)).status, 200);
    const path = reservationPath(stay['external_reservation_id'] ?? '', 'cancel/');
    assert.equal((await service.call('POST', path, { headers: own.partner })).status, 200);
    assertError(await change(stay.reservation_id, 'no_show', request_id), 409, 'invalid_status_transition');
  });

  it('200: a request_id can be repeated after an OTA changes only the dates; 409: it is refused after the OTA changes the status', async () => {
    const sendReservation = await openChannel(service, own, 'changing-ota');
    const ota = { external_id: 'O-9', room_type_id: own.roomTypes['Bunk'], status: 'pending' };
    const { id } = (await sendReservation(ota)).body;
    const request_id = crypto.randomUUID();
    assert.equal((await change(id, 'confirmed', request_id)).status, 200);
    const dates = { check_in: dayAhead(33), check_out: dayAhead(35) };
    assert.equal((await sendReservation({ ...ota, ...dates, status: 'confirmed' })).status, 200);
    const repeat = await change(id, 'confirmed', request_id);
    assert.deepEqual([repeat.status, repeat.body.status, repeat.body.check_in], [200, 'confirmed', dates.check_in]);
    assert.equal((await sendReservation({ ...ota, ...dates, status: 'completed' })).status, 200);
    assertError(await change(id, 'confirmed', request_id), 409, 'invalid_status_transition');
    await assertNightCounters(service, own.tenantId);
  });

  it('409: a repeat of a refused change is refused again, because only an accepted change stores its request_id', async () => {
    const { reservation_id: id } = await newStay();
    const [kept, refused] = [crypto.randomUUID(), crypto.randomUUID()];
    await change(id, 'no_show', kept);
    for (let count = 0; count < 2; count += 1) {
      assertError(await change(id, 'completed', refused), 409, 'invalid_status_transition');
    }
    assert.equal((await change(id, 'no_show', kept)).status, 200);
  });

  it('200: calls with the same request_id can change several stays, of the same tenant and of another tenant', async () => {
    const stranger = await openHotel(service);
    const request_id = crypto.randomUUID();
    const theirs = (await newStay(stranger)).reservation_id;
    for (const { reservation_id: id } of [await newStay(), await newStay()]) {
      assert.equal((await change(id, 'no_show', request_id)).body.status, 'no_show');
      assert.deepEqual(await statusesOfEvents(id), ['no_show']);
    }
    assertError(await change(theirs, 'no_show', request_id), 404, 'error');
    const changed = await setStayStatus(service, stranger, theirs, 'completed', { request_id });
    assert.deepEqual([changed.status, changed.body.status], [200, 'completed']);
    assertError(await change(theirs, 'completed', request_id), 404, 'error');
    assert.deepEqual(await statusesOfEvents(theirs, stranger), ['completed']);
  });
});
