import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz } from './run.ts';

/**
 * Number of cases that this test sends. With this number, each operation of the API gets a case or a few. `npm run test:fuzz` sends
 * 20,000 cases, with a new seed in each run.
 */
const CASES = 150;

test(`the fuzzer finds no fault of the service with ${CASES} random and hostile requests`, {
  // If no other test runs, this test takes half a minute. When other slow tests ran at the same time, it took two minutes. The limit
  // is much longer, because it must only end a run that hangs.
  timeout: 1_200_000,
}, async () => {
  const report = await fuzz({ cases: CASES, seed: 1 });
  assert.deepEqual(report.failures, [], report.failures.join('\n\n'));
});
