import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { AREAS, type Area } from '#access/tenants/tenants.ts';
import type { Db } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId, newIdAt } from '#platform/lib/ids.ts';
import { makeChannel } from '#test/support/channel.ts';
import { book, bookForHouse, openHotel, pmsHeaders, setStayStatus, writePlan } from '#test/support/hotel.ts';
import { invite } from '#test/support/people.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { openDisplay } from '#test/support/sessions.ts';
import { hasTopic, isResync, openStream, type StreamBlock, type TestStream, topicsIn } from '#test/support/streams.ts';
import { causeEvent, moveOrder, placeOrder, register } from '#test/support/webhooks.ts';

const open: TestStream[] = [];
const { service, hotel } = await useHotel();
const pms = await pmsHeaders(service, hotel);
afterEach(() => open.splice(0).forEach((stream) => stream.close()));

/** Opens a stream, and waits for the event `resync`, with which it begins. It gets hints of all changes that are committed later. */
async function watch(headers: Record<string, string>): Promise<TestStream> {
  const stream = await openStream(service.url, headers);
  open.push(stream);
  await stream.find(isResync);
  return stream;
}

/** Makes a change, and returns the first hint of the topic that arrives after the call. */
async function hintOf(stream: TestStream, topic: string, change: () => Promise<unknown>): Promise<StreamBlock> {
  const from = stream.blocks.length;
  await change();
  return await stream.find(hasTopic(topic), { from });
}

/** Makes a last change, which every caller gets. When its hint has arrived, the hints of all earlier changes have arrived too. */
async function endWithPause(streams: TestStream[]): Promise<void> {
  const begun = streams.map((stream) => [stream, stream.blocks.length] as const);
  await callAsOwner('POST', '/v1/staff/pause/', {});
  await Promise.all(begun.map(([stream, from]) => stream.find(hasTopic('pause'), { from })));
  await callAsOwner('DELETE', '/v1/staff/pause/');
}

async function callAsOwner(method: string, path: string, json?: unknown): Promise<void> {
  const { status, text } = await service.call(method, path, { headers: hotel.owner, json });
  assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
}

describe('the messages of GET /v1/staff/changes/', () => {
  it('200: a stream of live changes begins with resync (read all data), and then reports each change once', async () => {
    await placeOrder(service, hotel.partner);
    const stream = await watch(hotel.owner);
    const placed = await hintOf(stream, 'orders', () => placeOrder(service, hotel.partner));
    assert.deepEqual(placed.data, { topics: ['orders'] });
    await invite(service, hotel);
    await stream.find(hasTopic('people'));
    assert.deepEqual(
      stream.events().map(({ event, data }) => [event, data.topics]),
      [
        ['resync', undefined],
        ['change', ['orders']],
        ['change', ['people']],
      ],
    );
  });

  it('200: live changes report the status change of an order with the topics orders and events', async () => {
    const { orderId } = await placeOrder(service, hotel.partner);
    const stream = await watch(hotel.owner);
    const moved = await hintOf(stream, 'events', () => moveOrder(service, hotel, orderId, 'confirmed'));
    assert.deepEqual(moved.data.topics, ['orders', 'events']);
  });

  it('200: live changes report bookings by a partner or the hotel, a cancellation and an arrival with the topic reservations', async () => {
    const stream = await watch(hotel.owner);
    let stayId = '';
    await hintOf(stream, 'reservations', async () => (stayId = (await book(service, hotel)).body.reservation_id));
    await hintOf(stream, 'reservations', () => setStayStatus(service, hotel, stayId, 'cancelled'));
    await hintOf(
      stream,
      'reservations',
      async () => (stayId = (await bookForHouse(service, hotel)).body.reservation_id),
    );
    const arrival = () => callAsOwner('POST', `/v1/staff/reservations/${stayId}/arrival/`, { arrived: true });
    await hintOf(stream, 'reservations', arrival);
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
      await hintOf(stream, topic, change).catch((error: unknown) => assert.fail(`${what}: ${String(error)}`));
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
    await service.apply({ ...hotel.document, name: 'Another name' });
    const { data } = await stream.find(hasTopic('menu'));
    assert.deepEqual(data.topics, ['menu', 'rooms', 'rates', 'credentials', 'people', 'pause']);
  });

  it('200: live changes do not report changes of another tenant', async () => {
    const other = await openHotel(service);
    const stream = await watch(other.owner);
    const own = await watch(hotel.owner);
    await hintOf(own, 'events', () => causeEvent(service, hotel));
    await hintOf(own, 'rates', () => callAsOwner('PATCH', '/v1/staff/rates/', { changes: [night('131.00')] }));
    await hintOf(own, 'pause', () => callAsOwner('POST', '/v1/staff/pause/', {}));
    await callAsOwner('DELETE', '/v1/staff/pause/');
    await hintOf(stream, 'orders', () => placeOrder(service, other.partner));
    assert.deepEqual(topicsIn(stream), new Set(['orders']));
  });
});

describe('the areas of a caller of GET /v1/staff/changes/', () => {
  const heard: Record<Area, string[]> = {
    orders: ['orders', 'pause'],
    menu: ['menu', 'pause'],
    hotel: ['reservations', 'rooms', 'rates', 'pause'],
    rates: ['rooms', 'rates', 'pause'],
    deliveries: ['events', 'pause'],
  };

  it('200: live changes report only topics of the areas of the caller', async () => {
    const streams = new Map<Area | null, TestStream>();
    for (const area of [...AREAS, null]) {
      const display = await openDisplay(service, hotel.tenantId, area === null ? [] : [area]);
      streams.set(area, await watch(display.headers));
    }
    const owner = await watch(hotel.owner);
    await hintOf(owner, 'menu', () => service.apply({ ...hotel.document, name: 'A third name' }));
    await hintOf(owner, 'events', () => causeEvent(service, hotel));
    await hintOf(owner, 'reservations', () => book(service, hotel));
    await hintOf(owner, 'people', () => callAsOwner('POST', '/v1/staff/displays/', { label: 'Bar', areas: [] }));
    await endWithPause([...streams.values()]);
    for (const [area, stream] of streams) {
      const expected = area === null ? ['pause'] : heard[area];
      assert.deepEqual([...topicsIn(stream)].sort(), expected.toSorted(), String(area));
    }
  });
});

describe('the regular reads of the newest rows, which find the live changes', () => {
  async function insertEntry(db: Db, id: string): Promise<void> {
    const entry = {
      at: new Date(),
      actor_type: 'operator',
      action: 'user.changed',
      subject: 'a person',
      details: '{}',
    };
    await db
      .insertInto('audit_entry')
      .values({ tenant_id: hotel.tenantId, id, ...entry })
      .execute();
  }

  it('200: live changes report a change that commits after newer rows were read', async () => {
    const stream = await watch(hotel.owner);
    await inTransaction(service.database.db, async (tx) => {
      await insertEntry(tx, newId());
      await hintOf(stream, 'orders', () => placeOrder(service, hotel.partner));
      assert.ok(!topicsIn(stream).has('people'), 'the change is not committed yet');
    });
    await stream.find(hasTopic('people'));
  });

  it('200: live changes report a change whose id is from a process with a slow or fast clock', async () => {
    const stream = await watch(hotel.owner);
    const oldId = newIdAt(new Date(Date.now() - 58_000));
    await hintOf(stream, 'people', () => insertEntry(service.database.db, oldId));
    await hintOf(stream, 'people', () => insertEntry(service.database.db, `ffff${newId().slice(4)}`));
  });
});
