/**
 * Checks that the tests notice bugs. Puts one bug at a time into a copy of the project, and runs the test files that must then fail.
 *
 *   npm run test:planted                                   plants every bug
 *   npm run test:planted -- --only "event after commit"    plants only the bug with this name
 */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bug } from './bugs/bug.ts';
import { BUGS } from './bugs.ts';

const REPOSITORY = join(import.meta.dirname, '../..');
const COPIED = ['bin', 'contract', 'demo', 'examples', 'migrations', 'src', 'test', 'package.json', 'tsconfig.json'];
const TIMEOUT_MS = 240_000;

interface Run {
  isGreen: boolean;
  /** Names of the failed tests. */
  failures: string[];
}

async function main(): Promise<void> {
  const { only } = parseArgs({ options: { only: { type: 'string', multiple: true } } }).values;
  const bugs = BUGS.filter(({ name }) => only === undefined || only.includes(name));
  if (bugs.length === 0) {
    throw new Error(`No bug has this name. The names are: ${BUGS.map(({ name }) => name).join(', ')}`);
  }
  const suites = Array.from(new Set(bugs.flatMap((bug) => bug.suites)));
  console.log('without a planted bug');
  const untouched = await inCopy(null, suites);
  report(untouched.isGreen, untouched.isGreen ? 'green' : `red: ${untouched.failures.join('; ')}`);
  let isEveryOneFound = untouched.isGreen;
  for (const bug of bugs) {
    console.log(`${bug.name}: ${bug.harm}`);
    const { isGreen, failures } = await inCopy(bug, bug.suites);
    report(
      failures.length > 0,
      isGreen ? 'no test noticed the bug' : `red: ${failures.join('; ') || 'the run failed, but no test failed'}`,
    );
    isEveryOneFound &&= failures.length > 0;
  }
  process.exitCode = isEveryOneFound ? 0 : 1;
}

function report(isGood: boolean, text: string): void {
  console.log(`  ${isGood ? 'ok    ' : 'FAILED'} ${text}`);
}

/** Runs test files in a new copy of the project that has the bug. If `bug` is null, the copy is unchanged. */
async function inCopy(bug: Bug | null, suites: string[]): Promise<Run> {
  const copy = await mkdtemp(join(tmpdir(), 'roomservice-planted-'));
  try {
    for (const name of COPIED) {
      await cp(join(REPOSITORY, name), join(copy, name), { recursive: true });
    }
    await symlink(join(REPOSITORY, 'node_modules'), join(copy, 'node_modules'));
    await plant(copy, bug);
    return await run(copy, suites);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function plant(copy: string, bug: Bug | null): Promise<void> {
  for (const { file, find, replace } of bug?.edits ?? []) {
    const path = join(copy, file);
    const [before, after, ...more] = (await readFile(path, 'utf8')).split(find);
    if (before === undefined || after === undefined || more.length > 0) {
      throw new Error(
        `The bug "${bug?.name}" cannot be planted, because this text does not occur exactly once in ${file}: ${find}`,
      );
    }
    await writeFile(path, before + replace + after);
  }
}

async function run(directory: string, suites: string[]): Promise<Run> {
  const child = spawn(process.execPath, ['--test', '--test-reporter=tap', ...suites], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: TIMEOUT_MS,
  });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  const names = Array.from(
    Buffer.concat(output)
      .toString()
      .matchAll(/^\s*not ok \d+ - (.*)$/gm),
    ([, name = '']) => name,
  );
  return { isGreen: code === 0, failures: Array.from(new Set(names)) };
}

await main();
