import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '#test/support/answers.ts';
import {
  assertNightCounters,
  book,
  dayAhead,
  eventsOf,
  setStayStatus,
  openChannel,
  openHotel,
  sellable,
  STAFF_RESERVATIONS,
} from '#test/support/hotel.ts';
import type { Answer } from '#test/support/http.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { RESERVATION_STATUSES } from './reservation-status.ts';

const { service, hotel } = await useHotel();

const get = (path: string, headers = hotel.staff) => service.call('GET', `${STAFF_RESERVATIONS}${path}`, { headers });
const ids = (answer: Answer) => answer.body.results.map((row: { reservation_id: string }) => row.reservation_id);

describe('GET /v1/staff/reservations/ and GET …/{id}/', () => {
  it('200: the staff list shows reservations of partners and of OTAs, newest first, with exactly the documented fields', async () => {
    const own = await openHotel(service);
    const sendReservation = await openChannel(service, own, 'an-ota');
    const booked = await book(service, own, { external_reservation_id: 'P-1', guests: 2 });
    const guest = { full_name: 'Rui Melo', email: 'rui@example.com' };
    const plan = own.plans['Double/Flexible'];
    const received = await sendReservation({ external_id: 'O-1', rate_plan_id: plan, status: 'pending', guest });
    const list = await get('', own.staff);
    const [ofOta, ofPartner] = list.body.results;
    assert.deepEqual(list.body.results, [
      {
        reservation_id: received.body.id,
        natural_id: received.body.natural_id,
        status: 'pending',
        source: 'ota',
        credential_id: null,
        credential_label: null,
        external_reservation_id: null,
        external_source: 'an-ota',
        external_id: 'O-1',
        room_type_id: own.roomTypes['Double'],
        rate_plan_id: plan,
        check_in: dayAhead(30),
        check_out: dayAhead(32),
        guests: 1,
        guest: { name: 'Rui Melo', phone: null, email: 'rui@example.com' },
        total_amount: '200.00',
        nightly_prices: [
          { date: dayAhead(30), price: '100.00' },
          { date: dayAhead(31), price: '100.00' },
        ],
        currency: 'EUR',
        created_at: ofOta.created_at,
        changed_at: ofOta.created_at,
        arrived_at: null,
      },
      {
        reservation_id: booked.body.reservation_id,
        natural_id: ofPartner.natural_id,
        status: 'confirmed',
        source: 'partner',
        credential_id: own.credential.id,
        credential_label: 'A platform',
        external_reservation_id: 'P-1',
        external_source: null,
        external_id: null,
        room_type_id: own.roomTypes['Double'],
        rate_plan_id: own.plans['Double/Saver'],
        check_in: dayAhead(30),
        check_out: dayAhead(32),
        guests: 2,
        guest: { name: 'Ana Lima', phone: '+351 912 000 000', email: null },
        total_amount: '160.00',
        nightly_prices: [
          { date: dayAhead(30), price: '80.00' },
          { date: dayAhead(31), price: '80.00' },
        ],
        currency: 'EUR',
        created_at: booked.body.created_at,
        changed_at: booked.body.created_at,
        arrived_at: null,
      },
    ]);
    assert.notEqual(ofOta.natural_id, ofPartner.natural_id);
    for (const row of list.body.results) {
      assert.match(row.natural_id, /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
      const { history, ...read } = (await get(`${row.reservation_id}/`, own.owner)).body;
      assert.deepEqual(read, row, 'the owner reads it by its id');
      assert.equal(history.length, 1);
    }
  });

  it('200: the staff list can be filtered by status', async () => {
    const own = await openHotel(service);
    const room_type_id = own.roomTypes['Bunk'];
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      made.unshift((await book(service, own, { room_type_id })).body.reservation_id);
    }
    const [completed = '', ...confirmed] = made;
    await setStayStatus(service, own, completed, 'completed');
    assert.deepEqual(ids(await get('', own.staff)), made);
    assert.deepEqual(ids(await get('?status=completed', own.staff)), [completed]);
    assert.deepEqual(ids(await get('?status=confirmed', own.staff)), confirmed);
    assert.deepEqual(ids(await get('?status=expired', own.staff)), []);
  });
});

describe('POST /v1/staff/reservations/{id}/status/', () => {
  const holding = ['pending', 'confirmed', 'completed', 'no_show'];
  const following: Record<string, string[]> = {
    pending: ['confirmed', 'expired', 'cancelled'],
    confirmed: ['completed', 'no_show', 'cancelled'],
    no_show: ['cancelled'],
    expired: ['cancelled'],
    completed: [],
    cancelled: [],
  };

  for (const from of RESERVATION_STATUSES) {
    const allowed = following[from]?.join(', ') ?? '';
    const name =
      allowed === ''
        ? `409: staff cannot change the status of a reservation that is ${from}`
        : `200 and 409: staff can change a reservation that is ${from} only to ${allowed}`;
    it(name, async () => {
      const own = await openHotel(service);
      const sendReservation = await openChannel(service, own);
      for (const to of RESERVATION_STATUSES) {
        const received = await sendReservation({
          external_id: `${from} to ${to}`,
          status: from,
          room_type_id: own.roomTypes['Suite'],
        });
        const free = async () => (await sellable(service, own, own.roomTypes['Suite'], dayAhead(31), dayAhead(32)))[0];
        assert.equal(await free(), holding.includes(from) ? 0 : 1);
        const answer = await setStayStatus(service, own, received.body.id, to);
        if (following[from]?.includes(to)) {
          assert.deepEqual([answer.status, answer.body.status], [200, to]);
          assert.deepEqual((await get(`${received.body.id}/`, own.staff)).body, answer.body);
          assert.equal(await free(), holding.includes(to) ? 0 : 1);
        } else {
          assert.match(assertError(answer, 409, 'invalid_status_transition'), new RegExp(`\\b${from}\\b`));
          assert.equal((await get(`${received.body.id}/`, own.staff)).body.status, from);
        }
        await assertNightCounters(service, own.tenantId);
        await sendReservation({
          external_id: `${from} to ${to}`,
          status: 'cancelled',
          room_type_id: own.roomTypes['Suite'],
        });
      }
      assert.deepEqual(await eventsOf(service, own.tenantId), [], "an OTA's reservation causes no event");
    });
  }

  it('200: a change of status by staff writes the event reservation.modified; a cancellation writes reservation.cancelled', async () => {
    const own = await openHotel(service);
    const { body } = await book(service, own, { external_reservation_id: 'received' });
    for (const status of ['no_show', 'cancelled']) {
      assert.equal((await setStayStatus(service, own, body.reservation_id, status)).status, 200);
    }
    const events = await eventsOf(service, own.tenantId);
    const about = { reservation_id: body.reservation_id, external_reservation_id: 'received' };
    assert.deepEqual(
      events.map(({ sent, type, credential_id }) => [type, sent.event, sent.data, credential_id]),
      [
        ['reservation.created', 'confirmed'],
        ['reservation.modified', 'no_show'],
        ['reservation.cancelled', 'cancelled'],
      ].map(([event, status]) => [event, event, { ...about, status }, own.credential.id]),
    );
    assert.deepEqual(
      events.map(({ id }) => id),
      events.map(({ sent }) => sent.event_id),
    );
  });
});
