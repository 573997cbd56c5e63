import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import {
  assertNightCounters,
  book,
  eventsOf,
  onOneDay,
  openHotel,
  openSmallHotel,
  RESERVATIONS,
  stay,
} from '#test/support/hotel.ts';
import { useHotel } from '#test/support/shared-service.ts';

const { service, hotel } = await useHotel();

describe('POST /v1/third-party/hotels/reservations/', () => {
  it('201: the response to a booking has exactly the documented fields', async () => {
    const sent = stay(hotel, { external_reservation_id: 'A-1', guests: 2 });
    const startedAt = Date.now();
    const answer = await service.call('POST', RESERVATIONS, { headers: hotel.partner, json: sent });
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.headers.get('idempotent-replayed'), null);
    const { reservation_id, created_at } = answer.body;
    assert.deepEqual(answer.body, {
      success: true,
      reservation_id,
      external_reservation_id: 'A-1',
      status: 'confirmed',
      room_type_id: hotel.roomTypes['Double'],
      check_in: sent.check_in,
      check_out: sent.check_out,
      guests: 2,
      total_amount: '160.00',
      currency: 'EUR',
      created_at,
    });
    assert.match(reservation_id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(Date.parse(created_at) >= startedAt && Date.parse(created_at) <= Date.now());
  });

  it('201: a booking without `guests` is for one guest, and staff can read the name, phone and e-mail of the field `guest`', async () => {
    const guest = { name: 'Ana', phone: '1', email: 'ana@example.com' };
    const { status, body } = await book(service, hotel, { room_type_id: hotel.roomTypes['Bunk'], guest });
    assert.deepEqual([status, body.guests], [201, 1]);
    const staffView = await service.call('GET', `/v1/staff/reservations/${body.reservation_id}/`, {
      headers: hotel.staff,
    });
    assert.deepEqual(staffView.body.guest, guest);
  });

  it('201: a booking ignores fields that the contract does not have, so a partner cannot set the amount, the status or the rate plan', async () => {
    const others = { total_amount: '1.00', status: 'pending', rate_plan_id: crypto.randomUUID(), overbook: true };
    const own = await openHotel(service);
    const { status, body } = await book(service, own, { room_type_id: own.roomTypes['Double'], ...others });
    assert.deepEqual([status, body.total_amount, body.status], [201, '160.00', 'confirmed']);
  });

  it('201: a booking may give the room type id in capital letters', async () => {
    const { status, body } = await book(service, hotel, { room_type_id: hotel.roomTypes['Bunk']?.toUpperCase() });
    assert.deepEqual([status, body.room_type_id], [201, hotel.roomTypes['Bunk']]);
  });

  it('201: one transaction writes a booking and its event reservation.created, and no other event is written', async () => {
    const own = await openHotel(service);
    const { status, body } = await book(service, own, { external_reservation_id: 'Ünïcode/1' });
    assert.equal(status, 201);
    const [event, ...rest] = await eventsOf(service, own.tenantId);
    assert.deepEqual(rest, []);
    assert.deepEqual(event?.sent, {
      event: 'reservation.created',
      event_id: event?.id,
      occurred_at: event?.sent.occurred_at,
      data: { reservation_id: body.reservation_id, external_reservation_id: 'Ünïcode/1', status: 'confirmed' },
    });
    assert.equal(event?.body, JSON.stringify(event?.sent), 'the body of the event is JSON without spaces');
    assert.deepEqual([event?.type, event?.credential_id], ['reservation.created', own.credential.id]);
    const { rows } = await readTransactionIds(own.tenantId);
    assert.equal(rows.length, 1, 'one transaction wrote the reservation, its nights and its event');
  });

  it('201: a stay may begin on the date that is today in the time zone of its property', async () => {
    const rooms = [{ name: 'Double', max_occupancy: 2, physical_capacity: 2 }];
    for (const timezone of ['Pacific/Pago_Pago', 'Europe/Lisbon', 'Pacific/Kiritimati']) {
      const own = await openSmallHotel(service, rooms, timezone);
      const answer = await onOneDay(timezone, (today) => book(service, own, { check_in: today }));
      assert.equal(answer.status, 201, `${timezone}: ${answer.text}`);
    }
  });

  it('201: the total is for the correct number of nights, even if the stay includes 29 February or a change of the clocks', async () => {
    for (const [checkIn, checkOut, nights] of [
      ['2096-02-27', '2096-03-02', 4],
      ['2097-02-27', '2097-03-02', 3],
      ['2096-03-20', '2096-04-05', 16],
      ['2096-10-20', '2096-11-05', 16],
      ['2096-12-31', '2097-01-01', 1],
      ['9999-12-30', '9999-12-31', 1],
    ] as const) {
      const { status, body } = await book(service, hotel, {
        room_type_id: hotel.roomTypes['Bunk'],
        check_in: checkIn,
        check_out: checkOut,
      });
      assert.deepEqual([status, body.total_amount], [201, `${25 * nights}.00`], `${checkIn} to ${checkOut}`);
    }
    await assertNightCounters(service, hotel.tenantId);
  });

  it('201: a stay of 730 nights can be booked', async () => {
    const { status, body } = await book(service, hotel, { check_in: '2090-01-01', check_out: '2092-01-01' });
    assert.deepEqual([status, body.total_amount], [201, '58400.00']);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('201: a booking may be sent as a URL-encoded form with the field guest[name], or as multipart with the guest as JSON', async () => {
    const { guest, ...fields } = stay(hotel, { guests: '2', room_type_id: hotel.roomTypes['Double'] });
    const form = new URLSearchParams({ ...fields, guests: '2', room_type_id: String(fields.room_type_id) });
    form.set('guest[name]', guest.name);
    form.set('guest.phone', guest.phone);
    const first = await service.call('POST', RESERVATIONS, { headers: hotel.partner, body: form });
    assert.deepEqual([first.status, first.body.guests], [201, 2], first.text);

    const multipart = new FormData();
    for (const [name, value] of Object.entries(stay(hotel))) {
      multipart.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
    }
    const second = await service.call('POST', RESERVATIONS, { headers: hotel.partner, body: multipart });
    assert.deepEqual([second.status, second.body.guests], [201, 1], second.text);
  });

  it('201: the maximum lengths of text fields are counted in code points, not in UTF-16 code units', async () => {
    const longest = (count: number) => '𝄞'.repeat(count);
    const id = longest(150);
    const guest = { name: longest(500), phone: longest(20), email: longest(254) };
    const own = await openHotel(service);
    const answer = await book(service, own, { external_reservation_id: id, guest });
    assert.equal(answer.status, 201, answer.text);
    const path = `${RESERVATIONS}${encodeURIComponent(id)}`;
    const read = await service.call('GET', path, { headers: own.partner });
    assert.deepEqual([read.status, read.body], [200, answer.body]);
    assert.equal((await service.call('POST', `${path}/cancel/`, { headers: own.partner })).body.status, 'cancelled');
  });

  it('201: two credentials of a tenant may book under the same external id, which makes two different reservations', async () => {
    const sibling = await service.credential(hotel.tenantId);
    const both = [hotel, { ...hotel, ...sibling }];
    const answers = [];
    for (const each of both) {
      answers.push(
        await book(service, each, { external_reservation_id: 'shared', room_type_id: hotel.roomTypes['Bunk'] }),
      );
    }
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 201],
    );
    assert.notEqual(answers[0]?.body.reservation_id, answers[1]?.body.reservation_id);
  });
});

/** Returns the ids of the transactions that wrote the tenant's reservations, night counters and events. Each id occurs once. */
function readTransactionIds(tenantId: number) {
  return sql<{ xmin: string }>`
    SELECT xmin FROM reservation WHERE tenant_id = ${tenantId} UNION SELECT xmin FROM night WHERE tenant_id = ${tenantId}
    UNION SELECT xmin FROM event WHERE tenant_id = ${tenantId}
  `.execute(service.database.db);
}
