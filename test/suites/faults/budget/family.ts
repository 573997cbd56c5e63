import { type BudgetCase, CASES } from './cases.ts';
import { FULL_LENGTHS, runCase, SHORT_LENGTHS } from './run.ts';
import { openStage, type Stage } from './stage.ts';
import { tableOf } from './table.ts';
import { breaches, FULL, type Measured, SHORT } from './verdict.ts';

interface BudgetOptions {
  isShort: boolean;
  /** Names of the cases to run. Undefined: all cases. */
  only: string[] | undefined;
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
  const cases = choose(options.only);
  const { print, isShort } = options;
  const goals = isShort ? SHORT : FULL;
  print(`A tenant uses its whole budget: ${cases.length} cases`);
  const measured: Measured[] = [];
  const stage = await openStage();
  const interrupted = () => void stage.closers.close().then(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    for (const each of cases) {
      try {
        measured.push(await measure(stage, each, options));
      } catch (error) {
        print(`${each.name}: the case could not run: ${error instanceof Error ? error.stack : String(error)}`);
      }
    }
  } finally {
    await stage.closers.close();
  }
  process.stdout.write(`\n${tableOf(measured, goals)}\n\n`);
  const broken = measured.filter((each) => breaches(each, goals).length > 0);
  for (const each of broken) {
    process.stdout.write(`${each.name} (${each.what}): ${breaches(each, goals).join('; ')}\n`);
    process.stdout.write(`  npm run test:faults -- --family budget --only ${each.name}\n`);
  }
  const unmade = cases.length - measured.length;
  process.stdout.write(`${broken.length} of ${measured.length} cases break a promise, ${unmade} could not run\n`);
  return broken.length + unmade;
}

function choose(only: string[] | undefined): BudgetCase[] {
  const unknown = only?.filter((name) => !CASES.some((each) => each.name === name)) ?? [];
  if (unknown.length > 0) {
    throw new Error(`Unknown case: ${unknown.join(', ')}. The cases are: ${CASES.map(({ name }) => name).join(', ')}.`);
  }
  return CASES.filter(({ name }) => only?.includes(name) ?? true);
}

/** Measures a case until its results break no guarantee, at most `tries` times. Returns the last measurement. */
async function measure(stage: Stage, each: BudgetCase, { isShort, tries, print }: BudgetOptions): Promise<Measured> {
  const [lengths, goals] = isShort ? [SHORT_LENGTHS, SHORT] : [FULL_LENGTHS, FULL];
  for (let tried = 1; ; tried += 1) {
    const measured = await runCase(stage, each, lengths);
    const broken = breaches(measured, goals);
    print(`${each.name}: ${broken.length === 0 ? 'no promise is broken' : broken.join('; ')}`);
    if (broken.length === 0 || tried >= tries) {
      return measured;
    }
  }
}
