/**
 * The fault suite. Two API processes and two workers of the service serve clients that call all the time, and fifty webhook receivers. The
 * suite causes one fault after another, and checks every guarantee after each.
 *
 *   node test/suites/faults/faults.ts [--family FAMILY] [--short] [--only NAME]… [--prove]
 *
 * A family is a group of tests:
 * - `surroundings` is the default. The service uses one PostgreSQL.
 * - `cluster`: the service uses PostgreSQL under Patroni, behind PgBouncer and HAProxy, and the faults disturb these servers.
 * - `budget` causes no faults. In each of its cases, one tenant makes as many expensive calls as its budget allows, and the suite measures
 *   the calls of another tenant.
 *
 * With `--prove`, the suite does not test the service. It damages data on purpose, to prove that its checks find the damage.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cleanUp } from '../../support/command.ts';
import { CASES } from './budget/cases.ts';
import { runBudgets } from './budget/run.ts';
import { startCluster } from './cluster/cluster.ts';
import { CLUSTER_FAULTS, proveCluster, runCluster } from './cluster/family.ts';
import { missingPackages } from './cluster/server.ts';
import { callerFaults } from './faults/callers.ts';
import { databaseFaults } from './faults/database.ts';
import { processFaults } from './faults/processes.ts';
import { receiverFaults } from './faults/receivers.ts';
import { Findings } from './findings.ts';
import { openWorld, type Stage } from './open-world.ts';
import { prove } from './prove.ts';
import { runFaults } from './run.ts';
import { startSurroundings } from './surroundings.ts';
import type { Fault, Machines, World } from './world.ts';

const WARM_UP_MS = 6_000;
/** Faults of receivers come first, so that all five attempts of deliveries to a hanging receiver end before the last fault. */
const FAULTS = [...receiverFaults, ...processFaults, ...databaseFaults, ...callerFaults];

const { values } = parseArgs({
  options: {
    family: { type: 'string', default: 'surroundings' },
    short: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    prove: { type: 'boolean', default: false },
  },
});
const { short: isShort, only, prove: isProof } = values;

const FAMILIES: Record<string, (closers: AsyncDisposableStack) => Promise<boolean>> = {
  async surroundings(closers) {
    const faults = chosenFaults(FAULTS);
    const world = await startLoad(startSurroundings, closers);
    const budgets = world.redis ? 'shared in Redis' : 'checked for each process, because no redis-server is on PATH';
    print(`Budgets are ${budgets}.`);
    return isProof ? await prove(world) : await runFaults(world, faults, isShort);
  },
  async cluster(closers) {
    const missing = missingPackages();
    if (missing.length > 0) {
      print(`skipped: these packages of Debian are not installed: ${missing.join(', ')}`);
      return process.env['CI'] !== 'true';
    }
    const faults = chosenFaults(CLUSTER_FAULTS);
    const world = await startLoad(startCluster, closers);
    return isProof ? await proveCluster(world) : await runCluster(world, faults, isShort);
  },
  budget: async (closers) =>
    await runBudgets(
      choose(CASES, () => true),
      { closers, isShort, print },
    ),
};

function chosenFaults<In extends World>(faults: readonly Fault<In>[]): Fault<In>[] {
  return choose(faults, ({ isShort: isInShort = false }) => isInShort || !isShort);
}

/** Returns the faults or cases of `--only`. Without this option, returns those for which `isIncluded` is true. */
function choose<T extends { name: string }>(all: readonly T[], isIncluded: (each: T) => boolean): T[] {
  const names = all.map(({ name }) => name);
  const unknown = only?.filter((name) => !names.includes(name)) ?? [];
  if (unknown.length > 0) {
    throw new Error(`Unknown: ${unknown.join(', ')}. The names in this family are: ${names.join(', ')}.`);
  }
  return all.filter((each) => only?.includes(each.name) ?? isIncluded(each));
}

async function startLoad<Started extends Machines>(
  start: (stage: Stage) => Promise<Started>,
  closers: AsyncDisposableStack,
): Promise<World & Started> {
  const world = await openWorld({ findings: new Findings(print), closers }, start);
  world.load.go();
  await sleep(WARM_UP_MS);
  return world;
}

function print(line: string): void {
  const seconds = (performance.now() / 1000).toFixed(0).padStart(4);
  process.stdout.write(`${seconds} s  ${line}\n`);
}

const run = FAMILIES[values.family];
if (run === undefined) {
  throw new Error(`Unknown family: ${values.family}. The families are: ${Object.keys(FAMILIES).join(', ')}.`);
}
const closers = new AsyncDisposableStack();
closers.defer(cleanUp);
let closing: Promise<void> | undefined;
const close = () => (closing ??= closers.disposeAsync());
const end = (reason: unknown) => {
  console.error(reason);
  void close().finally(() => process.exit(1));
};
process.on('SIGINT', end).on('SIGTERM', end).on('uncaughtException', end);
process.exitCode = (await run(closers)) ? 0 : 1;
await close();
