import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { drawRetryWaitMs, retryCapMs } from './outcomes.ts';

test('the longest wait for a retry is 2 s after the first failed attempt, and doubles after each of the next three attempts', () => {
  assert.deepEqual([1, 2, 3, 4].map(retryCapMs), [2_000, 4_000, 8_000, 16_000]);
});

test('every random wait for a retry is a whole number of milliseconds from 0 to the longest wait', () => {
  const draws = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), draws, (attempt, drawn) => {
      const waitMs = drawRetryWaitMs(attempt, () => drawn);
      assert.ok(Number.isInteger(waitMs) && waitMs >= 0 && waitMs <= retryCapMs(attempt));
    }),
  );
});

test('random waits for a retry are spread evenly from 0 to the longest wait', () => {
  assert.equal(
    drawRetryWaitMs(1, () => 0),
    0,
  );
  assert.equal(
    drawRetryWaitMs(1, () => 1 - Number.EPSILON),
    2_000,
  );
  const waits = Array.from({ length: 10_000 }, () => drawRetryWaitMs(4));
  for (let quarter = 0; quarter < 4; quarter += 1) {
    const inQuarter = waits.filter((waitMs) => Math.min(3, Math.floor(waitMs / 4_000)) === quarter).length;
    assert.ok(
      inQuarter > 2_000 && inQuarter < 3_000,
      `${inQuarter} of 10,000 waits are in quarter ${quarter} of the range`,
    );
  }
});
