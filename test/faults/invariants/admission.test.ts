import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BudgetedCall } from '../history.ts';
import { countInWindows } from './admission.ts';

/**
 * Four minutes of calls, one every 140 ms, at a counter that lets in so many a minute. In the outage nothing is answered: the
 * first call of a window is counted all the same, others fail before they are.
 */
function callsAt(limit: number, outage: { fromMs: number; untilMs: number }): BudgetedCall[] {
  let count = 0;
  let windowEndsAtMs = 0;
  return Array.from({ length: 1_700 }, (_, index) => {
    const sentAtMs = index * 140;
    const call = { counter: 'redis', sentAtMs, answeredAtMs: sentAtMs + 5 };
    const isLost = sentAtMs >= outage.fromMs && sentAtMs < outage.untilMs;
    const isFirst = sentAtMs >= windowEndsAtMs;
    if (isFirst) {
      windowEndsAtMs = sentAtMs + 60_000;
      count = 0;
    }
    count += isFirst || !isLost ? 1 : 0;
    return { ...call, outcome: isLost ? 'unknown' : count > limit ? 'refused' : 'let_in' };
  });
}

const NEVER = { fromMs: 0, untilMs: 0 };
/** The first window ends within it. */
const AT_ITS_END = { fromMs: 59_000, untilMs: 62_000 };

describe('what a budget lets in within each window', () => {
  it('is at most its limit, also where calls without an answer began the window', () => {
    for (const outage of [NEVER, AT_ITS_END]) {
      const counts = countInWindows(callsAt(300, outage));
      assert.ok(counts.length >= 3 && Math.max(...counts) <= 300, counts.join());
    }
  });

  it('is found where it is two more than the limit', () => {
    for (const outage of [NEVER, AT_ITS_END]) {
      const counts = countInWindows(callsAt(302, outage));
      assert.ok(Math.max(...counts) > 300, counts.join());
    }
  });
});
