import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BudgetedCall } from '../history.ts';
import { countInWindows } from './admission.ts';

/**
 * Simulates four minutes of calls, one every 140 ms, to a counter that admits `limit` calls in each window of a minute. In the period
 * `outage`, calls get no response. The counter counts such a call only if it begins a window, so it is not known when the window began.
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
/** Outage around the end of the first window. */
const AT_ITS_END = { fromMs: 59_000, untilMs: 62_000 };

describe('countInWindows', () => {
  it('countInWindows never counts more than the 300 admitted calls of a window, even if the beginning of the window is not known exactly', () => {
    for (const outage of [NEVER, AT_ITS_END]) {
      const counts = countInWindows(callsAt(300, outage));
      assert.ok(counts.length >= 3 && Math.max(...counts) <= 300, counts.join());
    }
  });

  it('if the service admits 302 calls in each window, countInWindows counts more than 300 admitted calls in at least one window', () => {
    for (const outage of [NEVER, AT_ITS_END]) {
      const counts = countInWindows(callsAt(302, outage));
      assert.ok(Math.max(...counts) > 300, counts.join());
    }
  });
});
