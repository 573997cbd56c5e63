import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { AVAILABILITY, dayAhead, ROOMS } from '#test/support/hotel.ts';
import { bookByOta, bookByPartner, hotelTenant, type ManagedHotel, PMS } from '#test/support/pms.ts';
import { useService } from '#test/support/shared-service.ts';
import { sampleHotel, sampleTenant } from '#test/support/tenants.ts';
import type { TenantDocument } from './schema.ts';

const TABLES = ['property', 'room_type', 'rate_plan', 'rate', 'night', 'reservation'];
const CLOSED = { code: 'room_type_not_found' };

type Properties = NonNullable<TenantDocument['properties']>;

const service = await useService();

/** Returns every row of the tenant's hotel as text, with the id of the transaction that wrote it (`xmin`). */
async function dumpHotel(tenantId: number): Promise<string[]> {
  const db = service.database.db as unknown as Kysely<never>;
  const dumps = TABLES.map(async (table) => {
    const { rows } = await sql<{ row: string }>`
      SELECT ${sql.lit(table)} || ' ' || t.xmin || ' ' || t::text AS row FROM ${sql.table(table)} AS t
      WHERE tenant_id = ${tenantId} ORDER BY 1
    `.execute(db);
    return rows.map(({ row }) => row);
  });
  return (await Promise.all(dumps)).flat();
}

/** Applies the tenant document of the hotel again, after `change` has changed the list `properties` (hotel buildings) of the document. */
async function reapply(hotel: ManagedHotel, change: (properties: Properties) => Properties | void) {
  const { users, menu, properties = [], ...document } = structuredClone(hotel.document);
  const changed = change(properties) ?? properties;
  return await service.apply({ ...document, properties: changed });
}

const get = async (path: string, headers: Record<string, string>) => {
  const answer = await service.call('GET', path, { headers });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};
const namesOf = (list: { name: string }[]) => list.map(({ name }) => name);
const roomTypesOf = async (hotel: ManagedHotel, property = 'Harbour House') =>
  await get(`${PMS}/properties/${hotel.id(property)}/room-types/`, hotel.pms);
const doubleOf = (properties: Properties) => {
  const double = properties[0]?.room_types?.[0];
  assert.ok(double?.rate_plans);
  return { ...double, rate_plans: double.rate_plans };
};

describe('properties of a tenant document', () => {
  it('a document with the same properties as before writes no row of the hotel', async () => {
    const hotel = await hotelTenant(service);
    const stay = { room_type_id: hotel.id('Harbour House', 'Double'), check_in: dayAhead(9), check_out: dayAhead(11) };
    assert.equal((await bookByPartner(service, hotel, stay)).status, 201);
    const rows = await dumpHotel(hotel.tenantId);
    assert.equal(rows.filter((row) => row.startsWith('room_type ')).length, 5);
    await reapply(hotel, () => undefined);
    await service.apply(hotel.document);
    assert.deepEqual(await dumpHotel(hotel.tenantId), rows);
  });

  it('if a document only adds the default values of fields that the previous document left out, the service writes no row of the hotel', async () => {
    const hotel = await hotelTenant(service, {
      properties: [
        {
          name: 'Plain',
          country_code: 'PT',
          timezone: 'Europe/Lisbon',
          room_types: [
            { name: 'Room', max_occupancy: 1, physical_capacity: 1, rate_plans: [{ name: 'Plan', base_price: '1' }] },
          ],
        },
      ],
    });
    const rows = await dumpHotel(hotel.tenantId);
    const plan = { name: 'Plan', base_price: '1.00', is_refundable: true, min_nights: 1, is_active: true };
    const none = { description: '', base_price: null, amenities: [], images: [] };
    const room = { name: 'Room', max_occupancy: 1, physical_capacity: 1, ...none, rate_plans: [plan] };
    const clock = { timezone: 'Europe/Lisbon', check_in_time: '15:00', check_out_time: '11:00' };
    await reapply(hotel, () => [
      { name: 'Plain', address: '', city: '', country_code: 'PT', ...clock, room_types: [room] },
    ]);
    assert.deepEqual(await dumpHotel(hotel.tenantId), rows);
  });

  it('a tenant document without a list of properties leaves the stored properties unchanged', async () => {
    const hotel = await hotelTenant(service);
    const rows = await dumpHotel(hotel.tenantId);
    const { properties, ...document } = hotel.document;
    assert.deepEqual((await service.apply(document)).properties, []);
    assert.deepEqual(await dumpHotel(hotel.tenantId), rows);
  });

  it('a property, room type or plan that the document no longer names disappears from all lists, but its row is kept', async () => {
    const hotel = await hotelTenant(service);
    const rows = (await dumpHotel(hotel.tenantId)).length;
    await reapply(hotel, ([harbour]) => {
      const [double, suite] = harbour?.room_types ?? [];
      assert.ok(harbour && double && suite);
      return [{ ...harbour, room_types: [{ ...double, rate_plans: double.rate_plans?.slice(1) ?? [] }, suite] }];
    });
    assert.deepEqual(namesOf(await get(`${PMS}/properties/`, hotel.pms)), ['Harbour House']);
    const roomTypes = await roomTypesOf(hotel);
    assert.deepEqual(namesOf(roomTypes), ['Double', 'Suite']);
    assert.deepEqual(namesOf(roomTypes[0].rate_plans), ['Saver']);
    assert.deepEqual(namesOf(await get(ROOMS, hotel.partner)), ['Double', 'Suite']);
    const gone = await service.call('GET', `${PMS}/properties/${hotel.id('Lagoon Lodge')}/room-types/`, {
      headers: hotel.pms,
    });
    assert.equal(gone.status, 404);
    assert.equal((await dumpHotel(hotel.tenantId)).length, rows);

    const bunk = { room_type_id: hotel.id('Harbour House', 'Bunk'), check_in: dayAhead(9), check_out: dayAhead(10) };
    const refused = await bookByPartner(service, hotel, bunk);
    assert.deepEqual([refused.status, refused.body.code], [404, CLOSED.code]);
  });

  it('the PMS can still read the rates of an inactive rate plan, and the inventory and stays of an inactive room type', async () => {
    const hotel = await hotelTenant(service);
    const room_type_id = hotel.id('Lagoon Lodge', 'Double');
    const { body } = await bookByOta(service, hotel, { room_type_id, check_in: '2026-05-02', check_out: '2026-05-03' });
    await reapply(hotel, () => []);
    assert.deepEqual(await get(`${PMS}/properties/`, hotel.pms), []);
    assert.deepEqual(await get(ROOMS, hotel.partner), []);
    assert.deepEqual(await get(`${PMS}/reservations/${body.id}/`, hotel.pms), body);
    assert.deepEqual(await get(`${PMS}/reservations/`, hotel.pms), [body]);
    const dates = 'check_in=2026-05-02&check_out=2026-05-03';
    assert.deepEqual(await get(`${PMS}/inventory/?room_type_id=${room_type_id}&${dates}`, hotel.pms), [
      { date: '2026-05-02', physical_capacity: 2, sellable: 1 },
    ]);
    const plan = hotel.id('Lagoon Lodge', 'Double', 'Lagoon rate');
    assert.equal((await get(`${PMS}/rates/?rate_plan_id=${plan}&${dates}`, hotel.pms))[0].price, '70.00');
  });

  it('if a document leaves out a room type and a plan, and a later document names them, both keep their ids, and the plan keeps its rates', async () => {
    const hotel = await hotelTenant(service);
    const plan = hotel.id('Harbour House', 'Double', 'Flexible');
    const rates = [{ date: '2030-01-01', price: '77.00', is_sold_out: true }];
    await service.call('PUT', `${PMS}/rates/`, { headers: hotel.pms, json: { rate_plan_id: plan, rates } });
    const named = await reapply(hotel, () => undefined);
    const lists = async () => [await get(`${PMS}/properties/`, hotel.pms), await roomTypesOf(hotel)];
    const listed = await lists();
    const renamed = await reapply(hotel, (properties) => {
      const [harbour] = properties;
      const [double] = harbour?.room_types ?? [];
      assert.ok(harbour && double?.rate_plans?.[0]);
      double.rate_plans[0].name = 'Anytime';
      double.name = 'Twin';
    });
    const twin = renamed.properties[0]?.room_types[0];
    assert.equal(twin?.name, 'Twin');
    assert.notEqual(twin.id, hotel.id('Harbour House', 'Double'));
    assert.ok(twin.rate_plans.every(({ id }) => id !== plan));
    assert.deepEqual((await reapply(hotel, () => undefined)).properties, named.properties);
    assert.deepEqual(await lists(), listed);
    const dates = 'check_in=2030-01-01&check_out=2030-01-02';
    assert.deepEqual(await get(`${PMS}/rates/?rate_plan_id=${plan}&${dates}`, hotel.pms), rates);
  });

  it('two room types with the same name in two properties have different ids, and a room type of a renamed property gets a new id', async () => {
    const hotel = await hotelTenant(service);
    assert.notEqual(hotel.id('Harbour House', 'Double'), hotel.id('Lagoon Lodge', 'Double'));
    const moved = await reapply(hotel, (properties) => {
      assert.ok(properties[1]);
      properties[1].name = 'Atoll Lodge';
    });
    assert.notEqual(moved.properties[1]?.room_types[0]?.id, hotel.id('Lagoon Lodge', 'Double'));
    assert.equal(moved.properties[0]?.id, hotel.id('Harbour House'));
  });

  it('properties, room types and plans are listed in the order of the document, also after this order has changed', async () => {
    const hotel = await hotelTenant(service);
    await reapply(hotel, (properties) => {
      for (const property of properties) {
        property.room_types?.reverse();
        for (const roomType of property.room_types ?? []) {
          roomType.rate_plans?.reverse();
        }
      }
      return properties.reverse();
    });
    assert.deepEqual(namesOf(await get(`${PMS}/properties/`, hotel.pms)), ['Lagoon Lodge', 'Harbour House']);
    const roomTypes = await roomTypesOf(hotel);
    assert.deepEqual(namesOf(roomTypes), ['Floor', 'Bunk', 'Suite', 'Double']);
    assert.deepEqual(namesOf(roomTypes[3].rate_plans), ['Saver', 'Flexible']);
    const rooms = namesOf(await get(ROOMS, hotel.partner));
    assert.deepEqual(rooms, ['Double', 'Floor', 'Bunk', 'Suite', 'Double']);
  });

  it('a new capacity in the document immediately changes what the PMS and partners see, and what partners can book', async () => {
    const hotel = await hotelTenant(service);
    const stay = { room_type_id: hotel.id('Harbour House', 'Double'), check_in: dayAhead(9), check_out: dayAhead(10) };
    for (let count = 0; count < 2; count += 1) {
      assert.equal((await bookByPartner(service, hotel, stay)).status, 201);
    }
    const query = `room_type_id=${stay.room_type_id}&check_in=${stay.check_in}&check_out=${stay.check_out}`;
    const seen = async () => {
      const [{ physical_capacity, sellable }] = await get(`${PMS}/inventory/?${query}`, hotel.pms);
      const { days } = await get(`${AVAILABILITY}?${query}`, hotel.partner);
      return [physical_capacity, sellable, days[0].sellable];
    };
    for (const [capacity, expected, status] of [
      [1, [1, -1, -1], 409],
      [0, [0, -2, -2], 409],
      [3, [3, 1, 1], 201],
      [1_000_000, [1_000_000, 999_997, 999_997], 201],
    ] as const) {
      await reapply(hotel, (properties) => {
        Object.assign(properties[0]?.room_types?.[0] ?? {}, { physical_capacity: capacity });
      });
      assert.deepEqual(await seen(), expected);
      assert.equal((await bookByPartner(service, hotel, stay)).status, status);
    }
  });

  it('a document sets fields of a property, a room type and rate plans, and replaces the min_nights that the PMS set for a rate plan', async () => {
    const hotel = await hotelTenant(service);
    const rate_plan_id = hotel.id('Harbour House', 'Double', 'Flexible');
    const restrictions = [{ date: '2030-01-01', min_nights: 7 }];
    await service.call('PUT', `${PMS}/restrictions/`, { headers: hotel.pms, json: { rate_plan_id, restrictions } });
    await reapply(hotel, (properties) => {
      const double = doubleOf(properties);
      const plans = double.rate_plans.map((plan) => ({ ...plan, is_active: true, is_refundable: false }));
      const changed = { ...double, max_occupancy: 3, base_price: null, description: 'new', rate_plans: plans };
      const [harbour, lagoon] = properties;
      assert.ok(harbour && lagoon);
      return [{ ...harbour, address: '9 Quay', city: 'Gaia', country_code: 'ES', room_types: [changed] }, lagoon];
    });
    const [property] = await get(`${PMS}/properties/`, hotel.pms);
    assert.deepEqual([property.address, property.city, property.country_code], ['9 Quay', 'Gaia', 'ES']);
    const [double] = await roomTypesOf(hotel);
    assert.deepEqual([double.max_occupancy, double.base_price], [3, null]);
    assert.deepEqual(
      double.rate_plans.map((plan: { min_nights: number; is_refundable: boolean }) => [
        plan.min_nights,
        plan.is_refundable,
      ]),
      [
        [1, false],
        [2, false],
        [1, false],
      ],
    );
  });

  it('if six documents are applied at the same time, all room types and properties get the values of a single one of these documents', async () => {
    const hotel = await hotelTenant(service);
    const document = (number: number): Properties =>
      sampleHotel().map((property) => ({
        ...property,
        city: `City ${number}`,
        room_types: [...(property.room_types ?? []), { name: 'Tent', max_occupancy: 1, physical_capacity: 1 }].map(
          (roomType) => ({ ...roomType, max_occupancy: number }),
        ),
      }));
    await Promise.all(Array.from({ length: 6 }, (_, index) => reapply(hotel, () => document(index + 1))));
    const rooms = await get(ROOMS, hotel.partner);
    assert.equal(rooms.length, 7);
    const seen = rooms.map((room: { max_occupancy: number; property: { city: string } }) => [
      room.property.city,
      `City ${room.max_occupancy}`,
    ]);
    assert.equal(new Set(seen.flat()).size, 1);
  });
});

describe('roomservice tenant apply FILE --json', () => {
  it('tenant apply --json prints tenant_id, slug, users, changes and properties, with an id for each property, room type and rate plan', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rs-hotel-'));
    try {
      const document = { ...sampleTenant({ features: ['hotel'], properties: sampleHotel() }), menu: undefined };
      await writeFile(join(folder, 'tenant.json'), JSON.stringify(document));
      const command = join(import.meta.dirname, '../../../bin/roomservice.js');
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [command, 'tenant', 'apply', join(folder, 'tenant.json'), '--json'],
        { env: { DATABASE_URL: service.database.url, MASTER_KEY: service.masterKey.toString('base64') } },
      );
      const printed = JSON.parse(stdout);
      assert.deepEqual(Object.keys(printed), ['tenant_id', 'slug', 'users', 'properties', 'changes']);
      assert.deepEqual(
        printed.users,
        document.users?.map(({ email, role }) => ({ email, role })),
      );
      const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
      // Builds the entry that the command should print for a property, a room type or a rate plan. The document has no ids, so the function
      // takes the id from the entry that the command has printed. The id must be a UUID.
      const shapeOf = (name: string, printedPart: { id: string }, rest: object) => {
        assert.match(printedPart.id, uuid);
        return { id: printedPart.id, name, ...rest };
      };
      const expected = sampleHotel().map((property, p) => {
        const part = printed.properties[p];
        const room_types = property.room_types?.map((roomType, r) => {
          const plans = roomType.rate_plans ?? [];
          const rate_plans = plans.map((plan, n) => shapeOf(plan.name, part.room_types[r].rate_plans[n], {}));
          return shapeOf(roomType.name, part.room_types[r], { rate_plans });
        });
        return shapeOf(property.name, part, { room_types });
      });
      assert.deepEqual(printed.properties, expected);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
