import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { breaches, FULL, GROWTH_MIB, type Measured, timesOf } from './verdict.ts';

const quick = timesOf(Array.from({ length: 300 }, (_, index) => ({ status: 200, tookMs: index % 20 })));
const slow = timesOf(Array.from({ length: 300 }, (_, index) => ({ status: 200, tookMs: index * 2 })));
const refused = { ...quick, statuses: { 200: 299, 503: 1 } };

const well: Measured = {
  hog: refused,
  mustAnswer: false,
  other: quick,
  control: quick,
  livez: quick,
  controlLivez: quick,
  heldMs: 200,
  memoryMiB: { before: 120, peak: 270 },
  allowedGrowthMiB: GROWTH_MIB,
  hasEnded: false,
};

describe('breaches', () => {
  it('breaches() returns no breach if all measurements are within the goals', () => {
    assert.deepEqual(breaches(well, FULL), []);
  });

  for (const [what, change] of Object.entries<Partial<Measured>>({
    'the process ended': { hasEnded: true },
    'the other tenant got 1 × 503': { other: refused },
    'the busy tenant got 1 × 503': { mustAnswer: true },
    "the other tenant's p99 is": { other: slow },
    '/livez took': { livez: slow },
    'memory grew by 151 MiB': { memoryMiB: { before: 120, peak: 271 } },
  })) {
    it(`breaches() returns one breach if a measurement is outside its goal: ${what}`, () => {
      const found = breaches({ ...well, ...change }, FULL);
      assert.equal(found.length, 1, String(found));
      assert.ok(found[0]?.startsWith(what), found[0]);
    });
  }

  it('if the process under load is only as slow as the control process without this load, breaches() returns no breach of the goals', () => {
    const busy = { other: slow, control: slow, livez: slow, controlLivez: slow };
    assert.deepEqual(breaches({ ...well, ...busy }, FULL), []);
  });
});
