import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, countByStatus } from '#test/support/answers.ts';
import {
  book,
  bookForHouse,
  dayAhead,
  eventsOf,
  openChannel,
  openHotel,
  reservationPath,
  setStayStatus,
  STAFF_RESERVATIONS,
} from '#test/support/hotel.ts';
import { dumpRows } from '#test/support/restaurant.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { entriesOf } from '#test/support/lists.ts';

const { service, hotel } = await useHotel();

const read = async (id: string, of = hotel) =>
  (await service.call('GET', `${STAFF_RESERVATIONS}${id}/`, { headers: of.staff })).body;
const arrive = (id: string, json: unknown, headers = hotel.staff) =>
  service.call('POST', `${STAFF_RESERVATIONS}${id}/arrival/`, { headers, json });
const bunk = () => ({ room_type_id: hotel.roomTypes['Bunk'] });

describe('history of a stay', () => {
  it("200: a partner's stay shows the booking and each change of its status, with the actor and the reason", async () => {
    const { body } = await book(service, hotel, { ...bunk(), external_reservation_id: 'with history' });
    const id = body.reservation_id;
    const json = { reason: 'The train was late.' };
    const moved = await setStayStatus(service, hotel, id, 'no_show', json);
    const cancelled = await service.call('POST', reservationPath('with history', 'cancel/'), {
      headers: hotel.partner,
    });
    assert.equal(cancelled.status, 200);
    const stay = await read(id);
    const person = await service.database.db
      .selectFrom('app_user')
      .select(['id', 'email'])
      .where('tenant_id', '=', hotel.tenantId)
      .where('role', '=', 'staff')
      .executeTakeFirstOrThrow();
    const partner = { type: 'partner', id: hotel.credential.id, name: 'A platform' };
    assert.deepEqual(
      stay.history.map(({ at, ...step }: { at: string }) => step),
      [
        { status: 'confirmed', by: partner, reason: null },
        { status: 'no_show', by: { type: 'person', id: person.id, name: person.email }, reason: json.reason },
        { status: 'cancelled', by: partner, reason: null },
      ],
    );
    assert.deepEqual(
      stay.history.map(({ at }: { at: string }) => at),
      [stay.created_at, moved.body.changed_at, stay.changed_at],
    );
    const events = await eventsOf(service, hotel.tenantId);
    assert.ok(events.length >= 3 && !JSON.stringify(events).includes('train'), 'the reason is in no event');
  });

  it("200: the history of an OTA's stay names the channel, and a repeated call of the channel adds no entry", async () => {
    const own = await openHotel(service);
    const send = await openChannel(service, own, 'some-ota');
    const { body } = await send({ external_id: 'O', status: 'pending' });
    await send({ external_id: 'O', status: 'confirmed', check_out: dayAhead(33) });
    const moved = await read(body.id, own);
    await send({ external_id: 'O', status: 'confirmed', check_out: dayAhead(33) });
    const stay = await read(body.id, own);
    assert.deepEqual(stay, moved, 'a call without differences does not move changed_at');
    const channel = await service.database.db
      .selectFrom('channel')
      .select('id')
      .where('tenant_id', '=', own.tenantId)
      .executeTakeFirstOrThrow();
    assert.deepEqual(
      stay.history.map(({ status, by }: { status: string; by: object }) => [status, by]),
      [
        ['pending', { type: 'channel', id: null, name: 'some-ota' }],
        ['confirmed', { type: 'channel', id: channel.id, name: 'some-ota' }],
      ],
    );
    assert.deepEqual([stay.nightly_prices, stay.total_amount], [null, '160.00'], 'the nights have changed');
  });

  it('the times of the changes of a stay increase, even if several changes are made in one millisecond', async () => {
    const { body } = await bookForHouse(service, hotel, bunk());
    const times: number[] = [Date.parse(body.changed_at)];
    for (let index = 0; index < 6; index += 1) {
      const { body: changed } = await arrive(body.reservation_id, { arrived: index % 2 === 0 });
      times.push(Date.parse(changed.changed_at));
    }
    assert.deepEqual(
      times,
      [...new Set(times)].sort((a, b) => a - b),
    );
  });
});

describe('expected_status and reason of POST /v1/staff/reservations/{id}/status/', () => {
  it('200, 409: one of 5 concurrent cancellations with expected_status succeeds, and a stay in another status is not changed', async () => {
    const { body } = await book(service, hotel, bunk());
    const json = { expected_status: 'confirmed' };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => setStayStatus(service, hotel, body.reservation_id, 'cancelled', json)),
    );
    assert.deepEqual(countByStatus(answers), { 200: 1, 409: 4 });
    const { body: other } = await book(service, hotel, bunk());
    await setStayStatus(service, hotel, other.reservation_id, 'no_show');
    const late = await setStayStatus(service, hotel, other.reservation_id, 'cancelled', json);
    assert.match(assertError(late, 409, 'invalid_status_transition'), /is no_show, not confirmed/);
    const seen = { expected_status: 'no_show' };
    assert.equal((await setStayStatus(service, hotel, other.reservation_id, 'cancelled', seen)).status, 200);
  });

  it('200: a call with a repeated request_id and an outdated expected_status is accepted, and writes nothing', async () => {
    const { body } = await book(service, hotel, bunk());
    const json = { request_id: crypto.randomUUID(), expected_status: 'confirmed', reason: 'no call' };
    const first = await setStayStatus(service, hotel, body.reservation_id, 'no_show', json);
    const rows = await dumpRows(service, 'reservation', 'reservation_change', 'event');
    const repeat = await setStayStatus(service, hotel, body.reservation_id, 'no_show', json);
    assert.deepEqual([repeat.status, repeat.text], [200, first.text]);
    assert.deepEqual(await dumpRows(service, 'reservation', 'reservation_change', 'event'), rows);
  });

  it('200: an empty reason counts as missing', async () => {
    const { body } = await book(service, hotel, bunk());
    const done = await setStayStatus(service, hotel, body.reservation_id, 'completed', { reason: '' });
    assert.equal(done.body.history.at(-1).reason, null);
  });
});

describe('POST /v1/staff/reservations/{id}/arrival/', () => {
  it('200: a call sets or removes arrived_at, with an audit entry and without an event, and a repeated call changes nothing', async () => {
    const own = await openHotel(service);
    const { body } = await book(service, own);
    const id = body.reservation_id;
    const events = (await eventsOf(service, own.tenantId)).length;
    const arrived = (await arrive(id, { arrived: true }, own.staff)).body;
    assert.ok(Math.abs(Date.parse(arrived.arrived_at) - Date.now()) < 60_000);
    assert.deepEqual([arrived.status, arrived.changed_at], ['confirmed', arrived.arrived_at]);
    assert.deepEqual((await arrive(id, { arrived: true }, own.owner)).body, arrived);
    const form = new URLSearchParams({ arrived: 'false' });
    const back = await service.call('POST', `${STAFF_RESERVATIONS}${id}/arrival/`, { headers: own.staff, body: form });
    assert.deepEqual([back.status, back.body.arrived_at], [200, null]);
    assert.equal((await eventsOf(service, own.tenantId)).length, events);
    const trail = await entriesOf(service, '/v1/staff/audit/', own.owner);
    assert.deepEqual(
      trail
        .filter(({ action }: { action: string }) => action === 'reservation.arrival')
        .map(({ subject, details }: { subject: string; details: { arrived: boolean } }) => [subject, details.arrived]),
      [
        [id, false],
        [id, true],
      ],
    );
  });

  it('409: setting the arrival is refused if the stay is not confirmed', async () => {
    const { body } = await book(service, hotel, bunk());
    await setStayStatus(service, hotel, body.reservation_id, 'completed');
    for (const arrived of [true, false]) {
      assertError(await arrive(body.reservation_id, { arrived }), 409, 'invalid_status_transition');
    }
  });
});
