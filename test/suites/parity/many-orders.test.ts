import { describe } from 'node:test';
import fc from 'fast-check';
import { storeRefusedCalls } from '#access/refusals/store.ts';
import { readCallers } from '#access/sessions/store.ts';
import { newId } from '#platform/lib/ids.ts';
import * as orders from '#restaurant/orders/store.ts';
import { look } from '#staff/live-changes/store.ts';
import * as deliveries from '#webhooks/deliveries/store.ts';
import { insertEvents, type NewEvent } from '#webhooks/events/store.ts';
import { isTestCluster } from '../../support/test-cluster.ts';
import { any, check, hotelOf, inTx, ownerOf, tenantIdOf, useHotels, writeDeliveries } from './hotels.ts';

useHotels();
const startedAtMs = Date.now();

describe('a statement for many orders, deliveries, sessions or other inputs', {
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
          const status_changed_at = order.created_at;
          return { ...order, status_changed_at, tenant_id: tenantId, credential_id: credentialId } as orders.NewOrder;
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
    name: 'insert of events',
    input: fc.record({
      hotel: any.hotel,
      id: any.id,
      type: fc.constantFrom('order.status_changed' as const, 'reservation.created' as const),
      body: any.text,
      createdAt: any.time,
      subject: fc.record({ type: fc.constant('order' as const), id: any.id, external_id: any.text }),
    }),
    tables: ['event', 'delivery'],
    without: ['leased_until', 'claimed_at', 'next_attempt_at', 'feed_position'],
    run: inTx(async (tx, inputs) => {
      const events = inputs.map(({ hotel, subject, ...event }): NewEvent => {
        return { ...event, ...ownerOf({ hotel }), subject: JSON.stringify(subject) };
      });
      const due = await insertEvents(tx, events);
      return events.map(({ credentialId }) => due.find((each) => each.credentialId === credentialId)?.webhookUrl);
    }),
  });
  const lease = { id: newId(), seconds: 3_000, beginBeforeMs: 0 };
  check({
    name: 'claim of deliveries',
    input: fc.record({ hotel: any.hotel, count: fc.integer({ min: 1, max: 6 }) }),
    key: ({ hotel }) => hotel,
    tables: ['event', 'delivery'],
    without: ['leased_until', 'claimed_at', 'attempts', 'feed_position', 'lease_id'],
    prepare: (db) => writeDeliveries(db, null),
    run: async (db, inputs) => {
      const wanted = inputs.map(({ hotel, count }) => ({ ...ownerOf({ hotel }), count }));
      const turn = await deliveries.recordAndClaim(db, [], wanted, lease);
      return wanted.map(({ credentialId }) =>
        turn.claimed
          .filter((each) => each.credentialId === credentialId)
          .map(({ eventId, body, attempt, webhookUrl, status }) =>
            [eventId, body, attempt, webhookUrl, status].join(' '),
          )
          .sort(),
      );
    },
  });
  check({
    name: 'record of outcomes',
    input: fc.record({
      hotel: any.hotel,
      delivery: fc.nat({ max: 7 }),
      sent: fc.option(
        fc.record({
          ok: fc.boolean(),
          httpStatus: fc.constantFrom(null, 204, 500),
          durationMs: fc.nat({ max: 100 }),
          error: fc.constantFrom(null, 'timeout'),
          phase: fc.constant(null),
          answer: fc.option(any.text),
          timestampSeconds: fc.constantFrom(null, 1_900_000_000),
        }),
      ),
      status: fc.constantFrom('pending' as const, 'delivered' as const, 'failed' as const),
      retryInMs: fc.constant(50_000),
    }),
    key: ({ hotel, delivery }) => [hotel, delivery],
    tables: ['event', 'delivery'],
    without: ['leased_until', 'next_attempt_at', 'feed_position', 'lease_id'],
    prepare: (db) => writeDeliveries(db, lease.id),
    run: async (db, inputs) => {
      const outcomes = inputs.map(({ hotel, delivery, ...outcome }) => {
        const eventId = hotelOf({ hotel }).deliveryIds[delivery] ?? '';
        return { ...outcome, delivery: { ...CLAIMED, ...ownerOf({ hotel }), eventId, lease } };
      });
      const { recorded } = await deliveries.recordAndClaim(db, outcomes, [], lease);
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
      request_id: any.text,
    }),
    tables: ['refused_call'],
    run: async (db, inputs) => {
      const calls = inputs.map(({ hotel, ...call }) => {
        const { tenantId, credentialId } = ownerOf({ hotel });
        return { ...call, tenant_id: tenantId, credential_id: credentialId };
      });
      const stored = await storeRefusedCalls(db, calls);
      return calls.map(({ id }) => stored.has(id));
    },
  });
  check({
    name: 'check of sessions and tokens',
    input: fc.record({ hotel: any.hotel, other: any.hotel, generation: fc.constantFrom(0, 1), isOver: fc.boolean() }),
    run: async (db, inputs) => {
      const callers = inputs.flatMap(({ hotel, other, generation, isOver }) => {
        const { sessionId, ownerId } = hotelOf({ hotel: other });
        const caller = {
          tenantId: tenantIdOf({ hotel }),
          personId: ownerId,
          expiresAt: isOver ? '2020-01-01T00:00:00Z' : '2090-01-01T00:00:00Z',
        };
        return [
          { ...caller, sessionId, generation: null },
          { ...caller, sessionId: null, generation },
        ];
      });
      const rows = await readCallers(db, callers);
      return inputs.map((_, index) => rows.slice(2 * index, 2 * index + 2));
    },
  });
  check({
    name: 'read of the newest rows',
    input: fc.record({ hotel: any.hotel }),
    run: async (db, inputs) => await look(db, inputs.map(tenantIdOf), startedAtMs),
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
