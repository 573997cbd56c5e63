/**
 * Runs the test files of one layer, or all files that match the given patterns, of both layers. Prints a line on stderr when a file has
 * ended. Prints the result of each test, and the counts at the end.
 *
 *   npm test                                   tests that run in the test processes
 *   npm run test:system                        tests that start programs: `*.system.test.ts`
 *   npm test -- 'src/hotel/rates/*.test.ts'
 *
 * A few processes run all files. Each process runs several files, one after the other. A separate process for each file would be slower,
 * because a new process uses 1.3 s of CPU time until it has loaded and warmed up the service (docs/TESTING.md).
 */
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from '#test/support/global-setup.ts';
import { runFolder } from '#test/support/run-folder.ts';

const ROOT = join(import.meta.dirname, '..');
const PATTERNS = ['src', 'scripts', 'test', 'sdk/test', 'bench'].map((folder) => `${folder}/**/*.test.ts`);
/**
 * Number of concurrent test processes. It was chosen on a machine with two CPU cores. The first process begins with the `WAITING_FILES`,
 * which use little CPU time. The other three processes keep both cores busy. They do not need three cores, because their tests sometimes
 * wait. With a fifth process, the tests would be slower, and tests with time limits would fail.
 */
const PROCESSES = 4;
/**
 * Time in milliseconds in which each test process must end after the last test of the run. At its end, Node waits for V8 to finish compiling
 * in the background, which takes more than 20 s on a very busy machine.
 */
const END_LIMIT_MS = 120_000;
/**
 * Test files that wait for most of their time. They test time limits of the service, for example the end of a lease, with the real clock.
 * The first process runs them before all other files.
 */
const WAITING_FILES = [
  'src/service/cli/kill.system.test.ts',
  'src/service/cli/listen-outages.system.test.ts',
  'src/platform/http/silent-database.test.ts',
  'src/platform/http/slow-document.system.test.ts',
  'src/access/credentials/credentials.test.ts',
  'src/access/credentials/secrecy.test.ts',
  'src/service/tenant-document/users.test.ts',
  'src/webhooks/deliveries/delivery-worker.test.ts',
  'src/webhooks/deliveries/failing-receivers.test.ts',
];
/**
 * Beginnings of the paths of test files that take long. These files start before the others. If a long file started last, the other
 * processes would have ended, and a CPU core would be idle while this file runs.
 */
const SLOW_PATHS = [
  'test/suites/browser/',
  'src/service/cli/',
  'test/suites/fuzz/',
  'src/platform/http/redis-budgets',
  'test/suites/contract/refusals',
  'src/webhooks/deliveries/',
];

async function main(): Promise<void> {
  const { values, positionals: patterns } = parseArgs({
    allowPositionals: true,
    options: { system: { type: 'boolean', default: false } },
  });
  const matching = globSync(patterns.length > 0 ? patterns : PATTERNS, { cwd: ROOT, exclude: ['**/node_modules/**'] });
  const files = matching
    .filter((file) => patterns.length > 0 || (isSystemTest(file) === values.system && !isCheck(file)))
    .sort();
  if (files.length === 0) {
    throw new Error(`No test file matches ${patterns.join(' ')}.`);
  }
  await globalSetup();
  const modules = await writeModules(files);
  const unfinished = new Set(files);
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => interruption.abort());
  }
  const results = run({ files: modules, concurrency: PROCESSES, signal: interruption.signal })
    .on('test:complete', ({ name, details }) => {
      // The test runner reports a suite for each test file. The name of the suite is the path of the file.
      if (unfinished.delete(name)) {
        const done = `${files.length - unfinished.size} of ${files.length} files`;
        console.error(
          `${done}: ${name} ${details.passed ? 'passed' : 'FAILED'}, ${Math.round(details.duration_ms / 100) / 10} s`,
        );
        if (unfinished.size === 0) {
          setTimeout(stopOpenProcesses, END_LIMIT_MS, interruption).unref();
        }
      }
    })
    .on('test:fail', () => {
      process.exitCode = 1;
    });
  const report = results.compose(spec);
  report.pipe(process.stdout);
  await once(report, 'end');
  // After an interruption, the killed test processes need a moment to end. The teardown cannot stop PostgreSQL while they are connected.
  await sleep(interruption.signal.aborted ? 1_000 : 0);
  await globalTeardown();
  // If a test calls `process.exit(0)`, its process ends early, but the test runner reports no failure. This code reports the files that
  // have not ended.
  if (unfinished.size > 0) {
    console.error(`\nThe process of these test files ended before their tests: ${[...unfinished].join(', ')}`);
    process.exitCode = 1;
  }
}

function isSystemTest(file: string): boolean {
  return file.endsWith('.system.test.ts');
}

/** `npm run check` runs these, because they read the repository and not the service. */
function isCheck(file: string): boolean {
  return ['test/tidy.test.ts', 'test/tidy/rules.test.ts'].includes(file);
}

/** Fails the run. Called if the run has not ended `END_LIMIT_MS` after the end of the last test, because then a test process still runs. */
function stopOpenProcesses(interruption: AbortController): void {
  console.error('A test process does not end, because a test has left a server, a connection or a timer open.');
  process.exitCode = 1;
  interruption.abort();
}

/**
 * Writes the module of each test process into the folder of the run, and returns the paths of the modules. Each module has all test files, but in a different order.
 * Before a process runs a file, it takes the file (scripts/test-process.ts), so that no other process runs this file too.
 */
async function writeModules(files: string[]): Promise<string[]> {
  const isWaiting = (file: string) => WAITING_FILES.includes(file);
  const rankOf = (file: string) => SLOW_PATHS.findIndex((start) => file.startsWith(start));
  const slow = files.filter((file) => rankOf(file) !== -1).sort((one, other) => rankOf(one) - rankOf(other));
  const busy = [...slow, ...files.filter((file) => rankOf(file) === -1)].filter((file) => !isWaiting(file));
  const waiting = files.filter(isWaiting);
  const folder = runFolder() ?? '';
  const claimsDir = join(folder, 'claims');
  await mkdir(claimsDir);
  return await Promise.all(
    Array.from({ length: Math.min(PROCESSES, files.length) }, async (_, index) => {
      const ordered = index === 0 ? [...waiting, ...busy] : [...busy, ...waiting];
      const path = join(folder, `${index}.test.mjs`);
      const program = [
        `import { runTestFiles } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'test-process.ts')).href)};`,
        `await runTestFiles(${JSON.stringify({ root: ROOT, files: ordered, claimsDir })});`,
      ];
      await writeFile(path, program.join('\n'));
      return path;
    }),
  );
}

await main();
