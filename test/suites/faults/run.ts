import { setTimeout as sleep } from 'node:timers/promises';
import { oldSecretsAreRefused, budgetsHold } from './invariants/admission.ts';
import { allIsQuiet, tenantsStayApart } from './invariants/aftermath.ts';
import { healthyAreServed, measurePromptness, waitsAreDrawn } from './invariants/delays.ts';
import { countOverdue, deliveriesEnd, postsAreRight } from './invariants/deliveries.ts';
import { eventsTellOfChanges, feedIsWhole } from './invariants/events.ts';
import { type Evidence, gather, type Invariant } from './invariants/invariant.ts';
import { noOversell } from './invariants/nights.ts';
import { nothingIsLost, onceOnly } from './invariants/records.ts';
import { checkResources, measureBaseline } from './resources.ts';
import { type Fault, waitUntil, type World } from './world.ts';

const INVARIANTS: readonly Invariant[] = [
  nothingIsLost,
  onceOnly,
  noOversell,
  eventsTellOfChanges,
  feedIsWhole,
  postsAreRight,
  deliveriesEnd,
  waitsAreDrawn,
  healthyAreServed,
  oldSecretsAreRefused,
  budgetsHold,
  tenantsStayApart,
  allIsQuiet,
];

const LOAD_BEFORE_MS = 2_000;
const LOAD_AFTER_MS = 2_000;
const REST_WITHIN_MS = 90_000;
/** Maximum wait for overdue deliveries. That of a killed worker waits until its lease ends, and then for its next attempt. */
const DELIVERED_WITHIN_MS = 30_000;
/** Maximum wait for the end of all deliveries. A hanging receiver gets five attempts, and each also waits for a place. */
const ENDED_WITHIN_MS = 240_000;

/**
 * Causes the faults one after the other, and checks all guarantees after each of them and at the end.
 * @returns true if no guarantee is broken
 */
export async function runFaults<In extends World>(
  world: In,
  faults: readonly Fault<In>[],
  isShort: boolean,
): Promise<boolean> {
  const { findings } = world;
  const baseline = await measureBaseline(world);
  const results: Record<string, FaultResult> = {};
  for (const fault of faults) {
    const reason = fault.reasonToSkip?.(world) ?? null;
    if (reason === null) {
      results[fault.name] = await runFault(world, fault);
    } else {
      findings.skipped.push(`skipped: ${fault.name}: ${reason}`);
    }
  }
  findings.beginFault('the end');
  await endRun(world, isShort);
  await checkResources(world, baseline);
  console.table(results);
  const violations = findings.violations.map(
    ({ fault, promise, what }) => `VIOLATION in ${fault}, of ${promise}: ${what}`,
  );
  console.log([...findings.skipped, ...violations, `${violations.length} violations`].join('\n'));
  return violations.length === 0;
}

type FaultResult = Awaited<ReturnType<typeof runFault>>;

/**
 * Starts the simulated clients (the load), causes the fault, and pauses the clients some time after the fault. Then checks every invariant.
 * @returns the counts for the report. `p99Ms` leaves out time without a database and interrupted deliveries, and `slowestMs` nothing
 */
export async function runFault<In extends World>(world: In, fault: Fault<In>) {
  const { history, load, findings } = world;
  findings.beginFault(fault.name);
  const requestsBefore = history.requests;
  const unknownBefore = history.tries.unknown;
  const acknowledgedBefore = history.acknowledgedAtMs.length;
  const { interruptsDeliveries = false } = fault;
  const window = { fromMs: Date.now(), creationsBefore: history.creations.length, interruptsDeliveries, isLast: false };
  const beganAtMs = performance.now();
  load.go();
  await sleep(LOAD_BEFORE_MS);
  try {
    await fault.strike(world);
  } catch (error) {
    const seen = error instanceof Error ? error.stack : String(error);
    findings.violation('suite', `the suite could not cause the fault: ${seen}`);
  } finally {
    await fault.heal?.(world);
  }
  await sleep(LOAD_AFTER_MS);
  const acknowledgedAtMs = history.acknowledgedAtMs.slice(acknowledgedBefore);
  const longestGapMs = longestGap([beganAtMs, ...acknowledgedAtMs, performance.now()]);
  await rest(world);
  const counts = {
    requests: history.requests - requestsBefore,
    unknown: history.tries.unknown - unknownBefore,
    acknowledged: history.acknowledgedAtMs.length - acknowledgedBefore,
    longestGapMs,
    unsettled: history.unsettled.length,
  };
  const evidence = await gather(world, window);
  const lost = await checkInvariants(world, evidence);
  const violations = findings.violations.filter(({ fault: name }) => name === fault.name).length;
  const { faults: _, ...promptness } = measurePromptness(world, evidence);
  return { ...counts, lost, ...promptness, violations };
}

function longestGap(timesMs: number[]): number {
  return Math.round(Math.max(...timesMs.slice(1).map((atMs, index) => atMs - (timesMs[index] ?? atMs))));
}

export async function rest(world: World): Promise<void> {
  const busy = await world.load.rest(REST_WITHIN_MS);
  if (busy > 0) {
    const seen = `${busy} callers still wait ${REST_WITHIN_MS / 1000} s after the pause began`;
    world.findings.violation('10 no work is left afterwards', seen);
  }
  await waitUntil(async () => (await countOverdue(world)) === 0, DELIVERED_WITHIN_MS, 200);
}

/** Checks every invariant, and returns the number of acknowledged writes that are newly found to be lost. */
async function checkInvariants(world: World, evidence: Evidence): Promise<number> {
  let lost = 0;
  for (const [{ promise }, found] of await findBreaches(world, evidence)) {
    const count = world.findings.breaches(promise, found);
    lost += promise === nothingIsLost.promise ? count : 0;
  }
  return lost;
}

export async function findBreaches(world: World, evidence: Evidence): Promise<Map<Invariant, string[]>> {
  const breaches = new Map<Invariant, string[]>();
  for (const invariant of INVARIANTS) {
    breaches.set(invariant, await invariant.check(world, evidence));
  }
  return breaches;
}

/**
 * Waits until every delivery has ended, and checks all invariants again.
 * @param isShort if true, the receivers accept all further POSTs. Otherwise all five attempts of some events fail, which takes long
 */
async function endRun(world: World, isShort: boolean): Promise<void> {
  if (isShort) {
    world.failingHooks.forEach((hook) => hook.forget());
  }
  const pending = async () => {
    const [row] = await world.postgres.query<{ count: string }>(
      `SELECT count(*) FROM delivery WHERE status = 'pending'`,
    );
    return Number(row?.count);
  };
  world.findings.note(`${await pending()} deliveries to misbehaving receivers have not ended yet`);
  await waitUntil(async () => (await pending()) === 0, ENDED_WITHIN_MS, 1_000);
  const creationsBefore = world.history.creations.length;
  const window = { fromMs: Date.now(), creationsBefore, interruptsDeliveries: true, isLast: true };
  await checkInvariants(world, await gather(world, window));
}
