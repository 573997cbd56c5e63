import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '#platform/lib/ids.ts';
import { Hint } from './hint.ts';
import { TOPICS } from './topics.ts';

const MOMENT_MS = 1_763_841_427_512;

describe('Hint (next message of a stream of live changes)', () => {
  const ofOrder = (orderId: string) => ({ topics: ['orders'] as const, orderId });

  it('several changes become one event of the stream, with the topics in a fixed order and the id of each order or stay once', () => {
    const hint = new Hint(new Set(TOPICS));
    const [order, stay] = [newId(), newId()];
    hint.add({ topics: ['pause'] });
    hint.add(ofOrder(order));
    hint.add(ofOrder(order));
    hint.add({ topics: ['reservations'], reservationId: stay });
    const data = `{"topics":["orders","reservations","pause"],"order_ids":["${order}"],"reservation_ids":["${stay}"]}`;
    assert.equal(hint.take(MOMENT_MS), `id: ${MOMENT_MS}\nevent: change\ndata: ${data}\n\n`);
    assert.equal(hint.take(MOMENT_MS), null);
  });

  it('if a caller may not read a topic, a hint (message of live changes) contains neither this topic nor its order or stay ids', () => {
    const hint = new Hint(new Set(['events', 'pause']));
    hint.add({ topics: ['orders'], orderId: newId() });
    hint.add({ topics: ['reservations'], reservationId: newId() });
    assert.ok(hint.isEmpty);
    hint.add({ topics: ['orders', 'events'], orderId: newId() });
    const data = '{"topics":["events"],"order_ids":[],"reservation_ids":[]}';
    assert.equal(hint.take(MOMENT_MS), `id: ${MOMENT_MS}\nevent: change\ndata: ${data}\n\n`);
  });

  it('a hint of live changes has up to 200 ids, but 201 ids become the event resync (read all data again) without ids', () => {
    const hint = new Hint(new Set(TOPICS));
    for (let count = 0; count < 100; count += 1) {
      hint.add(ofOrder(newId()));
      hint.add({ topics: ['reservations'], reservationId: newId() });
    }
    assert.match(hint.take(MOMENT_MS) ?? '', /event: change/);
    for (let count = 0; count < 201; count += 1) {
      hint.add(ofOrder(newId()));
    }
    assert.equal(hint.take(MOMENT_MS), `id: ${MOMENT_MS}\nevent: resync\ndata: {}\n\n`);
    assert.ok(hint.isEmpty);
  });

  it('a change causes no further event while the event resync (read all data again) has not been sent yet', () => {
    const hint = new Hint(new Set(TOPICS));
    hint.resync();
    hint.add(ofOrder(newId()));
    assert.match(hint.take(MOMENT_MS) ?? '', /event: resync/);
    assert.equal(hint.take(MOMENT_MS), null);
  });
});
