/**
 * The fault suite. It runs two API processes and two workers of the service on one PostgreSQL, with fifty webhook receivers and with
 * clients that call the service all the time. It causes one fault after another. After each fault, it checks every guarantee.
 *
 *   node test/suites/faults/faults.ts [--short] [--rounds N] [--only FAULT]… [--seed N] [--prove]
 *
 * The option `--family` chooses another group of tests, called a family. The family `budget` causes no faults, but has nine cases. In
 * each case, one tenant makes as many expensive calls in a minute as its budget allows. The suite measures the calls of another tenant, and
 * the memory of the service. If a case breaks a guarantee, the suite runs the case again, at most `--tries` times in all.
 *
 *   node test/suites/faults/faults.ts --family budget [--short] [--only CASE]… [--tries N]
 *
 * In the family `cluster`, the service runs on PostgreSQL under Patroni, behind PgBouncer and HAProxy. The faults disturb these servers.
 *
 *   node test/suites/faults/faults.ts --family cluster [--short] [--rounds N] [--only FAULT]… [--results FILE] [--seed N] [--prove]
 *
 * With `--prove`, the suite does not test the service. It damages data on purpose, to prove that its checks find the damage.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cleanUp } from '../../support/command.ts';
import { runBudgetFamily } from './budget/family.ts';
import { runClusterFamily } from './cluster/family.ts';
import { FAULTS } from './faults/all.ts';
import { Closers } from './closers.ts';
import type { Fault } from './faults/fault.ts';
import { Findings } from './findings.ts';
import { prove } from './prove.ts';
import { Random } from './random.ts';
import { type FaultResult, report } from './report.ts';
import { checkResources, measureBaseline } from './resources.ts';
import { endRun, runFault } from './run.ts';
import { startSurroundings, type SurroundingsWorld } from './surroundings.ts';
import { openWorld } from './world.ts';

const WARM_UP_MS = 6_000;

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    prove: { type: 'boolean', default: false },
    family: { type: 'string', default: 'surroundings' },
    results: { type: 'string' },
    tries: { type: 'string', default: '2' },
  },
});
const beganAtMs = performance.now();

function print(line: string): void {
  const seconds = ((performance.now() - beganAtMs) / 1000).toFixed(0).padStart(4);
  process.stdout.write(`${seconds} s  ${line}\n`);
}

function chosenFaults(): Fault<SurroundingsWorld>[] {
  const unknown = values.only?.filter((name) => !FAULTS.some((fault) => fault.name === name)) ?? [];
  if (unknown.length > 0) {
    throw new Error(
      `Unknown fault: ${unknown.join(', ')}. The faults are: ${FAULTS.map(({ name }) => name).join(', ')}.`,
    );
  }
  if (values.only !== undefined) {
    return FAULTS.filter(({ name }) => values.only?.includes(name));
  }
  return FAULTS.filter(({ isShort }) => isShort || !values.short);
}

async function main(): Promise<number> {
  const faults = chosenFaults();
  const findings = new Findings(print);
  print(`Seed ${values.seed}, ${faults.length} faults, ${values.rounds} rounds`);
  const closers = new Closers();
  closers.add(cleanUp);
  const interrupted = () => void closers.close().then(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    const world = await openWorld({ random: new Random(Number(values.seed)), findings, closers }, startSurroundings);
    print(
      world.redis
        ? 'Budgets are shared in Redis.'
        : 'No redis-server is on PATH, so budgets are checked for each process.',
    );
    world.load.go();
    await sleep(WARM_UP_MS);
    if (values.prove) {
      return await prove(world);
    }
    const results = await runRounds(world, faults);
    process.stdout.write(`\n${report(results, findings)}\n`);
    return findings.count === 0 ? 0 : 1;
  } finally {
    await closers.close();
  }
}

async function runRounds(world: SurroundingsWorld, faults: Fault<SurroundingsWorld>[]): Promise<FaultResult[]> {
  const { findings } = world;
  const baseline = await measureBaseline(world);
  const results = new Map<string, FaultResult>();
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    for (const fault of faults) {
      const reasonToSkip = fault.reasonToSkip?.(world) ?? null;
      if (reasonToSkip !== null) {
        print(`${fault.name}: skipped, because ${reasonToSkip}`);
        findings.skipped.set(fault.name, reasonToSkip);
        continue;
      }
      print(`${fault.name} (round ${round})`);
      findings.beginFault(fault.name);
      const result = await runFault(world, fault);
      print(`    ${result.requests} requests, ${result.events} events, p99 ${result.p99Ms} ms`);
      results.set(fault.name, add(results.get(fault.name), result));
    }
  }
  findings.beginFault('the end');
  print('the end: waits until every delivery has ended');
  await endRun(world, values.short);
  await checkResources(world, baseline);
  return [...results.values()];
}

function add(sum: FaultResult | undefined, result: FaultResult): FaultResult {
  if (sum === undefined) {
    return result;
  }
  return {
    fault: sum.fault,
    rounds: sum.rounds + 1,
    requests: sum.requests + result.requests,
    unknown: sum.unknown + result.unknown,
    events: sum.events + result.events,
    interrupted: sum.interrupted + result.interrupted,
    p99Ms: Math.max(sum.p99Ms, result.p99Ms),
    slowestMs: Math.max(sum.slowestMs, result.slowestMs),
    longestGapMs: Math.max(sum.longestGapMs, result.longestGapMs),
    acknowledged: sum.acknowledged + result.acknowledged,
    lost: sum.lost + result.lost,
    unsettled: sum.unsettled + result.unsettled,
  };
}

const FAMILIES: Record<string, () => Promise<number>> = {
  surroundings: main,
  async budget() {
    const { short: isShort, only, tries } = values;
    return (await runBudgetFamily({ isShort, only, tries: Number(tries), print })) === 0 ? 0 : 1;
  },
  async cluster() {
    const { short: isShort, only, results, rounds, seed, prove: isProof } = values;
    return await runClusterFamily({
      isShort,
      only,
      results,
      rounds: Number(rounds),
      seed: Number(seed),
      isProof,
      print,
    });
  },
};
const family = FAMILIES[values.family];
if (family === undefined) {
  throw new Error(`Unknown family: ${values.family}. The families are: ${Object.keys(FAMILIES).join(', ')}.`);
}
process.exitCode = await family();
