import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz } from './run.ts';

/**
 * Number of cases that this test sends. The number is large enough for a few cases of each operation of the API.
 * `npm run test:fuzz` sends many more cases, with a new seed in each run.
 */
const CASES = 1_500;

test(`the fuzzer finds no fault of the service with ${CASES} random and hostile requests`, {
  // Alone, the run takes less than a minute. Beside the other slow tests, it has taken two.
  timeout: 300_000,
}, async () => {
  const report = await fuzz({ cases: CASES, seed: 1 });
  assert.deepEqual(report.failures, [], report.failures.join('\n\n'));
});
