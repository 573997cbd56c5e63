import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { todayIn } from '#platform/lib/dates.ts';
import {
  book,
  bookForHouse,
  dayAfter,
  openChannel,
  openHotel,
  openHotelOf,
  setStayStatus,
} from '#test/support/hotel.ts';
import { addPerson } from '#test/support/people.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { place, setOrderStatus } from '#test/support/restaurant.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { causeEvent, eventually, placeOrder, register } from '#test/support/webhooks.ts';

const TODAY = '/v1/staff/today/';

describe('GET /v1/staff/today/', () => {
  let service: TestService;
  before(async () => {
    service = await startService({ worker: { drawWaitMs: () => 200, pollEveryMs: 50 } });
  });
  after(() => service.close());

  async function read(headers: Record<string, string>, query = '') {
    const { status, body, text } = await service.call('GET', `${TODAY}${query}`, { headers });
    assert.equal(status, 200, text);
    return body;
  }

  const ofStatus = ({ open }: { open: { status: string; count: number }[] }, status: string) =>
    open.find((each) => each.status === status)?.count;

  it('200: the orders are counted by status, with those that are late, and the orders of today are added up without cancelled ones', async () => {
    const tenant = await service.tenant({ timezone: 'UTC' });
    const [first, second, third] = [
      await place(service, tenant),
      await place(service, tenant),
      await place(service, tenant),
    ];
    await setOrderStatus(service, tenant, second.body.order_id, 'confirmed');
    await setOrderStatus(service, tenant, third.body.order_id, 'cancelled');
    const { orders, hotel, oversold } = await read(tenant.owner);
    assert.deepEqual(
      [ofStatus(orders, 'pending'), ofStatus(orders, 'confirmed'), ofStatus(orders, 'ready')],
      [1, 1, 0],
    );
    assert.deepEqual(orders.late, { count: 0, oldest_at: null });
    assert.deepEqual(orders.today, { date: todayIn('UTC'), count: 2, total: '21.50' });
    assert.deepEqual([hotel, oversold], [null, null]);
    const placedAt = new Date(Date.now() - 6 * 60_000);
    const { db } = service.database;
    await db
      .updateTable('restaurant_order')
      .set({ status_changed_at: placedAt })
      .where('tenant_id', '=', tenant.tenantId)
      .execute();
    assert.deepEqual((await read(tenant.owner)).orders.late, { count: 1, oldest_at: placedAt.toISOString() });
    assert.equal((await read(tenant.owner, '?late_pending=10')).orders.late.count, 0);
    assert.equal((await read(tenant.owner, '?late_confirmed=5')).orders.late.count, 2);
    assert.ok(first.body.order_id);
  });

  it('400: minutes outside 1 to 10,000 and unknown parameters are refused', async () => {
    const tenant = await service.tenant();
    for (const query of ['?late_pending=0', '?late_ready=10001', '?late=5']) {
      assert.equal((await service.call('GET', `${TODAY}${query}`, { headers: tenant.owner })).status, 400, query);
    }
  });

  it('200: arrivals, departures, guests in the house and the next 14 nights are counted', async () => {
    const hotel = await openHotelOf(service, 4, 'UTC');
    await service.apply({ ...hotel.document, timezone: 'UTC' });
    const today = todayIn('UTC');
    const stay = async (from: number, to: number) => {
      const dates = { check_in: dayAfter(today, Math.max(from, 0)), check_out: dayAfter(today, Math.max(to, 1)) };
      const booked = await bookForHouse(service, hotel, dates);
      assert.equal(booked.status, 201, booked.text);
      const { db } = service.database;
      const moved = { check_in: dayAfter(today, from), check_out: dayAfter(today, to) };
      await db.updateTable('reservation').set(moved).where('id', '=', booked.body.reservation_id).execute();
      return booked.body.reservation_id as string;
    };
    await stay(0, 2);
    const arrived = await stay(0, 1);
    await service.call('POST', `/v1/staff/reservations/${arrived}/arrival/`, {
      headers: hotel.staff,
      json: { arrived: true },
    });
    await stay(-2, 0);
    await stay(-40, 0);
    const { hotel: now, orders } = await read(hotel.owner);
    assert.equal(orders, null);
    const { nights, ...counts } = now;
    assert.deepEqual(counts, { date: today, arrivals: 2, arrived: 1, departures: 2, departed: 0, in_house: 3 });
    assert.equal(nights.length, 14);
    assert.deepEqual(nights[1], { date: dayAfter(today, 1), held: 1, capacity: 4 });
    assert.equal((await setStayStatus(service, hotel, arrived, 'no_show')).status, 200);
    assert.deepEqual((await read(hotel.owner)).hotel.arrivals, 1);
  });

  it('200: a night that an OTA oversells is listed with its room type', async () => {
    const hotel = await openHotelOf(service, 1);
    const send = await openChannel(service, hotel);
    await book(service, hotel);
    assert.deepEqual((await read(hotel.owner)).oversold, []);
    assert.equal((await send({})).status, 201);
    const { oversold } = await read(hotel.owner);
    assert.deepEqual(
      oversold.map(({ room_type, held, capacity }: Record<string, unknown>) => [room_type, held, capacity]),
      [
        ['Double', 2, 1],
        ['Double', 2, 1],
      ],
    );
  });

  it('200: a receiver is listed from its first failed attempt until an attempt succeeds', async () => {
    const tenant = await service.tenant();
    let status = 503;
    const receiver = await startReceiver({ answer: () => ({ status }) });
    await register(service, tenant.partner, receiver.url);
    assert.deepEqual((await read(tenant.owner)).receivers, []);
    await causeEvent(service, tenant);
    const failing = await eventually(async () => (await read(tenant.owner)).receivers[0], 'failing receiver');
    assert.deepEqual([failing.label, failing.http_status, failing.waiting], ['A platform', 503, 1]);
    assert.ok(failing.error !== '' && failing.since <= failing.last_attempt_at);
    const [partner] = (await read(tenant.owner)).partners;
    assert.deepEqual([partner.has_webhook, partner.delivered, partner.undelivered], [true, 0, 1]);
    assert.notEqual(partner.last_used_at, undefined);
    status = 200;
    await eventually(async () => (await read(tenant.owner)).receivers.length === 0, 'receiver that works');
    assert.equal((await read(tenant.owner)).partners[0].delivered, 1);
    await receiver.close();
  });

  it('200: the first steps of a house without a partner are open, and each is done when it happens', async () => {
    const tenant = await service.tenant();
    const { db } = service.database;
    assert.deepEqual((await read(tenant.owner)).first_steps, {
      has_partner: true,
      has_webhook: false,
      has_booking: false,
    });
    await register(service, tenant.partner, 'https://partner.example/hooks');
    await placeOrder(service, tenant.partner);
    assert.deepEqual((await read(tenant.owner)).first_steps, {
      has_partner: true,
      has_webhook: true,
      has_booking: true,
    });
    await sql`DELETE FROM restaurant_order WHERE tenant_id = ${tenant.tenantId}`.execute(db);
    await sql`DELETE FROM credential WHERE tenant_id = ${tenant.tenantId}`.execute(db);
    assert.deepEqual((await read(tenant.owner)).first_steps, {
      has_partner: false,
      has_webhook: false,
      has_booking: false,
    });
  });

  it('200: a member of staff gets only the parts of the own areas; 401 without a sign-in', async () => {
    const tenant: TestTenant = await openHotel(service);
    const kitchen = await addPerson(service, tenant, { areas: ['orders'] });
    const parts = (body: Record<string, unknown>) => Object.keys(body).filter((key) => body[key] !== null);
    assert.deepEqual(parts(await read(kitchen.headers)), ['at', 'orders']);
    const desk = await addPerson(service, tenant, { areas: ['hotel'] });
    assert.deepEqual(parts(await read(desk.headers)), ['at', 'oversold', 'hotel']);
    const nobody = await addPerson(service, tenant, { areas: [] });
    assert.deepEqual(parts(await read(nobody.headers)), ['at']);
    assert.equal((await service.call('GET', TODAY)).status, 401);
  });
});
