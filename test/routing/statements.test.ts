import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Test files that together send nearly all statements of the business in the shortest time. Each of them sends a statement that no other of
 * them sends. The others run by hand, because a second run of all tests takes too long: `TEST_LAYOUT=cluster npm test -- 'src/hotel/**'`.
 */
const FILES = [
  'src/restaurant/menu/availability.test.ts',
  'src/restaurant/opening/opening.test.ts',
  'src/restaurant/orders/{filters,history,reading,replays,staff}.test.ts',
  'src/hotel/reservations/{booking,contention,night,reading,replays,staff,staff-changes,staff-filters}.test.ts',
  'src/hotel/rates/{restrictions,staff-plans,staff-rates}.test.ts',
  'src/hotel/{front-desk/calendar,nights/oversold}.test.ts',
  'src/hotel/pms/reservations.test.ts',
  'src/hotel/channels/channels.test.ts',
  'src/webhooks/deliveries/{delivery-filters,delivery-list}.test.ts',
  'src/webhooks/events/{feed,staff-events}.test.ts',
  'src/staff/live-changes/{access,resume}.test.ts',
  'src/staff/partners/credential-{detail,webhook}.test.ts',
  'src/access/refusals/refusals.test.ts',
  'src/staff/reports/days.test.ts',
  'src/staff/trail/trail.test.ts',
];

it('a cluster can route each statement that the service sends in the tests of its business', async () => {
  const files = globSync(FILES, { cwd: ROOT }).sort();
  const env = { ...process.env, TEST_LAYOUT: 'cluster', TEST_DATABASE_URL: undefined, NODE_TEST_CONTEXT: undefined };
  const { failed, output } = await new Promise<{ failed: boolean; output: string }>((resolve) => {
    // A failed check leaves receivers open that would keep the process running.
    const args = ['--test', '--test-force-exit', '--test-isolation=none', '--test-reporter=tap', ...files];
    execFile(process.execPath, args, { cwd: ROOT, env, maxBuffer: 64 * 1_024 * 1_024 }, (error, stdout, stderr) =>
      resolve({ failed: error !== null, output: stdout + stderr }),
    );
  });
  assert.ok(Number(/^# pass (\d+)$/m.exec(output)?.[1]) > files.length, `The tests did not run:\n${output}`);
  assert.ok(
    !failed,
    `Some tests failed:\n${output
      .split('\n')
      .filter((line) => !/^\s*(ok|---|\.\.\.|duration_ms|type):? /.test(line))
      .join('\n')}`,
  );
});
