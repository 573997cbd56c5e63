import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz } from './run.ts';

/**
 * Number of cases, enough for a few of each operation. `npm run test:fuzz` sends many more, with a new seed in each
 * run.
 */
const CASES = 1_500;

test(`the service responds to ${CASES} hostile requests over all operations without a fault`, {
  timeout: 120_000,
}, async () => {
  const report = await fuzz({ cases: CASES, seed: 1 });
  assert.deepEqual(report.failures, [], report.failures.join('\n\n'));
});
