import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import {
  assertCounted,
  book,
  dayAfter,
  dayAhead,
  eventsOf,
  openChannel,
  openHotel,
  openHouse,
  pmsHeaders,
  RESERVATIONS,
  sellable,
  stay,
  type TestHotel,
  writePlan,
} from '#test/support/hotel.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sampleHotel } from '#test/support/tenants.ts';
import { todayIn } from '#platform/lib/dates.ts';

let service: TestService;
let hotel: TestHotel;
before(async () => {
  service = await startService();
  hotel = await openHotel(service);
});
after(() => service.close());

/** What a refused booking must leave: nothing. */
async function assertUntouched(house: TestHotel, reservations = 0): Promise<void> {
  const list = await service.call('GET', RESERVATIONS, { headers: house.partner });
  assert.equal(list.body.length, reservations);
  assert.equal((await eventsOf(service, house.tenantId)).length, reservations);
  await assertCounted(service, house.tenantId);
}

describe('POST /v1/third-party/hotels/reservations/ refuses', () => {
  it('401: without, or with wrong, credentials, before anything else', async () => {
    const wrong = { 'x-api-key': hotel.credential.api_key, 'x-api-secret': 'wrong' };
    for (const headers of [{}, wrong]) {
      assertError(await service.call('POST', RESERVATIONS, { headers, json: {} }), 401, 'invalid_credentials');
    }
  });

  it('403: a tenant without the hotel feature, before the body is looked at', async () => {
    const { partner } = await service.tenant({ features: ['restaurant'] });
    assertError(await service.call('POST', RESERVATIONS, { headers: partner, json: {} }), 403, 'error');
  });

  it('400: each field that is missing or wrong, by its name', async () => {
    const cases: [Record<string, unknown>, string[]][] = [
      [{ external_reservation_id: undefined }, ['external_reservation_id']],
      [{ external_reservation_id: '' }, ['external_reservation_id']],
      [{ external_reservation_id: '𝄞'.repeat(151) }, ['external_reservation_id']],
      [{ external_reservation_id: 7 }, ['external_reservation_id']],
      [{ external_reservation_id: null }, ['external_reservation_id']],
      [{ room_type_id: undefined }, ['room_type_id']],
      [{ room_type_id: 'Double' }, ['room_type_id']],
      [{ check_in: undefined, check_out: undefined }, ['check_in', 'check_out']],
      [{ check_in: '2096-02-30' }, ['check_in']],
      [{ check_out: '2097-02-29' }, ['check_out']],
      [{ check_in: '2096-2-3' }, ['check_in']],
      [{ check_in: '2096-02-03T00:00:00Z' }, ['check_in']],
      [{ check_in: '0000-01-01' }, ['check_in']],
      [{ check_in: 20960203 }, ['check_in']],
      [{ guests: 0 }, ['guests']],
      [{ guests: -1 }, ['guests']],
      [{ guests: 1.5 }, ['guests']],
      [{ guests: '2' }, ['guests']],
      [{ guests: null }, ['guests']],
      [{ guests: 2_147_483_648 }, ['guests']],
      [{ guest: undefined }, ['guest']],
      [{ guest: null }, ['guest']],
      [{ guest: 'Ana' }, ['guest']],
      [{ guest: {} }, ['guest.name', 'guest.phone']],
      [{ guest: { name: '', phone: '' } }, ['guest.name', 'guest.phone']],
      [{ guest: { name: '𝄞'.repeat(501), phone: '1' } }, ['guest.name']],
      [{ guest: { name: 'Ana', phone: '1'.repeat(21) } }, ['guest.phone']],
      [{ guest: { name: 'Ana', phone: 1 } }, ['guest.phone']],
      [{ guest: { name: 'Ana', phone: '1', email: 'e'.repeat(255) } }, ['guest.email']],
      [{ guests: 0, room_type_id: 1, check_in: 'x' }, ['room_type_id', 'check_in', 'guests']],
    ];
    for (const [changes, fields] of cases) {
      const faults = faultsOf(await book(service, hotel, changes));
      assert.deepEqual(new Set(faults.map((fault) => fault.split(':')[0])), new Set(fields), JSON.stringify(changes));
    }
    await assertUntouched(hotel);
  });

  it('400: a departure that does not come after the arrival, and more than 730 nights', async () => {
    for (const [check_in, check_out] of [
      ['2096-05-05', '2096-05-05'],
      ['2096-05-05', '2096-05-04'],
      ['2096-05-05', '2095-05-06'],
      ['2090-01-01', '2092-01-02'],
      ['0001-01-01', '9999-12-31'],
    ]) {
      const [fault, ...rest] = faultsOf(await book(service, hotel, { check_in, check_out }));
      assert.match(fault ?? '', /^check_out: /);
      assert.deepEqual(rest, []);
    }
  });

  it('400: an arrival before today at the property, whatever day it is elsewhere', async () => {
    const stays = [
      // It is never the same day there: 25 hours lie between the two.
      { room_type_id: hotel.roomTypes['Lagoon Lodge/Double'], check_in: todayIn('Pacific/Pago_Pago') },
      { room_type_id: hotel.roomTypes['Double'], check_in: dayAfter(todayIn('Europe/Lisbon'), -1) },
      { room_type_id: hotel.roomTypes['Double'], check_in: '2020-02-29' },
    ];
    for (const changes of stays) {
      const check_out = dayAfter(changes.check_in, 7);
      assert.match(faultsOf(await book(service, hotel, { ...changes, check_out })).join(), /^check_in: /);
    }
    const reef = await openHouse(
      service,
      [{ name: 'Double', max_occupancy: 2, physical_capacity: 1 }],
      'Pacific/Pago_Pago',
    );
    const yesterday = dayAfter(todayIn('Pacific/Pago_Pago'), -1);
    assert.match(faultsOf(await book(service, reef, { check_in: yesterday })).join(), /^check_in: /);
  });

  it('400: more guests than the room type takes', async () => {
    assert.match(faultsOf(await book(service, hotel, { guests: 3 })).join(), /^guests: .*\b2\b/);
    assert.match(
      faultsOf(await book(service, hotel, { guests: 2, room_type_id: hotel.roomTypes['Bunk'] })).join(),
      /^guests: /,
    );
    await assertUntouched(hotel);
  });

  it("404: a room type that is unknown, another tenant's, or inactive, all alike", async () => {
    const own = await openHotel(service);
    const document = { ...own.document, properties: sampleHotel().slice(0, 1) };
    document.properties[0]?.room_types?.splice(1);
    await service.apply(document);
    const texts = [];
    for (const room_type_id of [
      '00000000-0000-7000-8000-000000000000',
      hotel.roomTypes['Double'],
      own.roomTypes['Suite'],
      own.roomTypes['Lagoon Lodge/Double'],
    ]) {
      const answer = await book(service, own, { room_type_id });
      assertError(answer, 404, 'room_type_not_found');
      texts.push(answer.text);
    }
    assert.equal(new Set(texts).size, 1);
    assert.equal((await book(service, own)).status, 201, 'what is still named can be booked');
  });

  it('409: a room type that is full on one night of several', async () => {
    const own = await openHotel(service);
    const room_type_id = own.roomTypes['Suite'];
    await book(service, own, { room_type_id, check_in: dayAhead(21), check_out: dayAhead(22) });
    for (const [from, until] of [
      [20, 23],
      [21, 22],
      [19, 22],
      [21, 30],
    ] as const) {
      const refused = await book(service, own, { room_type_id, check_in: dayAhead(from), check_out: dayAhead(until) });
      assertError(refused, 409, 'room_not_available');
    }
    await assertUntouched(own, 1);
    for (const [from, until] of [
      [20, 21],
      [22, 23],
    ] as const) {
      const taken = await book(service, own, { room_type_id, check_in: dayAhead(from), check_out: dayAhead(until) });
      assert.equal(taken.status, 201, 'the nights on either side are free');
    }
    assert.deepEqual(await sellable(service, own, room_type_id, dayAhead(19), dayAhead(24)), [1, 0, 0, 0, 1]);
  });

  it('409: a room type without rooms, or that lost them since', async () => {
    const rooms = (physical_capacity: number) => [{ name: 'Double', max_occupancy: 2, physical_capacity }];
    const house = await openHouse(service, rooms(0));
    assertError(await book(service, house), 409, 'room_not_available');
    await assertUntouched(house);
    const [property] = house.document.properties ?? [];
    assert.ok(property);
    const resize = async (count: number) => {
      await service.apply({
        ...house.document,
        properties: [{ ...property, room_types: rooms(count) }],
      });
    };
    await resize(2);
    assert.equal((await book(service, house)).status, 201);
    await resize(1);
    assertError(await book(service, house), 409, 'room_not_available');
    await resize(0);
    assertError(await book(service, house), 409, 'room_not_available');
    assert.deepEqual(await sellable(service, house, house.roomTypes['Double'], dayAhead(30), dayAhead(31)), [-1]);
    await assertUntouched(house, 1);
  });

  it('409: a room type that OTAs have oversold, until rooms are free again', async () => {
    const own = await openHotel(service);
    const tell = await openChannel(service, own);
    const room_type_id = own.roomTypes['Suite'];
    for (const external_id of ['1', '2']) {
      assert.equal((await tell({ room_type_id, external_id })).status, 201);
    }
    assertError(await book(service, own, { room_type_id }), 409, 'room_not_available');
    await tell({ room_type_id, external_id: '1', status: 'cancelled' });
    assertError(await book(service, own, { room_type_id }), 409, 'room_not_available');
    await tell({ room_type_id, external_id: '2', status: 'cancelled' });
    assert.equal((await book(service, own, { room_type_id })).status, 201);
    await assertCounted(service, own.tenantId);
  });

  it('409: a night on which every active plan is sold out, until one is opened', async () => {
    const own = await openHotel(service);
    const pms = await pmsHeaders(service, own);
    const close = (plan: string, stop_sell: boolean) =>
      writePlan(service, pms, 'restrictions', own.plans[plan], [{ date: dayAhead(31), stop_sell }]);
    await close('Double/Flexible', true);
    assert.equal((await book(service, own)).body.total_amount, '160.00', 'the other plan is open');
    await close('Double/Saver', true);
    assertError(await book(service, own), 409, 'room_not_available');
    await close('Double/Flexible', false);
    assert.equal((await book(service, own)).body.total_amount, '200.00');
  });

  it('409: each plan closed on another night, so that none is open on all of them', async () => {
    const own = await openHotel(service);
    const pms = await pmsHeaders(service, own);
    await writePlan(service, pms, 'rates', own.plans['Double/Flexible'], [
      { date: dayAhead(30), price: 1, is_sold_out: true },
    ]);
    await writePlan(service, pms, 'rates', own.plans['Double/Saver'], [
      { date: dayAhead(31), price: 1, is_sold_out: true },
    ]);
    assertError(await book(service, own), 409, 'room_not_available');
    await assertUntouched(own);
  });

  it('409: a stay shorter than every plan asks for', async () => {
    const own = await openHotel(service);
    const pms = await pmsHeaders(service, own);
    await writePlan(service, pms, 'restrictions', own.plans['Double/Flexible'], [
      { date: dayAhead(300), min_nights: 3 },
    ]);
    assertError(await book(service, own, { check_out: dayAhead(31) }), 409, 'room_not_available');
    assert.equal((await book(service, own, { check_out: dayAhead(32) })).body.total_amount, '160.00');
  });

  it('400 comes before 409, and 404 before both', async () => {
    const full = { room_type_id: hotel.roomTypes['Suite'] };
    assert.equal((await book(service, hotel, full)).status, 201);
    assert.match(faultsOf(await book(service, hotel, { ...full, guests: 5 })).join(), /^guests/);
    const unknown = { room_type_id: '00000000-0000-7000-8000-000000000000', guests: 99 };
    assertError(await book(service, hotel, unknown), 404, 'room_type_not_found');
    assertError(
      await service.call('POST', RESERVATIONS, { headers: hotel.partner, json: [stay(hotel)] }),
      400,
      'invalid_request',
    );
  });
});
