import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { AREAS, type Area } from '#access/tenants/tenants.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import { makeChannel } from '#test/support/channel.ts';
import { book, bookForHouse, openHotel, pmsHeaders, setStayStatus, writePlan } from '#test/support/hotel.ts';
import { invite } from '#test/support/people.ts';
import { sleepRunning } from '#test/support/running-time.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { openDisplay } from '#test/support/sessions.ts';
import { hasTopic, openStream, type StreamBlock, type TestStream, topicsIn } from '#test/support/streams.ts';
import { causeEvent, moveOrder, placeOrder, register } from '#test/support/webhooks.ts';

/**
 * Time in milliseconds in which two looks (reads of the newest rows) and one poll of the list of recent changes run. If a hint has not come
 * in this time, it does not come later.
 */
const TWO_LOOKS_MS = 1_300;
/** Time in milliseconds in which a poll of the list of recent changes begins and ends. A poll begins every 200 ms. */
const ONE_POLL_MS = 525;

const open: TestStream[] = [];
const { service, hotel } = await useHotel();
const pms = await pmsHeaders(service, hotel);
afterEach(() => open.splice(0).forEach((stream) => stream.close()));

/** Opens a stream after the hints of all earlier changes were sent, so that the stream gets only hints of later changes. */
async function watch(headers: Record<string, string>): Promise<TestStream> {
  await sleepRunning(ONE_POLL_MS);
  const stream = await openStream(service.url, headers);
  open.push(stream);
  await stream.find(({ comment }) => comment?.startsWith('beat') === true);
  return stream;
}

async function callAsOwner(method: string, path: string, json?: unknown): Promise<void> {
  const { status, text } = await service.call(method, path, { headers: hotel.owner, json });
  assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
}

const hasOrder = (id: string) => (block: StreamBlock) => hasTopic('orders')(block) && block.data.order_ids.includes(id);
const hasStay = (id: string) => (block: StreamBlock) =>
  hasTopic('reservations')(block) && block.data.reservation_ids.includes(id);

describe('the messages of GET /v1/staff/changes/', () => {
  it('200: live changes report a new order with its id, and a status change with the topics orders and events', async () => {
    const stream = await watch(hotel.owner);
    const { orderId } = await placeOrder(service, hotel.partner);
    const placed = await stream.find(hasOrder(orderId));
    assert.deepEqual(placed.data.reservation_ids, []);
    await moveOrder(service, hotel, orderId, 'confirmed');
    const moved = await stream.find(hasTopic('events'));
    assert.deepEqual(moved.data.order_ids, [orderId]);
    assert.deepEqual(moved.data.topics, ['orders', 'events']);
  });

  it('200: live changes report bookings by a partner or the hotel, a cancellation and an arrival with the id of the stay', async () => {
    const stream = await watch(hotel.owner);
    const { body: booked } = await book(service, hotel);
    await stream.find(hasStay(booked.reservation_id));
    await setStayStatus(service, hotel, booked.reservation_id, 'cancelled');
    const isSecond = (block: StreamBlock) => stream.blocks.filter(hasStay(booked.reservation_id)).indexOf(block) === 1;
    await stream.find(isSecond);
    const { body: own } = await bookForHouse(service, hotel);
    await stream.find(hasStay(own.reservation_id));
    const arrived = stream.blocks.length;
    await callAsOwner('POST', `/v1/staff/reservations/${own.reservation_id}/arrival/`, { arrived: true });
    await stream.find((block) => stream.blocks.indexOf(block) >= arrived && hasStay(own.reservation_id)(block));
  });

  const changes: [what: string, topic: string, change: () => Promise<unknown>][] = [
    ['a dish', 'menu', () => callAsOwner('PATCH', '/v1/staff/dishes/WATER/', { is_active: false })],
    ['a capacity', 'rooms', () => changeCapacity()],
    ['prices by staff', 'rates', () => callAsOwner('PATCH', '/v1/staff/rates/', { changes: [night('130.00')] })],
    [
      'prices by a PMS',
      'rates',
      () => writePlan(service, pms, 'rates', planId(), [{ date: '2031-05-02', price: '99.00' }]),
    ],
    [
      'restrictions by a PMS',
      'rates',
      () => writePlan(service, pms, 'restrictions', planId(), [{ date: '2031-05-02', stop_sell: true }]),
    ],
    ['a rate plan', 'rates', () => callAsOwner('PATCH', `/v1/staff/rate-plans/${planId()}/`, { base_price: '77.00' })],
    ['a pause', 'pause', () => callAsOwner('POST', '/v1/staff/pause/', { reason: 'full' })],
    ['the end of a pause', 'pause', () => callAsOwner('DELETE', '/v1/staff/pause/')],
    ['opening hours', 'pause', () => callAsOwner('PUT', '/v1/staff/opening-hours/', { hours: alwaysOpen() })],
    ['a new credential', 'credentials', () => callAsOwner('POST', '/v1/third-party/credentials/', { label: 'New' })],
    ['a channel', 'credentials', () => makeChannel(service, hotel, 'another-ota')],
    ['a webhook', 'credentials', () => register(service, hotel.partner, 'https://partner.example/hooks')],
    ['an invitation', 'people', () => invite(service, hotel)],
    ['a display', 'people', () => callAsOwner('POST', '/v1/staff/displays/', { label: 'Bar', areas: ['orders'] })],
  ];
  const planId = () => hotel.plans['Double/Flexible'];
  const night = (price: string) => ({ rate_plan_id: planId(), date: '2031-05-01', price });
  const alwaysOpen = () =>
    Array.from({ length: 7 }, (_, day) => ({ weekday: day + 1, opens: '00:00', closes: '00:00' }));
  const changeCapacity = () =>
    callAsOwner('PATCH', `/v1/staff/room-types/${hotel.roomTypes['Double']}/`, { physical_capacity: 17 });
  it('200: live changes report each kind of change to an owner, for example new prices or an invitation, with the topic of the change', async () => {
    const stream = await watch(hotel.owner);
    for (const [what, topic, change] of changes) {
      const arrived = stream.blocks.length;
      await change();
      const isNew = (block: StreamBlock) => stream.blocks.indexOf(block) >= arrived && hasTopic(topic)(block);
      await stream.find(isNew).catch((error: unknown) => assert.fail(`${what}: ${String(error)}`));
    }
  });

  it('200: live changes report the rotation of a credential with the topic credentials', async () => {
    const { credential } = await service.credential(hotel.tenantId);
    const stream = await watch(hotel.owner);
    await callAsOwner('POST', `/v1/third-party/credentials/${credential.id}/rotate/`);
    await stream.find(hasTopic('credentials'));
  });

  it('200: live changes report a tenant document with the topics menu, rooms, rates, credentials, people and pause', async () => {
    const stream = await watch(hotel.owner);
    await service.apply(hotel.document);
    const { data } = await stream.find(hasTopic('menu'));
    assert.deepEqual(data.topics, ['menu', 'rooms', 'rates', 'credentials', 'people', 'pause']);
  });

  it('200: live changes do not report changes of another tenant', async () => {
    const other = await openHotel(service);
    const stream = await watch(other.owner);
    const own = await watch(hotel.owner);
    const { orderId } = await causeEvent(service, hotel);
    await own.find(hasOrder(orderId));
    await callAsOwner('POST', '/v1/staff/pause/', {});
    await own.find(hasTopic('pause'));
    await callAsOwner('DELETE', '/v1/staff/pause/');
    await sleepRunning(TWO_LOOKS_MS);
    assert.deepEqual(topicsIn(stream), new Set());
  });
});

describe('the areas of a caller of GET /v1/staff/changes/', () => {
  /** Changes data of every topic (kind of data). Returns the ids of the new order and the new stay. */
  async function changeAll(): Promise<{ orderId: string; stayId: string }> {
    await service.apply(hotel.document);
    const { orderId } = await causeEvent(service, hotel);
    const { body: stay } = await book(service, hotel);
    await callAsOwner('POST', '/v1/staff/displays/', { label: 'Bar', areas: [] });
    return { orderId, stayId: stay.reservation_id };
  }

  const heard: Record<Area, string[]> = {
    orders: ['orders', 'pause'],
    menu: ['menu', 'pause'],
    hotel: ['reservations', 'rooms', 'rates', 'pause'],
    rates: ['rooms', 'rates', 'pause'],
    deliveries: ['events', 'pause'],
  };

  it('200: live changes report only topics of the areas of the caller, and only ids of orders and stays that it may read', async () => {
    const streams = new Map<Area | null, TestStream>();
    for (const area of [...AREAS, null]) {
      const display = await openDisplay(service, hotel.tenantId, area === null ? [] : [area]);
      streams.set(area, await watch(display.headers));
    }
    const owner = await watch(hotel.owner);
    const { orderId, stayId } = await changeAll();
    await Promise.all([owner.find(hasOrder(orderId)), owner.find(hasStay(stayId)), owner.find(hasTopic('people'))]);
    await sleepRunning(TWO_LOOKS_MS);
    for (const [area, stream] of streams) {
      assert.deepEqual(
        [...topicsIn(stream)].sort(),
        (area === null ? ['pause'] : heard[area]).toSorted(),
        String(area),
      );
      const text = JSON.stringify(stream.blocks);
      assert.equal(text.includes(orderId), area === 'orders', `${area}: the id of the order`);
      assert.equal(text.includes(stayId), area === 'hotel', `${area}: the id of the stay`);
    }
  });
});

describe('the regular reads of the newest rows, which find the live changes', () => {
  it('200: live changes report a change that commits after newer rows were read, and report no change twice', async () => {
    const stream = await watch(hotel.owner);
    const { db } = service.database;
    const late = newId();
    await inTransaction(db, async (tx) => {
      await tx
        .insertInto('audit_entry')
        .values({
          tenant_id: hotel.tenantId,
          id: late,
          at: new Date(),
          actor_type: 'operator',
          action: 'user.changed',
          subject: 'a person',
          details: JSON.stringify({}),
        })
        .execute();
      const { orderId } = await placeOrder(service, hotel.partner);
      await stream.find(hasOrder(orderId));
      assert.ok(!topicsIn(stream).has('people'), 'the change is not committed yet');
    });
    await stream.find(hasTopic('people'));
    await sleepRunning(TWO_LOOKS_MS);
    assert.equal(stream.blocks.filter(({ event }) => event !== undefined).length, 2);
  });

  it('200: live changes report a new order only once, even if the time in its id is far in the future', async () => {
    const stream = await watch(hotel.owner);
    const { orderId } = await placeOrder(service, hotel.partner);
    const { db } = service.database;
    const future = `ffff${newId().slice(4)}`;
    await sql`
      INSERT INTO restaurant_order SELECT tenant_id, ${future}::uuid, credential_id, 'future', status, order_type, customer_name, customer_phone,
        delivery_address, notes, lines, total, currency, created_at
      FROM restaurant_order WHERE tenant_id = ${hotel.tenantId} AND id = ${orderId}`.execute(db);
    await stream.find(hasOrder(future));
    await sleepRunning(TWO_LOOKS_MS);
    assert.equal(stream.blocks.filter(hasOrder(future)).length, 1);
  });

  it('200: if there are more new orders than one statement reads, the stream of live changes sends resync (read all data again)', async () => {
    const stream = await watch(hotel.owner);
    const { orderId } = await placeOrder(service, hotel.partner);
    await stream.find(hasOrder(orderId));
    const { db } = service.database;
    await sql`
      INSERT INTO restaurant_order
      SELECT tenant_id, (left(id::text, 14) || substr(gen_random_uuid()::text, 15))::uuid, credential_id, 'copy ' || number, status, order_type,
        customer_name, customer_phone, delivery_address, notes, lines, total, currency, created_at
      FROM restaurant_order, generate_series(1, 250) AS number
      WHERE tenant_id = ${hotel.tenantId} AND id = ${orderId}`.execute(db);
    await stream.find(({ event }) => event === 'resync');
  });
});
