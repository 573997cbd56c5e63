import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, countByStatus, faultsOf } from '#test/support/answers.ts';
import {
  assertNightCounters,
  bookForHouse,
  dayAfter,
  dayAhead,
  eventsOf,
  onOneDay,
  openHotel,
  openHotelOf,
  pmsHeaders,
  sellable,
  STAFF_RESERVATIONS,
  type TestHotel,
  writePlan,
} from '#test/support/hotel.ts';
import { startService } from '#test/support/service.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { entriesOf } from '#test/support/lists.ts';

const { service, hotel } = await useHotel();

const read = async (id: string, of: TestHotel) =>
  (await service.call('GET', `${STAFF_RESERVATIONS}${id}/`, { headers: of.staff })).body;
const freeRooms = (of: TestHotel) => sellable(service, of, of.roomTypes['Double'], dayAhead(30), dayAhead(32));

describe('POST /v1/staff/reservations/', () => {
  it('201: a booking holds its nights, has the source "house", causes no event, and the PMS sees no external source', async () => {
    const own = await openHotel(service);
    const guest = { name: 'Zoë Ríos', phone: '+351 900 1', email: 'zoe@example.com' };
    const { status, body } = await bookForHouse(service, own, { guests: 2, guest });
    assert.equal(status, 201);
    assert.deepEqual(
      {
        ...body,
        reservation_id: '',
        natural_id: '',
        created_at: body.changed_at,
        history: body.history.map((step: { by: { type: string } }) => ({ ...step, by: step.by.type })),
      },
      {
        reservation_id: '',
        natural_id: '',
        status: 'confirmed',
        source: 'house',
        credential_id: null,
        credential_label: null,
        external_reservation_id: null,
        external_source: null,
        external_id: null,
        room_type_id: own.roomTypes['Double'],
        rate_plan_id: own.plans['Double/Saver'],
        check_in: dayAhead(30),
        check_out: dayAhead(32),
        guests: 2,
        guest,
        total_amount: '160.00',
        nightly_prices: [
          { date: dayAhead(30), price: '80.00' },
          { date: dayAhead(31), price: '80.00' },
        ],
        currency: 'EUR',
        created_at: body.changed_at,
        changed_at: body.changed_at,
        arrived_at: null,
        history: [{ status: 'confirmed', at: body.created_at, by: 'person', reason: null }],
      },
    );
    assert.deepEqual(await read(body.reservation_id, own), body);
    assert.deepEqual(await freeRooms(own), [2, 2]);
    assert.deepEqual(await eventsOf(service, own.tenantId), []);
    const path = `/v1/channel-manager/pms/reservations/${body.reservation_id}/`;
    const ofPms = await service.call('GET', path, { headers: await pmsHeaders(service, own) });
    assert.deepEqual(
      [ofPms.body.external_source, ofPms.body.external_id, ofPms.body.guest.full_name],
      [null, null, 'Zoë Ríos'],
    );
    const ofPartner = await service.call('GET', '/v1/third-party/hotels/reservations/', { headers: own.partner });
    assert.deepEqual(ofPartner.body, []);
    await assertNightCounters(service, own.tenantId);
  });

  it('200: a second booking with the same request_id, even with another body, gets the stored stay and writes nothing', async () => {
    const own = await openHotel(service);
    const request_id = crypto.randomUUID();
    const first = await bookForHouse(service, own, { request_id });
    for (const changes of [
      {},
      { request_id: request_id.toUpperCase() },
      { room_type_id: crypto.randomUUID(), guests: 9, check_in: '2001-01-01', check_out: '2001-01-02' },
    ]) {
      const again = await bookForHouse(service, own, { request_id, ...changes });
      assert.deepEqual([again.status, again.body], [200, first.body]);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
    }
    assert.deepEqual(await freeRooms(own), [2, 2]);
    const trail = await entriesOf(service, '/v1/staff/audit/', own.owner);
    const ofBooking = trail.filter(({ action }: { action: string }) => action === 'reservation.booked');
    assert.deepEqual(
      ofBooking.map(({ subject, actor }: { subject: string; actor: { type: string } }) => [subject, actor.type]),
      [[first.body.reservation_id, 'user']],
    );
    const other = await bookForHouse(service, await openHotel(service), { request_id });
    assert.equal(other.status, 201, 'a request_id belongs to one tenant');
  });

  it('201, 200: of 20 concurrent calls on two nodes with one request_id, one gets 201 and the others get the same stay', async (t) => {
    const own = await openHotelOf(service, 30);
    const second = await startService({ beside: service });
    t.after(() => second.close());
    const request_id = crypto.randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => bookForHouse(index % 2 ? second : service, own, { request_id })),
    );
    assert.deepEqual(countByStatus(answers), { 200: 19, 201: 1 });
    assert.equal(new Set(answers.map(({ body }) => body.reservation_id)).size, 1);
    assert.deepEqual(await freeRooms(own), [29, 29]);
    await assertNightCounters(service, own.tenantId);
  });

  it('409: a booking of a room type without rooms is refused; 201: with overbook it is accepted', async () => {
    const own = await openHotelOf(service, 0);
    assertError(await bookForHouse(service, own), 409, 'room_not_available');
    assert.equal((await bookForHouse(service, own, { overbook: true })).status, 201);
    await assertNightCounters(service, own.tenantId);
  });

  it('201: a booking costs the price of its named rate plan, or the given amount; with an amount, nightly_prices is null', async () => {
    const own = await openHotel(service);
    const flexible = await bookForHouse(service, own, { rate_plan_id: own.plans['Double/Flexible']?.toUpperCase() });
    assert.deepEqual(
      [flexible.body.rate_plan_id, flexible.body.total_amount],
      [own.plans['Double/Flexible'], '200.00'],
    );
    for (const [total_amount, expected] of [
      [150, '150.00'],
      ['99.5', '99.50'],
      ['0', '0.00'],
    ] as const) {
      const agreed = await bookForHouse(service, own, { total_amount, room_type_id: own.roomTypes['Bunk'] });
      assert.deepEqual([agreed.status, agreed.body.total_amount, agreed.body.nightly_prices], [201, expected, null]);
    }
  });

  it('409: a booking of closed nights or below the minimum stay is refused; 201: with overbook it is accepted', async () => {
    const own = await openHotel(service);
    const one = { check_out: dayAhead(31), rate_plan_id: own.plans['Double/Saver'] };
    assertError(await bookForHouse(service, own, one), 409, 'room_not_available');
    const short = await bookForHouse(service, own, { ...one, overbook: true });
    assert.deepEqual([short.status, short.body.total_amount], [201, '80.00']);
    const pms = await pmsHeaders(service, own);
    for (const plan of ['Double/Flexible', 'Double/Saver']) {
      await writePlan(service, pms, 'restrictions', own.plans[plan], [{ date: dayAhead(31), stop_sell: true }]);
    }
    assertError(await bookForHouse(service, own), 409, 'room_not_available');
    assertError(await bookForHouse(service, own, { total_amount: 10 }), 409, 'room_not_available');
    assert.equal((await bookForHouse(service, own, { overbook: true })).status, 201);
    await assertNightCounters(service, own.tenantId);
  });

  it('201: check_in may be yesterday at the property; 400: an earlier check_in is refused, even with overbook', async () => {
    for (const timezone of ['Pacific/Kiritimati', 'Pacific/Midway']) {
      const own = await openHotelOf(service, 5, timezone);
      const { yesterday, earlier } = await onOneDay(timezone, async (today) => {
        const dates = (days: number) => ({ check_in: dayAfter(today, days), check_out: dayAfter(today, 1) });
        return {
          yesterday: await bookForHouse(service, own, dates(-1)),
          earlier: await bookForHouse(service, own, { ...dates(-2), overbook: true }),
        };
      });
      assert.equal(yesterday.status, 201, yesterday.text);
      assert.match(faultsOf(earlier).join(), /^check_in: must not be before yesterday/);
    }
  });

  it('400: a booking for too many guests is refused; 201: with overbook it is accepted', async () => {
    assert.match(faultsOf(await bookForHouse(service, hotel, { guests: 3 })).join(), /^guests: must be at most 2/);
    assert.equal((await bookForHouse(service, hotel, { guests: 3, overbook: true })).status, 201);
  });

  it('400: a booking whose check_out is not after check_in, or is more than 730 nights later, is refused', async () => {
    for (const check_out of [dayAhead(30), dayAhead(30 + 731)]) {
      assert.match(faultsOf(await bookForHouse(service, hotel, { check_out })).join(), /^check_out: /);
    }
  });

  it('404: an unknown room type, a rate plan of another room type or another tenant, and an inactive plan are refused', async () => {
    const stranger = await openHotel(service);
    for (const room_type_id of [crypto.randomUUID(), stranger.roomTypes['Double']]) {
      assertError(await bookForHouse(service, hotel, { room_type_id }), 404, 'room_type_not_found');
    }
    for (const rate_plan_id of [
      hotel.plans['Suite/Suite rate'],
      stranger.plans['Double/Flexible'],
      hotel.plans['Double/Closed for good'],
      crypto.randomUUID(),
    ]) {
      assertError(await bookForHouse(service, hotel, { rate_plan_id, overbook: true }), 404, 'error');
    }
  });
});
