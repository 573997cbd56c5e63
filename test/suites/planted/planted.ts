/**
 * Checks that the tests notice bugs. Puts one bug at a time into a copy of the project, and runs the test files that must then fail. Two
 * copies are tested at the same time. All tests use one PostgreSQL, and the first test that fails ends the run of its copy.
 *
 *   npm run test:planted                                   plants every bug
 *   npm run test:planted -- --only "event after commit"    plants only the bug with this name
 */
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { parseArgs } from 'node:util';
import { openTestServer } from '../../support/database.ts';
import { globalSetup, globalTeardown } from '../../support/global-setup.ts';
import type { Bug } from './bugs/bug.ts';
import { BUGS } from './bugs.ts';

const REPOSITORY = join(import.meta.dirname, '../../..');
const COPIED = ['bin', 'contract', 'examples', 'migrations', 'src', 'test', 'package.json', 'tsconfig.json'];
/** Time limit of the test files of one bug. */
const TIMEOUT_MS = 240_000;
/** Time limit of all these test files without a bug. */
const TIMEOUT_OF_ALL_MS = 1_800_000;

/** Puts back the files of a copy as they were before the bug. */
type Undo = () => Promise<void>;

async function main(): Promise<void> {
  const { only } = parseArgs({ options: { only: { type: 'string', multiple: true } } }).values;
  const bugs = BUGS.filter(({ name }) => only === undefined || only.includes(name));
  if (bugs.length === 0) {
    throw new Error(`No bug has this name. The names are: ${BUGS.map(({ name }) => name).join(', ')}`);
  }
  await globalSetup();
  // Each test file finds the template database of its own migrations, because a bug may change a migration.
  process.env['TEST_DATABASE_URL'] = (await openTestServer()).url;
  delete process.env['TEST_SERVER'];
  const copies = [await copyRepository(), await copyRepository()] as const;
  const suites = Array.from(new Set(bugs.flatMap((bug) => bug.suites)));
  const failure = await firstFailure(copies[0], suites, TIMEOUT_OF_ALL_MS);
  report(failure === null, 'without a planted bug', failure ?? 'green');
  const queue = bugs.values();
  await Promise.all(copies.map((copy) => plantEach(copy, queue)));
  await globalTeardown();
}

/** Returns the path of a new copy of the project, which is removed with the folder of the run. */
async function copyRepository(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'planted-'));
  await Promise.all(COPIED.map((name) => cp(join(REPOSITORY, name), join(copy, name), { recursive: true })));
  await symlink(join(REPOSITORY, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Plants one bug after the other in the copy. Takes the next bug from the queue, which all copies share. */
async function plantEach(copy: string, queue: Iterable<Bug>): Promise<void> {
  for (const bug of queue) {
    const title = `${bug.name}: ${bug.harm}`;
    const undo = await plant(copy, bug);
    if (typeof undo === 'string') {
      report(false, title, undo);
    } else {
      const failure = await firstFailure(copy, bug.suites, TIMEOUT_MS);
      report(failure !== null, title, failure === null ? 'no test noticed the bug' : `red: ${failure}`);
      await undo();
    }
  }
}

/** Plants a bug, and returns the function that removes it. If the code has changed, returns a text that says so. */
async function plant(copy: string, { edits }: Bug): Promise<Undo | string> {
  const originals = new Map<string, string>();
  const changed = new Map<string, string>();
  for (const { file, find, replace } of edits) {
    const path = join(copy, file);
    const text = changed.get(path) ?? (await readFile(path, 'utf8').catch(() => ''));
    const [before, after, ...more] = text.split(find);
    if (before === undefined || after === undefined || more.length > 0) {
      return `cannot be planted, because this text does not occur exactly once in ${file}: ${find}`;
    }
    originals.set(path, originals.get(path) ?? text);
    changed.set(path, before + replace + after);
  }
  const writeAll = async (texts: Map<string, string>) => {
    await Promise.all(Array.from(texts, ([path, text]) => writeFile(path, text)));
  };
  await writeAll(changed);
  return () => writeAll(originals);
}

/** Runs test files in the copy until a test fails. Returns the name of this test, or null if all tests succeed. */
async function firstFailure(copy: string, suites: string[], timeoutMs: number): Promise<string | null> {
  const ended = new AbortController();
  const timeout = setTimeout(() => ended.abort(), timeoutMs);
  let failure: string | null = null;
  const events = run({ files: suites, cwd: copy, signal: ended.signal });
  events.on('test:fail', ({ name }) => {
    failure ??= ended.signal.aborted ? `the tests have not ended after ${timeoutMs / 1000} s` : name;
    ended.abort();
  });
  await events.toArray();
  clearTimeout(timeout);
  return failure;
}

function report(isGood: boolean, title: string, result: string): void {
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${title}\n         ${result}`);
  if (!isGood) {
    process.exitCode = 1;
  }
}

await main();
