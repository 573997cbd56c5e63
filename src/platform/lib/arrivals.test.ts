import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { isArriving, noteArrival } from './arrivals.ts';

describe('arrivals', () => {
  it('are under way until a round of the event loop brings no connection', async () => {
    assert.equal(isArriving(), false);
    noteArrival();
    assert.equal(isArriving(), true);
    for (let round = 0; round < 3; round += 1) {
      await nextRound();
      assert.equal(isArriving(), true);
      noteArrival();
    }
    await nextRound();
    assert.equal(isArriving(), true, 'the last round brought one');
    await nextRound();
    assert.equal(isArriving(), false);
  });

  it('count as under way for half a second at most', async (t) => {
    let nowMs = 1_000_000;
    t.mock.method(performance, 'now', () => nowMs);
    let putOffMs = 0;
    for (; putOffMs < 10_000; putOffMs += 2) {
      noteArrival();
      if (!isArriving()) break;
      nowMs += 2;
      await nextRound();
    }
    assert.equal(putOffMs, 500);
    await nextRound();
    await nextRound();
    noteArrival();
    assert.equal(isArriving(), true, 'the next burst');
  });
});
