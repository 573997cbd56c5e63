import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { breaches, FULL, type Measured, timesOf } from './verdict.ts';

const quick = timesOf(Array.from({ length: 300 }, (_, index) => ({ status: 200, tookMs: index % 20 })));
const slow = timesOf(Array.from({ length: 300 }, (_, index) => ({ status: 200, tookMs: index * 2 })));

const well: Measured = {
  name: 'a case',
  what: 'what it is',
  letIn: 300,
  hog: { 200: 300 },
  other: quick,
  control: quick,
  livez: quick,
  controlLivez: quick,
  standstillMs: 40,
  heldMs: 20,
  controlStandstillMs: 30,
  worstAlone: null,
  memoryMiB: { before: 120, peak: 300, after: 160 },
  died: null,
};

describe('breaches', () => {
  it('breaches() returns no breach if all measurements are within the goals', () => {
    assert.deepEqual(breaches(well, FULL), []);
  });

  for (const [what, change] of Object.entries<Partial<Measured>>({
    'the process ended': { died: 'out of memory' },
    'the other tenant got 1 × 503': { other: { ...quick, statuses: { 200: 299, 503: 1 } } },
    "the other tenant's p99 is": { other: slow },
    '/livez took': { livez: slow },
    'one turn of the event loop used': { heldMs: 51 },
    'the event loop paused for': { standstillMs: 91 },
    'memory grew by 201 MiB': { memoryMiB: { before: 120, peak: 321, after: 160 } },
    'memory stayed 101 MiB higher': { memoryMiB: { before: 120, peak: 300, after: 221 } },
  })) {
    it(`breaches() returns one breach if a measurement is outside its goal: ${what}`, () => {
      const found = breaches({ ...well, ...change }, FULL);
      assert.equal(found.length, 1, String(found));
      assert.ok(found[0]?.startsWith(what), found[0]);
    });
  }

  it('if the process under load is only as slow as the control process without this load, breaches() returns no breach of the goals', () => {
    const busy = { other: slow, control: slow, livez: slow, controlLivez: slow };
    assert.deepEqual(breaches({ ...well, ...busy, standstillMs: 400, controlStandstillMs: 300 }, FULL), []);
  });
});
