import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lookOf, ownerOf } from '#test/support/streams.ts';
import { Watch } from './watch.ts';

const BEGIN_MS = 1_763_841_400_000;

/** Returns the id of one event of a stream. Returns an empty text if it has no id. */
const idOf = (block: string | null) => /^id: (\d+)$/m.exec(block ?? '')?.[1] ?? '';

describe('the event ids of Watch, from which a client continues its stream of live changes', () => {
  it('if a change is not in the stream yet, the id (a time) of a stream comment is older than the change, so a resuming client gets the change', () => {
    const watch = new Watch(1);
    const subscription = watch.subscribe(ownerOf(1), () => {});
    watch.tell(watch.remember(lookOf(BEGIN_MS, [])));
    const facts = watch.remember(lookOf(BEGIN_MS + 500, ['an order']));
    const id = idOf(subscription.beat());
    assert.equal(id, String(BEGIN_MS));
    assert.deepEqual(watch.missedSince(id, BEGIN_MS + 600)?.facts, facts);
    watch.tell(facts);
    const hint = subscription.take();
    assert.match(hint ?? '', /an order/);
    assert.equal(idOf(hint), String(BEGIN_MS + 500));
    assert.equal(idOf(subscription.beat()), String(BEGIN_MS + 500));
  });

  it('missedSince returns null for an id that is more than 30 s old, even if all later changes are still in memory', () => {
    const watch = new Watch(1);
    for (const afterMs of [0, 20_000, 40_000]) {
      watch.tell(watch.remember(lookOf(BEGIN_MS + afterMs, [])));
    }
    const missedSince = (afterMs: number) => watch.missedSince(String(BEGIN_MS + afterMs), BEGIN_MS + 40_000);
    assert.deepEqual(missedSince(10_000), { momentMs: BEGIN_MS + 10_000, facts: [] });
    assert.equal(missedSince(9_999), null);
  });
});
