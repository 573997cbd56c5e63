import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isArriving, noteArrival } from './arrivals.ts';

describe('arrivals', () => {
  it('are under way for some milliseconds after a connection, and for half a second at most', (t) => {
    let nowMs = 1_000_000;
    t.mock.method(performance, 'now', () => nowMs);
    assert.equal(isArriving(), false);
    noteArrival();
    assert.equal(isArriving(), true);
    nowMs += 3;
    assert.equal(isArriving(), false);
    let putOffMs = 0;
    for (nowMs += 100; putOffMs < 10_000; putOffMs += 2) {
      noteArrival();
      if (!isArriving()) break;
      nowMs += 2;
    }
    assert.equal(putOffMs, 500);
    nowMs += 20;
    noteArrival();
    assert.equal(isArriving(), true, 'the next burst');
  });
});
