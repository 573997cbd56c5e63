import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, countByStatus, faultsOf } from '#test/support/answers.ts';
import {
  assertNightCounters,
  book,
  bookForHouse,
  dayAhead,
  eventsOf,
  openChannel,
  openHotel,
  pmsHeaders,
  sellable,
  setStayStatus,
  STAFF_RESERVATIONS,
  type TestHotel,
  writePlan,
} from '#test/support/hotel.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { entriesOf } from '#test/support/lists.ts';

const { service, hotel } = await useHotel();

const change = (of: TestHotel, id: string, json: Record<string, unknown>) =>
  service.call('PATCH', `${STAFF_RESERVATIONS}${id}/`, { headers: of.staff, json });
const free = (of: TestHotel, name: string, from = 29, to = 35) =>
  sellable(service, of, of.roomTypes[name], dayAhead(from), dayAhead(to));
const changed = async (of: TestHotel, id: string, json: Record<string, unknown>) => {
  const { status, text, body } = await change(of, id, json);
  assert.equal(status, 200, text);
  return body;
};
const made = async (of: TestHotel, changes: Record<string, unknown> = {}) => {
  const { status, text, body } = await bookForHouse(service, of, changes);
  assert.equal(status, 201, text);
  return body;
};

describe('PATCH /v1/staff/reservations/{id}/', () => {
  it('200: new dates and another room type move the held nights, and the stay is priced again; no event is written', async () => {
    const own = await openHotel(service);
    const stay = await made(own);
    const longer = await change(own, stay.reservation_id, { check_in: dayAhead(31), check_out: dayAhead(34) });
    assert.deepEqual(
      [longer.status, longer.body.total_amount, longer.body.nightly_prices.map(({ date }: { date: string }) => date)],
      [200, '240.00', [dayAhead(31), dayAhead(32), dayAhead(33)]],
    );
    assert.deepEqual(await free(own, 'Double'), [3, 3, 2, 2, 2, 3]);
    await assertNightCounters(service, own.tenantId);
    const moved = await change(own, stay.reservation_id, { room_type_id: own.roomTypes['Suite']?.toUpperCase() });
    assert.deepEqual([moved.body.total_amount, moved.body.rate_plan_id], ['751.50', own.plans['Suite/Suite rate']]);
    assert.deepEqual(await free(own, 'Double'), [3, 3, 3, 3, 3, 3]);
    assert.deepEqual(await free(own, 'Suite'), [1, 1, 0, 0, 0, 1]);
    await assertNightCounters(service, own.tenantId);
    assert.deepEqual(await eventsOf(service, own.tenantId), []);
    assert.ok(moved.body.changed_at > longer.body.changed_at && longer.body.changed_at > stay.changed_at);
    assert.deepEqual(moved.body.history, stay.history, 'the history shows changes of the status only');
  });

  it('200: a changed stay keeps its rate plan if this plan allows the new stay; otherwise it gets the cheapest plan', async () => {
    const own = await openHotel(service);
    const stay = await made(own, { rate_plan_id: own.plans['Double/Flexible'] });
    const pms = await pmsHeaders(service, own);
    const closed = [{ date: dayAhead(30), stop_sell: true }];
    await writePlan(service, pms, 'restrictions', own.plans['Double/Flexible'], closed);
    const longer = await change(own, stay.reservation_id, { check_out: dayAhead(33) });
    assert.deepEqual([longer.body.rate_plan_id, longer.body.total_amount], [own.plans['Double/Flexible'], '300.00']);
    const closedAlso = [{ date: dayAhead(33), stop_sell: true }];
    await writePlan(service, pms, 'restrictions', own.plans['Double/Flexible'], closedAlso);
    const cheaper = await change(own, stay.reservation_id, { check_out: dayAhead(34) });
    assert.deepEqual([cheaper.body.rate_plan_id, cheaper.body.total_amount], [own.plans['Double/Saver'], '320.00']);
    await writePlan(service, pms, 'restrictions', own.plans['Double/Saver'], [{ date: dayAhead(34), stop_sell: true }]);
    await writePlan(service, pms, 'restrictions', own.plans['Double/Flexible'], [
      { date: dayAhead(34), stop_sell: true },
    ]);
    const refused = { check_out: dayAhead(35) };
    assertError(await change(own, stay.reservation_id, refused), 409, 'room_not_available');
    assert.equal((await change(own, stay.reservation_id, { ...refused, overbook: true })).status, 200);
    await assertNightCounters(service, own.tenantId);
  });

  it('200: the number of guests, the guest details and the amount can change without new dates, and a missing field keeps its value', async () => {
    const stay = await made(hotel, { guest: { name: 'A', phone: '1', email: 'a@example.com' } });
    const body = await changed(hotel, stay.reservation_id, { guests: 2, guest: { phone: null } });
    assert.deepEqual([body.guests, body.guest], [2, { name: 'A', phone: null, email: 'a@example.com' }]);
    assert.deepEqual([body.total_amount, body.nightly_prices], [stay.total_amount, stay.nightly_prices]);
    const same = await changed(hotel, stay.reservation_id, { total_amount: Number(stay.total_amount) });
    assert.deepEqual([same.changed_at, same.nightly_prices], [body.changed_at, stay.nightly_prices]);
    const agreed = await changed(hotel, stay.reservation_id, { total_amount: 12.5 });
    assert.deepEqual([agreed.total_amount, agreed.nightly_prices], ['12.50', null]);
    const moved = await changed(hotel, stay.reservation_id, { check_out: dayAhead(33), total_amount: '20' });
    assert.deepEqual([moved.total_amount, moved.nightly_prices], ['20.00', null]);
    const priced = await changed(hotel, stay.reservation_id, { check_out: dayAhead(32) });
    assert.deepEqual([priced.total_amount, priced.nightly_prices.length], ['160.00', 2]);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('200: a change without differences keeps changed_at and writes no audit entry; a real change writes one entry', async () => {
    const own = await openHotel(service);
    const stay = await made(own);
    const entries = async () =>
      (await entriesOf(service, '/v1/staff/audit/', own.owner)).filter(
        ({ action }: { action: string }) => action === 'reservation.changed',
      );
    for (const json of [{}, { guests: 1, check_in: stay.check_in, guest: { name: stay.guest.name } }]) {
      assert.deepEqual(await changed(own, stay.reservation_id, json), stay);
    }
    assert.deepEqual(await entries(), []);
    await changed(own, stay.reservation_id, { guests: 2, guest: { name: 'Secret Name' } });
    const [entry, ...rest] = await entries();
    assert.deepEqual(rest, []);
    assert.deepEqual(entry.details, {
      natural_id: stay.natural_id,
      fields: [{ field: 'guests', from: 1, to: 2 }, { field: 'guest' }],
    });
  });

  it('200, 409: of 5 concurrent changes with the same expected_changed_at, one succeeds and four are refused, and a later change with this value is also refused', async () => {
    const stay = await made(hotel, { room_type_id: hotel.roomTypes['Bunk'] });
    const expected_changed_at = stay.changed_at;
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        change(hotel, stay.reservation_id, { guest: { name: `Guest ${index}` }, expected_changed_at }),
      ),
    );
    assert.deepEqual(countByStatus(answers), { 200: 1, 409: 4 });
    const refused = await change(hotel, stay.reservation_id, { guests: 1, expected_changed_at });
    assertError(refused, 409, 'invalid_status_transition');
    const present = answers.find(({ status }) => status === 200)?.body.changed_at;
    const seen = { guest: { name: 'Seen' }, expected_changed_at: present.replace('Z', '+00:00') };
    assert.equal((await change(hotel, stay.reservation_id, seen)).status, 200);
  });

  it('409: if a stay was booked by a partner or an OTA, or is cancelled, staff cannot change the number of guests', async () => {
    const own = await openHotel(service);
    const ofPartner = (await book(service, own)).body.reservation_id;
    const ofOta = (await (await openChannel(service, own))({ external_id: 'O' })).body.id;
    const cancelled = (await made(own)).reservation_id;
    await setStayStatus(service, own, cancelled, 'cancelled');
    for (const id of [ofPartner, ofOta, cancelled]) {
      assertError(await change(own, id, { guests: 2 }), 409, 'invalid_status_transition');
    }
  });

  it('400: a change to dates without a night or in the past, or to too many guests, is refused', async () => {
    const stay = await made(hotel, { room_type_id: hotel.roomTypes['Bunk'] });
    for (const [json, path] of [
      [{ check_out: stay.check_in }, 'check_out'],
      [{ check_in: dayAhead(40) }, 'check_out'],
      [{ check_in: dayAhead(-3) }, 'check_in'],
      [{ guests: 2 }, 'guests'],
    ] as const) {
      const faults = faultsOf(await change(hotel, stay.reservation_id, json));
      assert.ok(faults[0]?.startsWith(`${path}: `), `${JSON.stringify(json)}: ${faults.join()}`);
    }
  });
});
