import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  assertNightCounters,
  book,
  bookForHouse,
  dayAhead,
  openChannel,
  openHotel,
  pmsHeaders,
  reservationPath,
  setStayStatus,
  STAFF_RESERVATIONS,
  type TestHotel,
  writePlan,
} from '#test/support/hotel.ts';
import { useService } from '#test/support/shared-service.ts';

const service = await useService();

const night = async (hotel: TestHotel, name: string, day: number) => {
  const path = `/v1/staff/nights/${hotel.roomTypes[name]}/${dayAhead(day)}/`;
  const { status, text, body } = await service.call('GET', path, { headers: hotel.staff });
  assert.equal(status, 200, text);
  return body;
};
type Entry = { what: string; by: { type: string; name: string | null }; held_after: number | null };
const short = ({ history }: { history: Entry[] }) =>
  history.map(({ what, by, held_after }) => `${what} by ${by.type} ${held_after}`);

describe('GET /v1/staff/nights/{room_type_id}/{date}/', () => {
  it('200: a night shows its capacity, its held rooms, the stays that hold it, and who booked, moved and cancelled them', async () => {
    const hotel = await openHotel(service);
    const first = await book(service, hotel, { external_reservation_id: 'first' });
    const house = await bookForHouse(service, hotel, { room_type_id: hotel.roomTypes['Bunk'] });
    const path = `${STAFF_RESERVATIONS}${house.body.reservation_id}/`;
    const move = async (json: object) => {
      const { status, text } = await service.call('PATCH', path, { headers: hotel.staff, json });
      assert.equal(status, 200, text);
    };
    await move({ room_type_id: hotel.roomTypes['Double'] });
    const send = await openChannel(service, hotel, 'an-ota');
    await send({ external_id: 'O', check_in: dayAhead(10), check_out: dayAhead(90) });
    await send({ external_id: 'P', status: 'cancelled' });
    await move({ check_out: dayAhead(34) });
    await service.call('POST', reservationPath('first', 'cancel/'), { headers: hotel.partner });
    const { body: last } = await book(service, hotel);
    await setStayStatus(service, hotel, last.reservation_id, 'no_show');
    await move({ check_in: dayAhead(32) });

    const seen = await night(hotel, 'Double', 31);
    assert.deepEqual([seen.capacity, seen.held], [3, 2]);
    assert.deepEqual(
      seen.stays.map(({ source, status, guest_name }: Record<string, string>) => [source, status, guest_name]),
      [
        ['partner', 'no_show', 'Ana Lima'],
        ['ota', 'confirmed', 'Ana Lima'],
      ],
    );
    assert.deepEqual(seen.stays[0], {
      reservation_id: last.reservation_id,
      natural_id: seen.stays[0].natural_id,
      status: 'no_show',
      source: 'partner',
      guest_name: 'Ana Lima',
      check_in: last.check_in,
      check_out: last.check_out,
    });
    assert.deepEqual(short(seen), [
      'changed by person 2',
      'booked by partner 3',
      'cancelled by partner 2',
      'changed by person 3',
      'booked by channel 3',
      'changed by person 2',
      'booked by partner 1',
    ]);
    assert.deepEqual(
      seen.history.map(({ by }: Entry) => by.name).filter((name: string | null) => name !== null).length,
      7,
    );
    assert.deepEqual(short(await night(hotel, 'Bunk', 31)), ['changed by person 0', 'booked by person 1']);
    assert.deepEqual(short(await night(hotel, 'Double', 33)), [
      'changed by person 2',
      'changed by person 2',
      'booked by channel 1',
    ]);
    assert.deepEqual(await night(hotel, 'Double', 9), { capacity: 3, held: 0, stays: [], history: [] });
    assert.equal(first.status, 201);
    await assertNightCounters(service, hotel.tenantId);
  });

  it('200: the history of a night has the prices and closures that the PMS writes, but no entry for a write that repeats the stored price', async () => {
    const hotel = await openHotel(service);
    const pms = await pmsHeaders(service, hotel);
    const plan = hotel.plans['Double/Flexible'];
    const date = dayAhead(31);
    const entry = { date, price: '120' };
    await writePlan(service, pms, 'rates', plan, [{ date: dayAhead(30), price: 1 }, entry]);
    await writePlan(service, pms, 'rates', plan, [{ ...entry, price: 120.0 }]);
    await book(service, hotel);
    await writePlan(service, pms, 'restrictions', plan, [{ date, stop_sell: true }]);
    await writePlan(service, pms, 'rates', plan, [{ date: dayAhead(40), price: 5 }]);
    await writePlan(service, pms, 'rates', plan, [
      { date, price: 130, is_sold_out: true },
      { date, price: 140 },
    ]);
    await writePlan(service, pms, 'restrictions', hotel.plans['Suite/Suite rate'], [{ date, stop_sell: true }]);
    const history = short(await night(hotel, 'Double', 31));
    assert.deepEqual(history.slice(0, 2).sort(), ['price by partner 1', 'stop_sell by partner 1']);
    assert.deepEqual(history.slice(2), ['stop_sell by partner 1', 'booked by partner 1', 'price by partner 0']);
  });

  it('200: the history of a night has an entry for each price, closure or capacity that people change for this night', async () => {
    const hotel = await openHotel(service);
    const rate_plan_id = hotel.plans['Double/Flexible'];
    const date = dayAhead(31);
    const change = async (path: string, json: object) => {
      const { status, text } = await service.call('PATCH', `/v1/staff/${path}/`, { headers: hotel.owner, json });
      assert.equal(status, 200, text);
    };
    await change('rates', { changes: [{ rate_plan_id, date, is_sold_out: true }] });
    await change('rates', { changes: [{ rate_plan_id, date, price: '99' }] });
    await change('rates', { changes: [{ rate_plan_id, date: dayAhead(32), price: '98' }] });
    await change('rates', { changes: [{ rate_plan_id, date, price: null }] });
    await change(`room-types/${hotel.roomTypes['Double']}`, { physical_capacity: 9 });
    assert.deepEqual(short(await night(hotel, 'Double', 31)), [
      'capacity by person 0',
      'price by person 0',
      'price by person 0',
      'stop_sell by person 0',
    ]);
  });

  it('200: if a tenant document changes the capacity of a room type, the history of its nights has an entry for this change', async () => {
    const hotel = await openHotel(service);
    await book(service, hotel);
    const [first, ...others] = hotel.document.properties ?? [];
    const roomTypes = (first?.room_types ?? []).map((roomType) =>
      roomType.name === 'Double' ? { ...roomType, physical_capacity: 9 } : roomType,
    );
    await service.apply({ ...hotel.document, properties: [{ ...first, room_types: roomTypes }, ...others] });
    const seen = await night(hotel, 'Double', 30);
    assert.deepEqual([seen.capacity, short(seen)], [9, ['capacity by operator 1', 'booked by partner 1']]);
    assert.deepEqual(short(await night(hotel, 'Lagoon Lodge/Double', 30)), []);
  });

  it('200: a night shows its newest 200 changes, and the held_after of the newest change is the present number of held rooms', async () => {
    const hotel = await openHotel(service);
    const send = await openChannel(service, hotel);
    const room_type_id = hotel.roomTypes['Bunk'];
    for (let index = 0; index < 104; index += 1) {
      // The signature of a call covers its body and a timestamp in whole seconds. If two calls in one second had the same body, they would
      // have the same signature, and the service would ignore the second call as a repeat. So each round of the outer loop sends another
      // `total_amount`.
      for (const status of ['confirmed', 'cancelled']) {
        assert.ok((await send({ external_id: 'one', room_type_id, status, total_amount: index })).status < 300);
      }
    }
    await bookForHouse(service, hotel, { room_type_id });
    const { held, history } = await night(hotel, 'Bunk', 30);
    assert.deepEqual([held, history.length, history[0].held_after], [1, 200, 1]);
    assert.deepEqual(
      history.slice(1).map(({ held_after }: Entry) => held_after),
      Array.from({ length: 199 }, (_, index) => index % 2),
    );
  });
});
