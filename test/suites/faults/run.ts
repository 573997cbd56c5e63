import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './faults/fault.ts';
import { oldSecretsAreRefused, budgetsHold } from './invariants/admission.ts';
import { allIsQuiet, tenantsStayApart } from './invariants/aftermath.ts';
import { countOverdue, deliveriesEnd, postsAreRight } from './invariants/deliveries.ts';
import { eventsTellOfChanges } from './invariants/events.ts';
import { feedIsWhole } from './invariants/feed.ts';
import { type Evidence, gather, type Invariant, type Window } from './invariants/invariant.ts';
import { noOversell } from './invariants/nights.ts';
import { healthyAreServed, measurePromptness } from './invariants/promptness.ts';
import { nothingIsLost, onceOnly } from './invariants/records.ts';
import { waitsAreDrawn } from './invariants/waits.ts';
import type { FaultResult } from './report.ts';
import { type World, waitUntil } from './world.ts';

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
/**
 * Maximum wait for overdue deliveries. If a worker is killed, its delivery waits until the lease ends, and then the next attempt needs some
 * time.
 */
const DELIVERED_WITHIN_MS = 30_000;
/**
 * Maximum wait for the end of all deliveries. In the worst case, a hanging receiver gets five attempts, with waits between them, and each
 * attempt also waits for a place.
 */
const ENDED_WITHIN_MS = 240_000;
const SHOWN_BREACHES = 5;

/**
 * Starts the simulated clients (the load), causes the fault, and pauses the clients some time after the fault. Then checks every invariant.
 */
export async function runFault<In extends World>(world: In, fault: Fault<In>): Promise<FaultResult> {
  const { history, load, findings } = world;
  const requestsBefore = history.requests;
  const unknownBefore = history.tries.unknown;
  const acknowledgedBefore = history.acknowledgedAtMs.length;
  const window: Window = {
    fromMs: Date.now(),
    creationsBefore: history.creations.length,
    interruptsDeliveries: fault.interruptsDeliveries ?? false,
    isLast: false,
  };
  const beganAtMs = performance.now();
  load.go();
  await sleep(LOAD_BEFORE_MS);
  try {
    await fault.strike(world);
  } catch (error) {
    findings.violation(
      'suite',
      `the suite could not cause the fault: ${error instanceof Error ? error.stack : String(error)}`,
    );
  } finally {
    await fault.heal?.(world);
  }
  await sleep(LOAD_AFTER_MS);
  const longestGapMs = longestGap(history.acknowledgedAtMs.slice(acknowledgedBefore), beganAtMs, performance.now());
  await rest(world);
  const acknowledged = history.acknowledgedAtMs.length - acknowledgedBefore;
  const unsettled = history.unsettled.length;
  const requests = history.requests - requestsBefore;
  const unknown = history.tries.unknown - unknownBefore;
  const evidence = await gather(world, window);
  const lost = await checkInvariants(world, evidence);
  const { events, interrupted, p99Ms, slowestMs } = measurePromptness(world, evidence);
  const times = { p99Ms, slowestMs, longestGapMs };
  return {
    fault: fault.name,
    rounds: 1,
    requests,
    unknown,
    events,
    interrupted,
    acknowledged,
    lost,
    unsettled,
    ...times,
  };
}

/** Returns the longest time without an acknowledged write in a period, in milliseconds. All times come from `performance.now()`. */
function longestGap(acknowledgedAtMs: number[], fromMs: number, toMs: number): number {
  const times = [fromMs, ...acknowledgedAtMs.filter((atMs) => atMs < toMs), toMs];
  return Math.round(Math.max(...times.slice(1).map((atMs, index) => atMs - (times[index] ?? atMs))));
}

/** Pauses the load, and waits until no delivery to a healthy receiver is overdue. */
export async function rest(world: World): Promise<void> {
  const busy = await world.load.rest(REST_WITHIN_MS);
  if (busy > 0) {
    world.findings.violation(
      '10 no work is left afterwards',
      `${busy} callers still wait ${REST_WITHIN_MS / 1000} s after the pause began`,
    );
  }
  await waitUntil(async () => (await countOverdue(world)) === 0, DELIVERED_WITHIN_MS, 200);
}

/**
 * Checks every invariant. Reports each violation only once, because a lost row, for example, is also missing in all later checks.
 * @returns the number of acknowledged writes that are newly found to be lost
 */
async function checkInvariants(world: World, evidence: Evidence): Promise<number> {
  const { findings } = world;
  let lost = 0;
  for (const [{ promise, lookAt }, all] of await findBreaches(world, evidence)) {
    const breaches = all.filter((breach) => !findings.known.has(promise + breach));
    breaches.forEach((breach) => findings.known.add(promise + breach));
    breaches.slice(0, SHOWN_BREACHES).forEach((breach) => findings.violation(promise, breach, lookAt));
    if (breaches.length > SHOWN_BREACHES) {
      findings.violation(promise, `and ${breaches.length - SHOWN_BREACHES} more breaches of this promise`, lookAt);
    }
    lost += promise === nothingIsLost.promise ? breaches.length : 0;
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
 * @param isShort if true, the receivers accept all further POSTs. Otherwise all five attempts of some events fail, and the run waits long
 * for these attempts
 */
export async function endRun(world: World, isShort: boolean): Promise<void> {
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
  const window: Window = { fromMs: Date.now(), creationsBefore, interruptsDeliveries: true, isLast: true };
  await checkInvariants(world, await gather(world, window));
}
