import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz } from './run.ts';

/** With this number, each operation of the API gets a case or a few. `npm run test:fuzz` sends 20,000, with a new seed in each run. */
const CASES = 150;

test(`the fuzzer finds no fault of the service with ${CASES} random and hostile requests`, {
  // The test takes half a minute alone, and two minutes beside other slow tests. The limit must only end a run that hangs.
  timeout: 1_200_000,
}, async () => {
  const failures = await fuzz({ cases: CASES, seed: 1 });
  assert.deepEqual(failures, [], failures.join('\n\n'));
});
