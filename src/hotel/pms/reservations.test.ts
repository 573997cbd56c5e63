import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { pmsHeaders } from '#test/support/hotel.ts';
import { bookByOta, bookByPartner, hotelTenant, PMS, type ManagedHotel } from '#test/support/pms.ts';
import { useService } from '#test/support/shared-service.ts';
import { sampleHotel } from '#test/support/tenants.ts';

const STATUSES = ['pending', 'confirmed', 'cancelled', 'no_show', 'completed', 'expired'];

interface PmsReservation {
  id: string;
  natural_id: string;
  status: string;
  check_in_date: string;
  guest: object;
}

const service = await useService();

const get = (path: string, { pms }: ManagedHotel) =>
  service.call('GET', `${PMS}/reservations/${path}`, { headers: pms });
/** Reads the PMS list of reservations, and asserts that the status of the response is 200. Returns the body. */
const listed = async (query: string, hotel: ManagedHotel): Promise<PmsReservation[]> => {
  const { status, text, body } = await get(query, hotel);
  assert.equal(status, 200, text);
  return body;
};
const idsOf = (list: PmsReservation[]) => list.map((reservation) => reservation.id);

describe('GET /v1/channel-manager/pms/reservations/', () => {
  let hotel: ManagedHotel;
  let double: string;
  let lagoon: string;
  before(async () => {
    hotel = await hotelTenant(service);
    double = hotel.id('Harbour House', 'Double');
    lagoon = hotel.id('Lagoon Lodge', 'Double');
  });

  it('200: the PMS list of a tenant without reservations is empty, even if the tenant lacks the hotel feature', async () => {
    assert.deepEqual(await listed('', hotel), []);
    const tenant = await service.tenant();
    const answer = await service.call('GET', `${PMS}/reservations/`, {
      headers: await pmsHeaders(service, tenant),
    });
    assert.deepEqual([answer.status, answer.body], [200, []]);
  });

  it("200: the PMS list shows partners' and OTAs' reservations with exactly the fields of the contract", async () => {
    const own = await hotelTenant(service);
    const roomType = own.id('Harbour House', 'Double');
    const booked = await bookByPartner(service, own, {
      room_type_id: roomType,
      check_in: '2101-07-01',
      check_out: '2101-07-03',
      guest: { name: 'Zoë 王', phone: '+351 22', email: 'zoe@example.com' },
    });
    const received = await bookByOta(service, own, {
      room_type_id: own.id('Lagoon Lodge', 'Double'),
      external_id: 'HM-77',
      check_in: '2101-06-01',
      check_out: '2101-06-02',
      total_amount: 12,
    });
    const list = await get('', own);
    assert.equal(list.status, 200, list.text);
    const [first, second] = list.body;
    assert.deepEqual(first, {
      id: booked.body.reservation_id,
      natural_id: first.natural_id,
      status: 'confirmed',
      check_in_date: '2101-07-01T14:00:00.000Z',
      check_out_date: '2101-07-03T10:00:00.000Z',
      room_type_id: roomType,
      total_amount: '160.00',
      external_source: null,
      external_id: null,
      guest: { full_name: 'Zoë 王', phone: '+351 22', email: 'zoe@example.com' },
    });
    assert.deepEqual(second, {
      id: received.body.id,
      natural_id: second.natural_id,
      status: 'confirmed',
      check_in_date: '2101-06-01T00:00:00.000Z',
      check_out_date: '2101-06-01T20:00:00.000Z',
      room_type_id: own.id('Lagoon Lodge', 'Double'),
      total_amount: '12.00',
      external_source: 'An OTA',
      external_id: 'HM-77',
      guest: { full_name: 'Ada Guest', phone: null, email: null },
    });
    assert.equal(list.body.length, 2);
    assert.deepEqual(second, received.body, 'the response of the receiver is equal to the entry in the list');
  });

  it("200: the PMS sees null as the guest's e-mail address if the partner sent an empty text or no address", async () => {
    const own = await hotelTenant(service);
    const guest = { name: 'Zoë 王', phone: '+351 22' };
    for (const email of ['', undefined]) {
      const room_type_id = own.id('Harbour House', 'Double');
      const stay = { room_type_id, check_in: '2101-07-01', check_out: '2101-07-02', guest: { ...guest, email } };
      const booked = await bookByPartner(service, own, stay);
      const found = (await listed('', own)).find(({ id }) => id === booked.body.reservation_id);
      assert.deepEqual(found?.guest, { full_name: 'Zoë 王', phone: '+351 22', email: null });
    }
  });

  it('200: the PMS list has the latest check-in time first, also if the properties have different time zones', async () => {
    const [, lagoonLodge] = sampleHotel();
    assert.ok(lagoonLodge);
    const western = { ...lagoonLodge, name: 'Pago House', timezone: 'Pacific/Pago_Pago', check_in_time: '15:00' };
    const own = await hotelTenant(service, { properties: [...sampleHotel(), western] });
    const bookings = [
      ['Harbour House', '2026-05-02'],
      ['Lagoon Lodge', '2026-05-02'],
      ['Pago House', '2026-05-01'],
      ['Lagoon Lodge', '2026-05-03'],
      ['Harbour House', '2026-05-01'],
      ['Harbour House', '2026-04-30'],
    ] as const;
    for (const [property, check_in] of bookings) {
      const stay = { room_type_id: own.id(property, 'Double'), check_in, check_out: '2026-05-09' };
      assert.equal((await bookByOta(service, own, stay)).status, 201);
    }
    const moments = (await listed('', own)).map((reservation) => reservation.check_in_date);
    assert.deepEqual(moments, [
      '2026-05-03T00:00:00.000Z',
      '2026-05-02T14:00:00.000Z',
      '2026-05-02T02:00:00.000Z',
      '2026-05-02T00:00:00.000Z',
      '2026-05-01T14:00:00.000Z',
      '2026-04-30T14:00:00.000Z',
    ]);
  });

  it('200: if reservations have the same check-in, the PMS list has the newest reservation first', async () => {
    const own = await hotelTenant(service);
    const stay = { room_type_id: own.id('Harbour House', 'Double'), check_in: '2026-01-01', check_out: '2026-01-02' };
    const made: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      made.push((await bookByOta(service, own, stay)).body.id);
    }
    assert.deepEqual(idsOf(await listed('', own)), made.reverse());
  });

  it('200: the PMS list can be filtered by each of the six statuses', async () => {
    for (const [index, status] of STATUSES.entries()) {
      const stay = { room_type_id: double, check_in: `2026-02-0${index + 1}`, check_out: '2026-02-20', status };
      assert.equal((await bookByOta(service, hotel, stay)).status, 201);
    }
    const stay = { room_type_id: lagoon, check_in: '2026-01-01', check_out: '2026-01-02', status: 'no_show' };
    assert.equal((await bookByOta(service, hotel, stay)).status, 201);
    assert.equal((await listed('', hotel)).length, 7);
    for (const status of STATUSES) {
      const list = await listed(`?status=${status}`, hotel);
      assert.equal(list.length, status === 'no_show' ? 2 : 1, status);
      assert.ok(list.every((reservation) => reservation.status === status));
    }
  });
});

describe('PMS reservations of a hotel with 230 reservations', () => {
  let hotel: ManagedHotel;
  before(async () => {
    hotel = await hotelTenant(service);
    const roomType = hotel.id('Harbour House', 'Bunk');
    const book = (index: number) => {
      const day = new Date(Date.UTC(2026, 0, 1 + ((index * 89) % 230))).toISOString().slice(0, 10);
      const status = index % 2 === 0 ? 'completed' : 'cancelled';
      return bookByOta(service, hotel, { room_type_id: roomType, check_in: day, check_out: '2026-12-01', status });
    };
    for (let start = 0; start < 230; start += 10) {
      const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => book(start + index)));
      assert.ok(answers.every((answer) => answer.status === 201));
    }
  });

  it('200: if a tenant has 230 reservations, the PMS list shows the 200 reservations with the latest check-in', async () => {
    const list = await listed('', hotel);
    const days = list.map((reservation) => reservation.check_in_date.slice(0, 10));
    const expected = Array.from({ length: 200 }, (_, index) =>
      new Date(Date.UTC(2026, 0, 230 - index)).toISOString().slice(0, 10),
    );
    assert.deepEqual(days, expected);
  });

  it('200: the PMS list ignores page and page_size', async () => {
    const whole = await listed('', hotel);
    assert.deepEqual(await listed('?page=2&page_size=10', hotel), whole);
    assert.deepEqual(await listed('?page=0&page_size=x', hotel), whole);
  });

  it('200: the PMS list applies the status filter before its limit of 200, so it shows all 115 completed reservations of 230', async () => {
    assert.equal((await listed('?status=completed', hotel)).length, 115);
  });

  it('200: a reservation beyond the 200 in the PMS list can be read by id, and all 230 reservations of the tenant have different codes (natural_id)', async () => {
    const rows = await service.database.db
      .selectFrom('reservation')
      .select(['id', 'natural_id'])
      .where('tenant_id', '=', hotel.tenantId)
      .execute();
    assert.equal(new Set(rows.map((row) => row.natural_id)).size, 230);
    assert.ok(rows.every((row) => /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/.test(row.natural_id)));
    const shown = new Set(idsOf(await listed('', hotel)));
    const left = rows.find((row) => !shown.has(row.id));
    const { status, body } = await get(`${left?.id}/`, hotel);
    assert.deepEqual([status, body.natural_id], [200, left?.natural_id]);
  });
});

describe('GET /v1/channel-manager/pms/reservations/{booking_id}/', () => {
  let hotel: ManagedHotel;
  let id: string;
  before(async () => {
    hotel = await hotelTenant(service);
    const stay = { room_type_id: hotel.id('Lagoon Lodge', 'Double'), check_in: '2026-03-01', check_out: '2026-03-04' };
    id = (await bookByOta(service, hotel, stay)).body.id;
  });

  it('200: a single PMS reservation is equal to its entry in the list, also with its id in capital letters', async () => {
    const [entry] = await listed('', hotel);
    for (const path of [`${id}/`, id, `${id.toUpperCase()}/`]) {
      const answer = await get(path, hotel);
      assert.deepEqual([answer.status, answer.body], [200, entry], path);
    }
  });
});
