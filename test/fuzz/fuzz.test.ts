import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz } from './run.ts';

/** A few for each operation; `npm run test:fuzz` sends many, and others each time. */
const CASES = 1_500;

test(`${CASES} hostile requests over all operations do no harm`, { timeout: 120_000 }, async () => {
  const report = await fuzz({ cases: CASES, seed: 1 });
  assert.deepEqual(report.failures, [], report.failures.join('\n\n'));
});
