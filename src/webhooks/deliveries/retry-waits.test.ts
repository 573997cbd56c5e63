import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawRetryWaitMs } from './outcomes.ts';

for (const [index, longestMs] of [2_000, 4_000, 8_000, 16_000].entries()) {
  test(`the waits after failed attempt ${index + 1} are random whole numbers of milliseconds from 0 to ${longestMs}, spread evenly`, () => {
    const waits = Array.from({ length: 10_000 }, () => drawRetryWaitMs(index + 1));
    assert.ok(waits.every((waitMs) => Number.isInteger(waitMs) && waitMs >= 0 && waitMs <= longestMs));
    for (let quarter = 0; quarter < 4; quarter += 1) {
      const inQuarter = waits.filter((waitMs) => Math.min(3, Math.floor(waitMs / (longestMs / 4))) === quarter).length;
      assert.ok(
        inQuarter > 2_000 && inQuarter < 3_000,
        `${inQuarter} of 10,000 waits are in quarter ${quarter} of the range`,
      );
    }
  });
}
