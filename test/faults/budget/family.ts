import { appendFile, readFile } from 'node:fs/promises';
import type { BudgetCase } from './case.ts';
import { generatedCases } from './generated.ts';
import { readingCases } from './reading.ts';
import { FULL_LENGTHS, runCase, SHORT_LENGTHS } from './run.ts';
import { openStage, type Stage } from './stage.ts';
import { tableOf } from './table.ts';
import { breaches, FULL, type Measured, SHORT } from './verdict.ts';
import { writingCases } from './writing.ts';

export interface BudgetOptions {
  isShort: boolean;
  /** Names of the cases to run. Undefined: all cases, or the short cases if `isShort` is true. */
  only: string[] | undefined;
  /**
   * File to which each measurement is appended, or undefined for no file. A run skips the cases whose measurements are already in the file.
   */
  results: string | undefined;
  /**
   * Maximum number of measurements of one case. The suite measures a case again if the results break a guarantee. A busy machine may cause
   * one bad measurement, but a fault of the service makes every measurement bad.
   */
  tries: number;
  print: (line: string) => void;
}

/**
 * Runs the test cases in which one tenant uses its whole budget of calls.
 * @returns the number of cases that break a guarantee or could not run
 */
export async function runBudgetFamily(options: BudgetOptions): Promise<number> {
  const cases = choose([...writingCases, ...readingCases, ...(await generatedCases())], options);
  const { results: file, print, isShort } = options;
  const measured = file === undefined ? [] : await readResults(file);
  const left = cases.filter(({ name }) => !measured.some((known) => known.name === name));
  const goals = isShort ? SHORT : FULL;
  print(`A tenant uses its whole budget: ${cases.length} cases, ${left.length} of them still to run`);
  let unmade = 0;
  const stage = await openStage();
  const interrupted = () => void stage.close().then(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    for (const each of left) {
      try {
        const result = await measure(stage, each, options);
        measured.push(result);
        await keep(file, result);
      } catch (error) {
        print(`${each.name}: the case could not run: ${error instanceof Error ? error.stack : String(error)}`);
        unmade += 1;
      }
    }
  } finally {
    await stage.close();
  }
  process.stdout.write(`\n${tableOf(measured, goals)}\n\n`);
  const broken = measured.filter((each) => breaches(each, goals).length > 0);
  for (const each of broken) {
    process.stdout.write(`${each.name} (${each.what}): ${breaches(each, goals).join('; ')}\n`);
    process.stdout.write(`  npm run test:faults -- --family budget --only ${each.name}\n`);
  }
  process.stdout.write(`${broken.length} of ${measured.length} cases break a promise, ${unmade} could not run\n`);
  return broken.length + unmade;
}

async function keep(file: string | undefined, result: Measured): Promise<void> {
  if (file !== undefined) {
    await appendFile(file, `${JSON.stringify(result)}\n`);
  }
}

function choose(all: BudgetCase[], { only, isShort }: BudgetOptions): BudgetCase[] {
  const unknown = only?.filter((name) => !all.some((each) => each.name === name)) ?? [];
  if (unknown.length > 0) {
    throw new Error(`Unknown case: ${unknown.join(', ')}. The cases are: ${all.map(({ name }) => name).join(', ')}.`);
  }
  return all.filter((each) => (only === undefined ? each.isShort || !isShort : only.includes(each.name)));
}

/**
 * Measures a case until its results break no guarantee, at most `tries` times.
 * @returns the measurement that breaks the fewest guarantees
 */
async function measure(stage: Stage, each: BudgetCase, { isShort, tries, print }: BudgetOptions): Promise<Measured> {
  const [lengths, goals] = isShort ? [SHORT_LENGTHS, SHORT] : [FULL_LENGTHS, FULL];
  let best: Measured | null = null;
  for (let tried = 0; tried < tries; tried += 1) {
    const measured = await runCase(stage, each, lengths);
    const broken = breaches(measured, goals);
    print(`${each.name}: ${broken.length === 0 ? 'no promise is broken' : broken.join('; ')}`);
    if (best === null || broken.length < breaches(best, goals).length) {
      best = measured;
    }
    if (broken.length === 0) {
      break;
    }
  }
  return best as Measured;
}

async function readResults(file: string): Promise<Measured[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Measured);
}
