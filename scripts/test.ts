/**
 * Runs all test files, or only those that match the given patterns. Prints the result of each test, and the counts at the end.
 *
 *   npm test
 *   npm test -- 'src/hotel/rates/*.test.ts'
 *
 * Several test files share a process, because a new process uses 1.3 s of processor time until it has loaded and warmed up the service
 * (docs/decisions/0011-testing.md).
 */
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { globalSetup, globalTeardown } from '#test/support/global-setup.ts';

const ROOT = join(import.meta.dirname, '..');
const PATTERNS = ['src', 'tools', 'test', 'sdk/test', 'bench'].map((folder) => `${folder}/**/*.test.ts`);
/** Folder for the modules that this script writes. Each test process runs one module, which imports the test files of the process. */
const GROUPS_DIR = join(ROOT, 'node_modules/.cache/test-groups');
/**
 * Number of concurrent test processes. Three busy processes keep two cores busy, because a test also waits. With more busy processes, tests
 * with time limits fail. The fourth process runs the `WAITING_FILES`, which use little processor time.
 */
const PROCESSES = 4;
/**
 * Test files that wait for most of their time, because they prove real time limits such as grace times and leases. They share one process,
 * which starts first and runs beside the busy processes until nearly the end.
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
const FILES_PER_PROCESS = 12;
/**
 * Beginnings of the paths of test files that take long, with the number of files per process. These files start before all others.
 * Otherwise they would run at the end, when most other processes have ended and cores are idle.
 */
const SLOW_PATHS = [
  { start: 'test/browser/', filesPerProcess: 1 },
  { start: 'test/routing/', filesPerProcess: 1 },
  { start: 'test/fuzz/', filesPerProcess: 3 },
  { start: 'src/platform/http/redis', filesPerProcess: 6 },
  { start: 'src/service/cli/', filesPerProcess: 3 },
  { start: 'src/webhooks/deliveries/', filesPerProcess: 6 },
  { start: 'src/service/tenant-document/', filesPerProcess: 7 },
];

async function main(patterns: string[]): Promise<void> {
  const files = globSync(patterns.length > 0 ? patterns : PATTERNS, {
    cwd: ROOT,
    exclude: ['**/node_modules/**'],
  }).sort();
  if (files.length === 0) {
    throw new Error(`No test file matches ${patterns.join(' ')}.`);
  }
  const modules = await writeModules(makeGroups(files));
  await globalSetup();
  const unfinished = new Set(files);
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => interruption.abort());
  }
  const results = run({ files: modules, concurrency: PROCESSES, signal: interruption.signal })
    .on('test:pass', ({ name }) => unfinished.delete(name))
    .on('test:fail', ({ name }) => {
      unfinished.delete(name);
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

/** Divides the test files into groups. The files of a group run in one process, one after the other. Groups that take long come first. */
function makeGroups(files: string[]): string[][] {
  const waiting = WAITING_FILES.filter((file) => files.includes(file));
  const isSlow = (file: string) => SLOW_PATHS.some(({ start }) => file.startsWith(start));
  const busy = files.filter((file) => !waiting.includes(file));
  return [
    ...(waiting.length > 0 ? [waiting] : []),
    ...SLOW_PATHS.flatMap(({ start, filesPerProcess }) =>
      chunksOf(
        busy.filter((file) => file.startsWith(start)),
        filesPerProcess,
      ),
    ),
    ...chunksOf(
      busy.filter((file) => !isSlow(file)),
      FILES_PER_PROCESS,
    ),
  ];
}

function chunksOf<Item>(items: Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/**
 * Writes one module for each group of test files. The module imports each test file inside a suite, and the name of the suite is the path
 * of the file. Returns the paths of the modules.
 */
async function writeModules(groups: string[][]): Promise<string[]> {
  await rm(GROUPS_DIR, { recursive: true, force: true });
  await mkdir(GROUPS_DIR, { recursive: true });
  return await Promise.all(
    groups.map(async (group, index) => {
      const path = join(GROUPS_DIR, `${String(index).padStart(3, '0')}.test.mjs`);
      const suites = group.map((file) => {
        const url = pathToFileURL(join(ROOT, file)).href;
        return `describe(${JSON.stringify(file)}, async () => void (await import(${JSON.stringify(url)})));\n`;
      });
      await writeFile(path, `import { describe } from 'node:test';\n${suites.join('')}`);
      return path;
    }),
  );
}

await main(process.argv.slice(2));
