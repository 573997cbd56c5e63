import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '#platform/lib/ids.ts';
import { Hint } from './hint.ts';
import { TOPICS } from './topics.ts';

const MOMENT_MS = 1_763_841_427_512;

describe('Hint (what a stream says next)', () => {
  const ofOrder = (orderId: string) => ({ topics: ['orders'] as const, orderId });

  it('facts are merged to one block, whose topics have a fixed order and whose ids appear once', () => {
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

  it('a caller hears of no other topic and gets no id of it', () => {
    const hint = new Hint(new Set(['events', 'pause']));
    hint.add({ topics: ['orders'], orderId: newId() });
    hint.add({ topics: ['reservations'], reservationId: newId() });
    assert.ok(hint.isEmpty);
    hint.add({ topics: ['orders', 'events'], orderId: newId() });
    const data = '{"topics":["events"],"order_ids":[],"reservation_ids":[]}';
    assert.equal(hint.take(MOMENT_MS), `id: ${MOMENT_MS}\nevent: change\ndata: ${data}\n\n`);
  });

  it('200 ids are told, and one more makes the hint say resync in place of them', () => {
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

  it('a resync that waits includes the facts that come after it', () => {
    const hint = new Hint(new Set(TOPICS));
    hint.resync();
    hint.add(ofOrder(newId()));
    assert.match(hint.take(MOMENT_MS) ?? '', /event: resync/);
    assert.equal(hint.take(MOMENT_MS), null);
  });
});
