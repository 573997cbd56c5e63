import { appendFile, copyFile, mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp } from '../../../support/command.ts';
import { Closers } from '../closers.ts';
import type { Fault } from '../faults/fault.ts';
import { Findings } from '../findings.ts';
import { prove } from '../prove.ts';
import { Random } from '../random.ts';
import { checkResources, measureBaseline } from '../resources.ts';
import { endRun, runFault } from '../run.ts';
import { openWorld } from '../world.ts';
import { type ClusterWorld, startCluster } from './cluster.ts';
import { asynchronous, databaseFaults } from './faults/database.ts';
import { processFaults } from './faults/processes.ts';
import { redisFaults } from './faults/redis.ts';
import { missingPackages } from './programs.ts';
import { type RoundResult, tableOf, violationsIn } from './table.ts';

/**
 * All faults of the family `cluster`. The suite runs in rounds. In each round, it starts a new cluster and causes the faults in this order.
 */
const FAULTS: readonly Fault<ClusterWorld>[] = [...processFaults, ...databaseFaults, ...redisFaults];
/**
 * Name that stands in the results in place of the name of a fault. After the last fault of a round, the suite checks all guarantees again.
 * If only this last check finds a broken guarantee, the suite adds a result with this name.
 */
const END = 'end-of-round';
const WARM_UP_MS = 5_000;

interface ClusterOptions {
  isShort: boolean;
  /**
   * Names of the faults to cause. Undefined: all faults, but in a short run only the faults that are marked for short runs
   * (`Fault.isShort`).
   */
  only: string[] | undefined;
  rounds: number;
  seed: number;
  /** If true, the run does not test the service. It damages data on purpose, and proves that the invariants find the damage. */
  isProof: boolean;
  /**
   * File to which each result is appended, or undefined for no file. A run skips the faults whose results are already in the file. The
   * table at the end shows all results of the file.
   */
  results: string | undefined;
  print: (line: string) => void;
}

/**
 * Starts a new cluster for each round, and causes the faults in it.
 * @returns the exit code
 */
export async function runClusterFamily(options: ClusterOptions): Promise<number> {
  const { print, results: file } = options;
  const missing = missingPackages();
  if (missing.length > 0) {
    print(`skipped: these packages of Debian are not installed: ${missing.join(', ')}`);
    return process.env['CI'] === 'true' ? 1 : 0;
  }
  if (options.isProof) {
    return await inNewWorld(options, 1, async (world) => {
      const exitCode = await prove(world);
      return (await proveLoss(world)) ? exitCode : 1;
    });
  }
  const faults = choose(options);
  const results = file === undefined ? [] : await readResults(file);
  const keep = async (result: RoundResult) => {
    results.push(result);
    if (file !== undefined) {
      await appendFile(file, `${JSON.stringify(result)}\n`);
    }
  };
  for (let round = 1; round <= options.rounds; round += 1) {
    const left = faults.filter(({ name }) => !results.some((known) => known.fault === name && known.round === round));
    if (left.length > 0) {
      await inNewWorld(options, round, (world) => runRound(world, { left, round, keep, print }));
    }
  }
  const broken = results.filter(({ violations }) => violations.length > 0);
  process.stdout.write(`\n${tableOf(results)}\n${violationsIn(broken)}\n`);
  return broken.length === 0 ? 0 : 1;
}

/**
 * Proves that the suite finds lost writes. For this, the cluster replicates asynchronously and loses acknowledged writes. The suite then
 * also reports other broken guarantees, because the clients and receivers know orders and events that the database has lost.
 * @returns true if the suite found lost writes
 */
async function proveLoss(world: ClusterWorld): Promise<boolean> {
  const { lost } = await runFault(world, asynchronous);
  world.findings.note(
    `${lost > 0 ? 'found ' : 'MISSED'} ${lost} lost writes of a cluster with asynchronous replication`,
  );
  return lost > 0;
}

function choose({ only, isShort }: ClusterOptions): Fault<ClusterWorld>[] {
  const unknown = only?.filter((name) => !FAULTS.some((fault) => fault.name === name)) ?? [];
  if (unknown.length > 0) {
    const names = FAULTS.map(({ name }) => name).join(', ');
    throw new Error(`Unknown fault: ${unknown.join(', ')}. The faults of the family cluster are: ${names}.`);
  }
  return FAULTS.filter((fault) => only?.includes(fault.name) ?? (!isShort || fault.isShort));
}

async function inNewWorld<Result>(
  { seed, print }: ClusterOptions,
  round: number,
  work: (world: ClusterWorld) => Promise<Result>,
): Promise<Result> {
  const findings = new Findings(print);
  const closers = new Closers();
  const interrupted = () => void closers.close().then(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  closers.add(cleanUp);
  try {
    print(`round ${round}: starts the cluster`);
    const parts = { random: new Random(seed + round), findings, closers };
    const world = await openWorld(parts, startCluster);
    world.load.go();
    await sleep(WARM_UP_MS);
    return await work(world);
  } finally {
    await closers.close();
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
  }
}

interface Round {
  left: Fault<ClusterWorld>[];
  round: number;
  keep: (result: RoundResult) => Promise<void>;
  print: (line: string) => void;
}

async function runRound(world: ClusterWorld, { left, round, keep, print }: Round): Promise<void> {
  const { findings } = world;
  const violationsOf = (fault: string) => findings.violations.get(fault) ?? [];
  const baseline = await measureBaseline(world);
  for (const fault of left) {
    print(`${fault.name} (round ${round})`);
    findings.beginFault(fault.name);
    const { acknowledged, lost, unsettled, longestGapMs } = await runFault(world, fault);
    const gap = (longestGapMs / 1000).toFixed(1);
    print(`    ${acknowledged} acknowledged, ${lost} lost, longest gap ${gap} s, ${unsettled} calls not settled`);
    const counts = { acknowledged, lost, unsettled, longestGapMs };
    await keep({ fault: fault.name, round, ...counts, violations: violationsOf(fault.name) });
  }
  print(`the end of round ${round}: waits until every delivery has ended`);
  findings.beginFault(END);
  await endRun(world, true);
  await checkResources(world, baseline);
  const violations = violationsOf(END);
  if (findings.count > 0) {
    await keepLogs(world);
  }
  if (violations.length > 0) {
    await keep({ fault: END, round, acknowledged: 0, lost: 0, unsettled: 0, longestGapMs: 0, violations });
  }
}

/** Copies the logs of the servers to a folder that is not removed after the run. */
async function keepLogs({ serverFolder, findings }: ClusterWorld): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roomservice-cluster-logs-'));
  const logs = (await readdir(serverFolder)).filter((name) => name.endsWith('.log'));
  await Promise.all(logs.map((name) => copyFile(join(serverFolder, name), join(folder, name))));
  findings.note(`The logs of the servers are in ${folder}`);
}

async function readResults(file: string): Promise<RoundResult[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RoundResult);
}
