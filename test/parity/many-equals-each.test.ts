import { after, before, describe } from 'node:test';
import fc from 'fast-check';
import { storeRefusedCalls } from '#access/refusals/store.ts';
import { readSessionCallers, readTokenCallers } from '#access/sessions/caller-store.ts';
import * as nights from '#hotel/nights/store.ts';
import { readPlanNights } from '#hotel/rates/calendar-store.ts';
import * as rates from '#hotel/rates/store.ts';
import { insertReservations, type NewReservation } from '#hotel/reservations/store.ts';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import * as orders from '#restaurant/orders/store.ts';
import { look } from '#staff/live-changes/store.ts';
import * as deliveries from '#webhooks/deliveries/store.ts';
import { insertEvents, type NewEvent } from '#webhooks/events/store.ts';
import { dayAfter } from '../support/hotel.ts';
import { startService, type TestService } from '../support/service.ts';
import { isTestCluster } from '../support/test-cluster.ts';
import { any, dayAt, type Hotel, inTx, openHotels, writeDeliveries } from './hotels.ts';
import { manyEqualsEach, type Operation } from './property.ts';

let service: TestService;
let hotels: Hotel[];
before(async () => {
  service = await startService();
  hotels = await openHotels(service);
});
after(() => service.close());

const hotelOf = ({ hotel }: { hotel: number }) => hotels[hotel % hotels.length] as Hotel;
const tenantIdOf = (input: { hotel: number }) => hotelOf(input).tenantId;
const ownerOf = (input: { hotel: number }) => {
  const { tenantId, credential } = hotelOf(input);
  return { tenantId, credentialId: credential.id };
};

const check = <Input extends { hotel: number }, Output>(operation: Omit<Operation<Input, Output>, 'tenantIdOf'>) =>
  manyEqualsEach(() => service, { ...operation, tenantIdOf });

interface GivenNight {
  hotel: number;
  date: string;
  rooms: number;
}
const aNight = fc.record({ hotel: any.hotel, date: any.day, rooms: fc.integer({ min: 1, max: 3 }) });
const nightKey = ({ hotel, date }: GivenNight) => [hotel, date];
const nightOf = ({ date, rooms, hotel }: GivenNight) => {
  const { tenantId, roomTypes } = hotelOf({ hotel });
  return { tenantId, roomTypeId: roomTypes['Double'] ?? '', date, rooms, capacity: 3 };
};
async function holdSome(db: Database): Promise<void> {
  const held = hotels.flatMap((_, hotel) => [1, 2, 3].map((rooms) => nightOf({ hotel, date: dayAt(rooms), rooms })));
  await inTransaction(db, (tx) => nights.changeHeld(tx, held));
}
/** Returns one output for each input: the night that was changed, or undefined. */
const changedNights = (given: GivenNight[], changed: (nights.Night & { held: number })[]) =>
  given.map((each) => changed.find(({ tenantId, date }) => tenantId === tenantIdOf(each) && date === each.date));

const planOf = (hotel: number, isClosed: boolean) =>
  hotelOf({ hotel }).plans[isClosed ? 'Double/Closed' : 'Double/Flexible'] ?? '';
async function writeSomeRates(db: Database): Promise<void> {
  for (const [hotel, { tenantId }] of hotels.entries()) {
    const given = [0, 2, 4, 6].map((day) => ({
      rate_plan_id: planOf(hotel, day === 6),
      date: dayAt(day),
      price: day === 2 ? null : '12.00',
      is_sold_out: day > 2,
    }));
    await inTransaction(db, (tx) => rates.writeRates(tx, { tenantId, nights: given, price: 'replace' }));
  }
}

const aRange = fc.record({
  hotel: any.hotel,
  isOfOther: fc.boolean(),
  from: any.day,
  count: fc.integer({ min: 1, max: 9 }),
});
type GivenRange = typeof aRange extends fc.Arbitrary<infer Range> ? Range : never;
/** Returns a range of nights. If `isOfOther` is true, its room type belongs to another tenant. */
const rangeOf = ({ hotel, isOfOther, from, count }: GivenRange) => ({
  tenantId: tenantIdOf({ hotel }),
  roomTypeId: hotelOf({ hotel: isOfOther ? hotel + 1 : hotel }).roomTypes['Double'] ?? '',
  checkIn: from,
  checkOut: dayAfter(from, count),
});

describe('a statement of a store for many inputs', {
  skip: (await isTestCluster()) && 'the forms for one node do not run on a cluster',
}, () => {
  check({
    name: 'insert of orders',
    input: fc.record({
      hotel: any.hotel,
      id: any.id,
      external_order_id: any.text,
      status: fc.constantFrom('pending', 'ready'),
      order_type: fc.constantFrom('delivery', 'pick_up'),
      customer_name: any.maybeText,
      customer_phone: any.maybeText,
      delivery_address: any.maybeText,
      notes: any.maybeText,
      lines: any.text.map((name) => `[ {"b": 1, "a": ${JSON.stringify(name)}, "b": 1.50} ]`),
      total: any.amount,
      currency: fc.constant('EUR'),
      created_at: any.time,
    }),
    tables: ['restaurant_order'],
    run: (db, inputs) =>
      orders.insertOrders(
        db,
        inputs.map(({ hotel, ...order }) => {
          const { tenantId, credentialId } = ownerOf({ hotel });
          return { ...order, tenant_id: tenantId, credential_id: credentialId } as orders.NewOrder;
        }),
      ),
  });
  check({
    name: 'look-up of orders',
    input: fc.record({ hotel: any.hotel, externalOrderId: any.text }),
    run: (db, inputs) =>
      orders.findByExternalIds(
        db,
        inputs.map(({ hotel, externalOrderId }) => ({ ...ownerOf({ hotel }), externalOrderId })),
      ),
  });
  check({
    name: 'insert of reservations',
    input: fc.record({
      hotel: any.hotel,
      id: any.id,
      natural_id: any.id,
      isPartners: fc.boolean(),
      name: any.text,
      guest_name: any.text,
      guest_phone: any.maybeText,
      guest_email: any.maybeText,
      check_in: any.day,
      total_amount: any.amount,
      created_at: any.time,
      nightly_prices: fc.option(fc.array(any.amount, { maxLength: 3 })),
      signatures: fc.array(any.text, { maxLength: 3 }),
    }),
    tables: ['reservation'],
    run: inTx(async (tx, inputs) => {
      const rows = inputs.map(({ hotel, isPartners, name, signatures, ...row }) => ({
        ...row,
        tenant_id: tenantIdOf({ hotel }),
        ...(isPartners
          ? { credential_id: ownerOf({ hotel }).credentialId, external_reservation_id: name }
          : { external_source: 'ota', external_id: name, channel_timestamp: 1e12, channel_signatures: signatures }),
        status: 'confirmed',
        room_type_id: hotelOf({ hotel }).roomTypes['Double'] ?? '',
        check_out: dayAfter(row.check_in, 1),
        guests: 2,
        currency: 'EUR',
      }));
      const inserted = await insertReservations(tx, rows as NewReservation[]);
      return inputs.map(({ id }) => inserted.has(id));
    }),
  });
  check({
    name: 'change of night counters',
    input: aNight,
    key: nightKey,
    tables: ['night'],
    prepare: holdSome,
    run: inTx(async (tx, inputs) => changedNights(inputs, await nights.changeHeld(tx, inputs.map(nightOf)))),
  });
  check({
    name: 'hold of nights within the capacity',
    input: aNight,
    key: nightKey,
    tables: ['night'],
    prepare: holdSome,
    run: inTx(async (tx, inputs) => changedNights(inputs, await nights.holdNights(tx, inputs.map(nightOf)))),
  });
  check({
    name: 'look-up of night counters',
    input: aRange,
    tables: ['night'],
    prepare: holdSome,
    run: (db, inputs) => nights.readHeld(db, inputs.map(rangeOf)),
  });
  for (const [name, read] of [
    ['rate plans with their entries', rates.readPlansInRanges],
    ['sold-out nights', rates.readSoldOutNights],
    ['rate plans with lists of their nights', readPlanNights],
  ] as [string, (db: Database, ranges: rates.StayRange[]) => Promise<unknown[]>][]) {
    check({
      name: `look-up of ${name}`,
      input: aRange,
      tables: ['rate'],
      prepare: writeSomeRates,
      run: (db, inputs) => read(db, inputs.map(rangeOf)),
    });
  }
  for (const price of ['replace', 'keep'] as const) {
    check({
      name: `write of rates that ${price}s stored prices`,
      input: fc.record({
        hotel: fc.constant(0),
        isClosed: fc.boolean(),
        date: any.day,
        price: fc.option(any.amount),
        is_sold_out: fc.boolean(),
      }),
      key: ({ isClosed, date }) => [isClosed, date],
      tables: ['rate'],
      prepare: writeSomeRates,
      run: inTx(async (tx, inputs) => {
        const given = inputs.map(({ hotel, isClosed, ...night }) => ({
          ...night,
          rate_plan_id: planOf(hotel, isClosed),
        }));
        await rates.writeRates(tx, { tenantId: tenantIdOf({ hotel: 0 }), nights: given, price });
        return [];
      }),
    });
  }
  check({
    name: 'insert of events',
    input: fc.record({
      hotel: any.hotel,
      id: any.id,
      type: fc.constantFrom('order.status_changed' as const, 'reservation.created' as const),
      body: any.text,
      createdAt: any.time,
      subject: fc.record({ type: fc.constant('order' as const), id: any.id, external_id: any.text }),
      lease: fc.option(fc.record({ id: any.id, seconds: fc.constant(1_000), beginBeforeMs: fc.constant(0) })),
    }),
    tables: ['event', 'delivery'],
    without: ['leased_until', 'claimed_at', 'next_attempt_at', 'feed_position'],
    run: inTx(async (tx, inputs) => {
      const events = inputs.map(({ hotel, ...event }): NewEvent => ({ ...event, ...ownerOf({ hotel }) }));
      const targets = await insertEvents(tx, events);
      return inputs.map(({ id }) => targets.get(id)?.webhookUrl);
    }),
  });
  const lease = { id: newId(), seconds: 3_000, beginBeforeMs: 0 };
  check({
    name: 'claim of deliveries',
    input: fc.record({ hotel: any.hotel, count: fc.integer({ min: 1, max: 6 }) }),
    key: ({ hotel }) => hotel,
    tables: ['event', 'delivery'],
    without: ['leased_until', 'claimed_at', 'attempts', 'feed_position', 'lease_id'],
    prepare: (db) => writeDeliveries(db, hotels, null),
    run: async (db, inputs) => {
      const wanted = inputs.map(({ hotel, count }) => ({ ...ownerOf({ hotel }), count }));
      const claimed = await deliveries.claimDue(db, wanted, lease);
      return wanted.map(({ credentialId }) => [
        claimed.takenOf.get(credentialId),
        claimed.deliveries
          .filter((each) => each.credentialId === credentialId)
          .map(({ eventId, body, attempt, webhookUrl }) => [eventId, body, attempt, webhookUrl])
          .sort(),
      ]);
    },
  });
  check({
    name: 'record of outcomes',
    input: fc.record({
      hotel: any.hotel,
      delivery: fc.nat({ max: 7 }),
      result: fc.option(
        fc.record({
          at: fc.constant('2031-01-01T00:00:00.123Z'),
          http_status: fc.constantFrom(null, 204, 500),
          duration_ms: fc.nat({ max: 100 }),
          error: fc.constantFrom(null, 'timeout'),
          timestamp: fc.constantFrom(null, 1_900_000_000),
        }),
      ),
      answer: fc.option(any.text),
      status: fc.constantFrom('pending' as const, 'delivered' as const, 'failed' as const),
      retryInMs: fc.constant(50_000),
    }),
    key: ({ hotel, delivery }) => [hotel, delivery],
    tables: ['event', 'delivery'],
    without: ['leased_until', 'next_attempt_at', 'feed_position', 'lease_id'],
    prepare: (db) => writeDeliveries(db, hotels, lease.id),
    run: async (db, inputs) => {
      const outcomes = inputs.map(({ hotel, delivery, ...outcome }) => {
        const eventId = hotelOf({ hotel }).deliveryIds[delivery] ?? '';
        return { ...outcome, delivery: { ...CLAIMED, ...ownerOf({ hotel }), eventId, lease } };
      });
      const recorded = await deliveries.recordOutcomes(db, outcomes);
      return outcomes.map(({ delivery }) => recorded.has(delivery.eventId));
    },
  });
  check({
    name: 'insert of refused calls',
    input: fc.record({
      hotel: any.hotel,
      id: any.id,
      at: any.time.map((at) => at.toISOString()),
      method: any.text,
      path: any.text,
      status: fc.integer({ min: 400, max: 499 }),
      code: any.text,
      message: any.text,
      requestId: any.text,
    }),
    tables: ['refused_call'],
    run: async (db, inputs) => {
      const calls = inputs.map(({ hotel, ...call }) => ({ ...call, ...ownerOf({ hotel }) }));
      const stored = await storeRefusedCalls(db, calls);
      return calls.map(({ id }) => stored.has(id));
    },
  });
  check({
    name: 'check of sessions and tokens',
    input: fc.record({ hotel: any.hotel, other: any.hotel, generation: fc.constantFrom(0, 1), isOver: fc.boolean() }),
    run: async (db, inputs) => {
      const sessions = inputs.map(({ hotel, other }) => ({
        tenantId: tenantIdOf({ hotel }),
        id: hotelOf({ hotel: other }).sessionId,
      }));
      const tokens = inputs.map(({ hotel, other, generation, isOver }) => ({
        tenantId: tenantIdOf({ hotel }),
        personId: hotelOf({ hotel: other }).ownerId,
        generation,
        expiresAt: isOver ? '2020-01-01T00:00:00Z' : '2090-01-01T00:00:00Z',
      }));
      const found = [await readSessionCallers(db, sessions), await readTokenCallers(db, tokens)] as const;
      return inputs.map((_, index) => found.map((rows) => rows[index]));
    },
  });
  check({
    name: 'read of the newest rows',
    input: fc.record({ hotel: any.hotel, backMs: fc.constantFrom(-3_600_000, 3_600_000) }),
    run: async (db, inputs) => {
      const rows = await look(
        db,
        inputs.map(({ hotel, backMs }) => ({ tenantId: tenantIdOf({ hotel }), backMs })),
      );
      return rows.map((row) => row && { ...row, momentMs: 0 });
    },
  });
});

/** Fields of a claimed delivery that the record of its outcome does not read. */
const CLAIMED = {
  body: '',
  createdAtMs: 0,
  attempt: 2,
  waitedSeconds: 0,
  claimedAtMs: 0,
  webhookUrl: '',
  webhookSecret: Buffer.of(),
};
