import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import {
  book,
  dayAhead,
  onOneDay,
  openChannel,
  openHotel,
  openSmallHotel,
  pmsHeaders,
  type TestHotel,
  writePlan,
} from '#test/support/hotel.ts';
import type { Answer } from '#test/support/http.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { openRecorded } from '#test/support/statements.ts';
import { calendarTexts, findCalendar } from './calendar.ts';

const { service, hotel } = await useHotel();

async function propertyId(of: TestHotel, name = 'Harbour House'): Promise<string> {
  const { body } = await service.call('GET', '/v1/staff/properties/', { headers: of.staff });
  return body.find((property: { name: string }) => property.name === name).id;
}

function calendar(query: Record<string, string>, headers = hotel.staff): Promise<Answer> {
  return service.call('GET', `/v1/staff/calendar/?${new URLSearchParams(query)}`, { headers });
}

async function nights(of: TestHotel, from: number, to: number, property?: string): Promise<Answer> {
  const query = { property_id: await propertyId(of, property), from: dayAhead(from), to: dayAhead(to) };
  return await calendar(query, of.staff);
}

describe('GET /v1/staff/calendar/', () => {
  it('200: the calendar shows held rooms, prices and closed nights of room types and plans, without the night of the day `to`', async () => {
    const own = await openHotel(service);
    const pms = await pmsHeaders(service, own);
    await book(service, own, { check_in: dayAhead(30), check_out: dayAhead(32) });
    await book(service, own, { check_in: dayAhead(31), check_out: dayAhead(34) });
    await writePlan(service, pms, 'rates', own.plans['Double/Flexible'], [
      { date: dayAhead(31), price: '120' },
      { date: dayAhead(32), price: '100', is_sold_out: true },
      { date: dayAhead(33), price: '999' },
    ]);
    await writePlan(service, pms, 'restrictions', own.plans['Double/Saver'], [{ date: dayAhead(30), stop_sell: true }]);
    const query = { property_id: await propertyId(own), from: dayAhead(30), to: dayAhead(33) };
    const { today, ofStaff, ofOwner } = await onOneDay('Europe/Lisbon', async (date) => {
      return { today: date, ofStaff: await calendar(query, own.staff), ofOwner: await calendar(query, own.owner) };
    });
    assert.deepEqual([ofStaff.status, ofOwner.status], [200, 200]);
    const { room_types, ...rest } = ofStaff.body;
    assert.deepEqual(rest, { from: dayAhead(30), to: dayAhead(33), today });
    assert.deepEqual(
      room_types.map(({ name }: { name: string }) => name),
      ['Double', 'Suite', 'Bunk', 'Floor'],
    );
    assert.deepEqual(room_types[0], {
      id: own.roomTypes['Double'],
      name: 'Double',
      physical_capacity: 3,
      held: [1, 2, 1],
      rate_plans: [
        {
          id: own.plans['Double/Flexible'],
          name: 'Flexible',
          base_price: '100.00',
          min_nights: 1,
          prices: ['100.00', '120.00', '100.00'],
          is_own: [false, true, true],
          closed: [false, false, true],
        },
        {
          id: own.plans['Double/Saver'],
          name: 'Saver',
          base_price: '80.00',
          min_nights: 2,
          prices: ['80.00', '80.00', '80.00'],
          is_own: [false, false, false],
          closed: [true, false, false],
        },
      ],
    });
    assert.deepEqual(
      [room_types[2].held, room_types[2].rate_plans],
      [[0, 0, 0], []],
      'the room type Bunk has no plan and no stay',
    );
    assert.deepEqual(ofOwner.body, ofStaff.body);
  });

  it('200: the calendar of each property has the room types and the current day of that property', async () => {
    const { today, answer } = await onOneDay('Pacific/Kiritimati', async (date) => {
      return { today: date, answer: await nights(hotel, 30, 31, 'Lagoon Lodge') };
    });
    const { status, body } = answer;
    assert.deepEqual([status, body.today], [200, today]);
    assert.deepEqual(
      body.room_types.map(({ id }: { id: string }) => id),
      [hotel.roomTypes['Lagoon Lodge/Double']],
    );
  });

  it('200: after an oversell the calendar shows more held rooms than the capacity', async () => {
    const own = await openHotel(service);
    const send = await openChannel(service, own);
    for (let count = 0; count < 2; count += 1) {
      await send({ room_type_id: own.roomTypes['Suite'] });
    }
    const { status, body } = await nights(own, 29, 33);
    assert.equal(status, 200);
    assert.deepEqual([body.room_types[1].physical_capacity, body.room_types[1].held], [1, [0, 2, 2, 0]]);
  });

  it('200: a calendar of 400 nights, half of them past, has a value for each night; 400: a longer calendar is refused', async () => {
    const { status, body } = await nights(hotel, -200, 200);
    assert.equal(status, 200);
    for (const { held, rate_plans } of body.room_types) {
      assert.equal(held.length, 400);
      for (const { prices, is_own, closed } of rate_plans) {
        assert.deepEqual([prices.length, is_own.length, closed.length], [400, 400, 400]);
      }
    }
    assert.deepEqual(faultsOf(await nights(hotel, -200, 201)), ['to: must be at most 400 nights after `from`']);
  });

  it('200: a property without active room types has an empty calendar', async () => {
    const empty = await openSmallHotel(service, []);
    const { status, body } = await nights(empty, 30, 31, 'House');
    assert.deepEqual([status, body.room_types], [200, []]);
  });

  it('the calendar sends 4 SQL statements for 3 or 10 room types and 8 for 25 room types, and more rate plans do not add statements', async () => {
    const { db, statementsOf } = openRecorded(service.database.url, 2);
    const count = async (roomTypes: number, plans: number) => {
      const rate_plans = Array.from({ length: plans }, (_, index) => ({ name: `Plan ${index}`, base_price: '50.00' }));
      const types = Array.from({ length: roomTypes }, (_, index) => {
        return { name: `Type ${index}`, max_occupancy: 2, physical_capacity: 5, rate_plans };
      });
      const own = await openSmallHotel(service, types);
      const query = { property_id: await propertyId(own, 'House'), from: dayAhead(0), to: dayAhead(30) };
      const read = async () => {
        const found = await findCalendar(db, own.tenantId, query);
        let json = '';
        for await (const text of calendarTexts(db, own.tenantId, found)) {
          json += text;
        }
        const { room_types } = JSON.parse(json);
        assert.equal(room_types.length, roomTypes);
        assert.deepEqual(
          new Set(room_types.map((each: { rate_plans: [] }) => each.rate_plans.length)),
          new Set([plans]),
        );
      };
      return (await statementsOf(read)).length;
    };
    assert.deepEqual([await count(3, 1), await count(3, 12), await count(10, 4), await count(25, 2)], [4, 4, 4, 8]);
    await db.destroy();
  });

  it('400 invalid_request: a `to` that is not after `from` is refused', async () => {
    const good = { property_id: await propertyId(hotel), from: dayAhead(30) };
    for (const to of [dayAhead(30), dayAhead(29)]) {
      assert.match(faultsOf(await calendar({ ...good, to })).join(), /^to: must be after `from`/);
    }
  });

  it('404: an unknown property, a property of another tenant and an inactive property get the same response', async () => {
    const other = await openHotel(service);
    const range = { from: dayAhead(30), to: dayAhead(31) };
    const unknown = await calendar({ ...range, property_id: '00000000-0000-4000-8000-000000000000' });
    assertError(unknown, 404, 'error');
    const inactive = await propertyId(other);
    assert.equal((await calendar({ ...range, property_id: inactive })).text, unknown.text);
    await service.apply({ ...other.document, users: undefined, properties: other.document.properties?.slice(1) });
    assert.equal((await calendar({ ...range, property_id: inactive }, other.staff)).text, unknown.text);
  });
});
