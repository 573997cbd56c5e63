import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { isArriving, noteArrival } from './arrivals.ts';

describe('isArriving', () => {
  it('after a connection is accepted, isArriving is true until an event loop iteration passes in which no connection is accepted', async (t) => {
    assert.equal(isArriving(), false);
    // A burst ends after half a second. The mocked clock stands still, so a slow machine cannot end the burst of this test.
    t.mock.method(performance, 'now', () => 1_000_000);
    noteArrival();
    assert.equal(isArriving(), true);
    for (let round = 0; round < 3; round += 1) {
      await nextRound();
      assert.equal(isArriving(), true);
      noteArrival();
    }
    await nextRound();
    assert.equal(isArriving(), true, 'the previous round accepted a connection');
    await nextRound();
    assert.equal(isArriving(), false);
  });

  it('if a burst of new connections lasts for half a second, isArriving becomes false during the burst, and true again when a later burst begins', async (t) => {
    let nowMs = 1_000_000;
    t.mock.method(performance, 'now', () => nowMs);
    let burstMs = 0;
    for (; burstMs < 10_000; burstMs += 2) {
      noteArrival();
      if (!isArriving()) break;
      nowMs += 2;
      await nextRound();
    }
    assert.equal(burstMs, 500);
    await nextRound();
    await nextRound();
    noteArrival();
    assert.equal(isArriving(), true, 'a connection of the next burst was accepted');
  });
});
