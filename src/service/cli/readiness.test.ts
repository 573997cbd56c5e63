import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Readiness } from './readiness.ts';

const STOP_MS = 100_000;

/** @returns when idle connections may be cut, in milliseconds after the stop, by looks each 100 ms */
function cutAfter(asks: [address: string, atMs: number][]): number {
  const readiness = new Readiness();
  const before = asks.filter(([, atMs]) => atMs <= 0);
  for (const [address, atMs] of before) {
    assert.equal(readiness.isServing(address, STOP_MS + atMs), true);
  }
  readiness.stop(STOP_MS);
  for (let atMs = 0; ; atMs += 100) {
    for (const [address] of asks.filter(([, askedMs]) => askedMs === atMs && askedMs > 0)) {
      assert.equal(readiness.isServing(address, STOP_MS + atMs), false);
    }
    if (readiness.isKnownToStop(STOP_MS + atMs)) {
      return atMs;
    }
  }
}

/** Asks each so many milliseconds, the last time before the stop at the given one. */
const polls = (address: string, everyMs: number, lastMs: number): [string, number][] =>
  Array.from({ length: 20 }, (_, index) => [address, lastMs + (index - 9) * everyMs]);

describe('readiness after a stop: idle connections may be cut', () => {
  it('after a moment where nobody watches', () => {
    assert.equal(cutAfter([]), 500);
    assert.equal(cutAfter([['10.0.0.1', -100]]), 500, 'one ask is no watching');
    assert.equal(cutAfter([...polls('10.0.0.1', 10_000, -100)]), 500, 'seldom, as a supervisor');
    const starting = polls('10.0.0.1', 100, -1_000).filter(([, atMs]) => atMs <= -1_000);
    assert.equal(cutAfter(starting), 500, 'often, but not any more');
  });

  it('a moment after the proxy that watches has been told', () => {
    assert.equal(cutAfter(polls('10.0.0.1', 100, -100)), 600);
    assert.equal(cutAfter(polls('10.0.0.1', 2_000, -100)), 2_400);
  });

  it('a moment after the last of several has been told', () => {
    assert.equal(cutAfter([...polls('10.0.0.1', 100, -100), ...polls('10.0.0.2', 1_000, -200)]), 1_300);
  });

  it('after 3 s at most, where one does not ask again', () => {
    const gone = polls('10.0.0.1', 2_000, -100).filter(([, atMs]) => atMs <= 0);
    assert.equal(cutAfter(gone), 3_000);
  });

  it('knows a bounded number of addresses, the latest', () => {
    const strangers = Array.from({ length: 5_000 }, (_, index): [string, number] => [`stranger ${index}`, -50]);
    const gone = polls('10.0.0.1', 2_000, -60).filter(([, atMs]) => atMs <= 0);
    assert.equal(cutAfter([...gone, ...strangers]), 500);
  });
});
