/**
 * Runs all test files, or only those that match the given patterns. Prints a line on stderr when a file has ended. Prints the result of each
 * test, and the counts at the end.
 *
 *   npm test
 *   npm test -- 'src/hotel/rates/*.test.ts'
 *
 * A few processes run all files. Each process takes the next file when its last one has ended, because a new process uses 1.3 s of
 * processor time until it has loaded and warmed up the service (docs/decisions/0011-testing.md).
 */
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { globalSetup, globalTeardown } from '#test/support/global-setup.ts';
import { runFolder } from '#test/support/run-folder.ts';

const ROOT = join(import.meta.dirname, '..');
const PATTERNS = ['src', 'tools', 'test', 'sdk/test', 'bench'].map((folder) => `${folder}/**/*.test.ts`);
/** Folder for the modules that this script writes. Each test process runs one of them. */
const MODULES_DIR = join(ROOT, 'node_modules/.cache/test-processes');
/**
 * Number of concurrent test processes. Three busy processes keep two cores busy, because a test also waits. With more busy processes, tests
 * with time limits fail. The fourth process begins with the `WAITING_FILES`, which use little processor time.
 */
const PROCESSES = 4;
/**
 * Test files that wait for most of their time, because they prove real time limits such as grace times and leases. One process runs them
 * before all other files.
 */
const WAITING_FILES = [
  'src/service/cli/keys.test.ts',
  'src/service/cli/kill.test.ts',
  'src/service/cli/listen-outages.test.ts',
  'src/service/cli/hung-writes.test.ts',
  'src/platform/http/silent-database.test.ts',
  'src/access/credentials/credentials.test.ts',
  'src/access/credentials/secrecy.test.ts',
  'src/service/tenant-document/users.test.ts',
  'src/webhooks/deliveries/delivery-worker.test.ts',
  'src/webhooks/deliveries/failing-receivers.test.ts',
  'src/webhooks/deliveries/scan-lease.test.ts',
];
/**
 * Beginnings of the paths of test files that take long. These files start before the others. Otherwise one of them could start last, and
 * run when the other processes have ended and a core is idle.
 */
const SLOW_PATHS = [
  'test/browser/',
  'src/service/cli/',
  'test/fuzz/',
  'src/platform/http/redis',
  'src/webhooks/deliveries/',
];

async function main(patterns: string[]): Promise<void> {
  const files = globSync(patterns.length > 0 ? patterns : PATTERNS, {
    cwd: ROOT,
    exclude: ['**/node_modules/**'],
  }).sort();
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
      // Each test file is a suite that has the name of the file.
      if (unfinished.delete(name)) {
        const done = `${files.length - unfinished.size} of ${files.length} files`;
        console.error(
          `${done}: ${name} ${details.passed ? 'passed' : 'FAILED'}, ${Math.round(details.duration_ms / 100) / 10} s`,
        );
      }
    })
    .on('test:fail', () => {
      process.exitCode = 1;
    });
  const report = results.compose(spec);
  report.pipe(process.stdout);
  await once(report, 'end');
  // After an interruption, the killed test processes take a moment to end. The wait is needed, because the teardown does not stop
  // PostgreSQL while a test process is connected.
  await sleep(interruption.signal.aborted ? 1_000 : 0);
  await globalTeardown();
  // If the code of a test ends the process with exit code 0, the test runner reports no failure, although tests are missing.
  if (unfinished.size > 0) {
    console.error(`\nThe process of these test files ended before their tests: ${[...unfinished].join(', ')}`);
    process.exitCode = 1;
  }
}

/**
 * Writes the module of each test process, and returns the paths of the modules. All modules take files from one list, so a file runs only
 * once. Only their orders differ.
 */
async function writeModules(files: string[]): Promise<string[]> {
  const isWaiting = (file: string) => WAITING_FILES.includes(file);
  const rankOf = (file: string) => SLOW_PATHS.findIndex((start) => file.startsWith(start));
  const slow = files.filter((file) => rankOf(file) !== -1).sort((one, other) => rankOf(one) - rankOf(other));
  const busy = [...slow, ...files.filter((file) => rankOf(file) === -1)].filter((file) => !isWaiting(file));
  const waiting = files.filter(isWaiting);
  const claimsDir = join(runFolder() ?? '', 'claims');
  await Promise.all([MODULES_DIR, claimsDir].map((folder) => mkdir(folder, { recursive: true })));
  return await Promise.all(
    Array.from({ length: Math.min(PROCESSES, files.length) }, async (_, index) => {
      const ordered = index === 0 ? [...waiting, ...busy] : [...busy, ...waiting];
      const path = join(MODULES_DIR, `${index}.test.mjs`);
      const program = [
        `import { runTestFiles } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'test-process.ts')).href)};`,
        `await runTestFiles(${JSON.stringify({ root: ROOT, files: ordered, claimsDir })});`,
      ];
      await writeFile(path, program.join('\n'));
      return path;
    }),
  );
}

await main(process.argv.slice(2));
