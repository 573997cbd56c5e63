import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Readiness } from './readiness.ts';

const STOP_MS = 100_000;

/**
 * Replays readiness checks on a simulated clock, before and after the process begins to stop. When the stop has begun, this clock advances
 * in steps of 100 ms.
 * @returns the number of milliseconds from the begin of the stop until idle connections may be closed
 */
function closableAfter(checks: [address: string, atMs: number][]): number {
  const readiness = new Readiness();
  const before = checks.filter(([, atMs]) => atMs <= 0);
  for (const [address, atMs] of before) {
    assert.equal(readiness.isServing(address, STOP_MS + atMs), true);
  }
  readiness.stop(STOP_MS);
  for (let atMs = 0; ; atMs += 100) {
    for (const [address] of checks.filter(([, checkedMs]) => checkedMs === atMs && checkedMs > 0)) {
      assert.equal(readiness.isServing(address, STOP_MS + atMs), false);
    }
    if (readiness.isKnownToStop(STOP_MS + atMs)) {
      return atMs;
    }
  }
}

/**
 * Returns 20 checks from one address, with an interval of `everyMs`. The tenth check is at `lastMs` and is the last check before the stop.
 * The times are in milliseconds, and the stop is at 0.
 */
const polls = (address: string, everyMs: number, lastMs: number): [string, number][] =>
  Array.from({ length: 20 }, (_, index) => [address, lastMs + (index - 9) * everyMs]);

describe('Readiness', () => {
  it('if no proxy checks readiness regularly, a stopping process may close idle connections after 500 ms', () => {
    assert.equal(closableAfter([]), 500);
    assert.equal(closableAfter([['10.0.0.1', -100]]), 500, 'a single check');
    assert.equal(closableAfter([...polls('10.0.0.1', 10_000, -100)]), 500, 'rare checks, as of a supervisor');
    const ended = polls('10.0.0.1', 100, -1_000).filter(([, atMs]) => atMs <= -1_000);
    assert.equal(closableAfter(ended), 500, 'frequent checks that have ended');
  });

  it('if a proxy checks readiness regularly, a stopping process is allowed to close idle connections 500 ms after the first check since the stop began', () => {
    assert.equal(closableAfter(polls('10.0.0.1', 100, -100)), 600);
    assert.equal(closableAfter(polls('10.0.0.1', 2_000, -100)), 2_400);
  });

  it('if two proxies check readiness regularly, a stopping process is allowed to close idle connections 500 ms after both proxies have checked again', () => {
    assert.equal(closableAfter([...polls('10.0.0.1', 100, -100), ...polls('10.0.0.2', 1_000, -200)]), 1_300);
  });

  it('if a proxy that checked readiness regularly never checks again, a stopping process is allowed to close idle connections 3 s after the stop began', () => {
    const gone = polls('10.0.0.1', 2_000, -100).filter(([, atMs]) => atMs <= 0);
    assert.equal(closableAfter(gone), 3_000);
  });

  it('if 5,000 other callers check readiness after the last check of a proxy, a stopping process no longer knows this proxy, and does not wait for its next check', () => {
    const strangers = Array.from({ length: 5_000 }, (_, index): [string, number] => [`stranger ${index}`, -50]);
    const gone = polls('10.0.0.1', 2_000, -60).filter(([, atMs]) => atMs <= 0);
    assert.equal(closableAfter([...gone, ...strangers]), 500);
  });
});
