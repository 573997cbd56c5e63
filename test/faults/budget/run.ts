import { setTimeout as sleep } from 'node:timers/promises';
import { type BudgetCase, USUAL_PACE } from './case.ts';
import { type Call, make, newAgent } from './call.ts';
import type { Pace } from './hog.ts';
import { longMenu } from './house.ts';
import type { Reading } from './gauge.ts';
import { Node } from './node.ts';
import type { Stage } from './stage.ts';
import { countStatuses, type Measured, timesOfBoth } from './verdict.ts';

/** Durations of the phases of a case, in milliseconds. */
export interface Lengths {
  warmUpMs: number;
  /** Minimum duration of the measurement. */
  leastMs: number;
  /** Maximum time for all calls of the busy tenant. */
  mostMs: number;
  /** Maximum time for the calls at a steady rate. A case first sends many calls at the same time, and then the calls at a steady rate. */
  steadyMs: number;
  /** Maximum wait, after the load, until memory is back at the level that it had before the load. */
  memoryMs: number;
}

export const FULL_LENGTHS: Lengths = {
  warmUpMs: 4_000,
  leastMs: 12_000,
  mostMs: 45_000,
  steadyMs: 15_000,
  memoryMs: 60_000,
};
export const SHORT_LENGTHS: Lengths = {
  warmUpMs: 1_500,
  leastMs: 4_000,
  mostMs: 10_000,
  steadyMs: 3_000,
  memoryMs: 1_000,
};

const MEMORY_POLL_MS = 2_000;
/**
 * Growth of memory in MiB that may remain after the load, compared with the time before the load. A process without load can also grow by
 * this size, so this growth shows no leak.
 */
const LEVEL_MIB = 60;
/**
 * Index of the first call that is sent alone, before the measurement. The ids in a call contain the index of the call. The indexes of the
 * measured calls begin at 0 and stay far below this value, so no two calls have the same ids.
 */
const ALONE_FROM = 1_000_000;

/**
 * Runs one case. Creates the busy tenant, starts a process, and sends each call of the busy tenant alone, one after the other. Then sends
 * the calls of this tenant at the rate of the case, while a second tenant (the neighbour) makes ordinary calls. Measures the calls of both
 * tenants.
 */
export async function runCase(stage: Stage, each: BudgetCase, lengths: Lengths): Promise<Measured> {
  const tenant = await stage.openTenant((each.menu ?? longMenu)());
  const calls = await each.prepare(tenant);
  const node = await Node.start(stage.env, each.heapMiB ?? null);
  try {
    stage.neighbour.send({ ...stage.usual, service: node.url });
    await sleep(lengths.warmUpMs);
    const before = await node.read();
    const alone = each.isUnrehearsed ? [] : await sendAlone(node, calls, tenant.spareKeys);
    await Promise.all([node.read(), stage.control.read(), stage.neighbour.ask('take')]);
    const pace = paceWithin(each.pace ?? USUAL_PACE, lengths.steadyMs);
    const task = { url: node.url, calls, keys: tenant.keys, pace, firstIndex: 0, limitMs: lengths.mostMs };
    const [outcomes] = await Promise.all([stage.hog.ask(task), sleep(lengths.leastMs)]);
    const reading = await node.read();
    const controlReading = await stage.control.read();
    const seen = await stage.neighbour.ask('rest');
    const [other, livez] = timesOfBoth(seen.service);
    const [control, controlLivez] = timesOfBoth(seen.control);
    const readings = [reading, ...alone.map((one) => one.reading)].filter((one) => one !== null);
    const longest = (of: (reading: Reading) => number) => Math.round(Math.max(0, ...readings.map(of)));
    const after = await levelAfter(node, before, lengths.memoryMs);
    return {
      name: each.name,
      what: each.what,
      letIn: outcomes.filter(({ status }) => status !== 429).length,
      hog: countStatuses(outcomes),
      other,
      control,
      livez,
      controlLivez,
      standstillMs: longest(({ standstillMs }) => standstillMs),
      heldMs: longest(({ heldMs }) => heldMs),
      controlStandstillMs: Math.round(controlReading?.standstillMs ?? 0),
      worstAlone: worstOf(alone),
      memoryMiB: { before: before?.residentMiB ?? 0, peak: longest(({ peakMiB }) => peakMiB), after },
      died: node.hasEnded ? node.lastLines : null,
    };
  } finally {
    await stage.neighbour.ask('rest');
    await node.kill();
  }
}

function paceWithin(pace: Pace, steadyMs: number): Pace {
  return { ...pace, after: Math.min(pace.after, Math.floor((pace.perSecond * steadyMs) / 1_000)) };
}

interface Alone {
  name: string;
  status: number;
  tookMs: number;
  reading: Reading | null;
}

/** Sends each call once while no other call of the busy tenant is under way. This shows which call blocks the event loop. */
async function sendAlone(node: Node, calls: Call[], keys: Parameters<typeof make>[2]): Promise<Alone[]> {
  const agent = newAgent();
  const alone: Alone[] = [];
  await node.read();
  for (const [index, call] of calls.entries()) {
    if (node.hasEnded) {
      break;
    }
    const { status, tookMs } = await make(node.url, call, keys, ALONE_FROM + index, agent);
    alone.push({ name: call.name, status, tookMs, reading: await node.read() });
  }
  agent.destroy();
  return alone;
}

function worstOf(alone: Alone[]): Measured['worstAlone'] {
  const heldMs = ({ reading }: Alone) => reading?.heldMs ?? Number.POSITIVE_INFINITY;
  const [worst] = alone.toSorted((a, b) => heldMs(b) - heldMs(a));
  if (worst === undefined) {
    return null;
  }
  const { name, status, tookMs } = worst;
  return { name, status, tookMs: Math.round(tookMs), heldMs: Math.round(worst.reading?.heldMs ?? tookMs) };
}

/**
 * Waits until the memory of a process is back at its level before the load, or until the time limit.
 * @returns the resident memory in MiB, or 0 if the process does not respond
 */
async function levelAfter(node: Node, before: Reading | null, withinMs: number): Promise<number> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const now = await node.read();
    // A process that does not respond in time counts as 0 MiB, which ends the wait.
    const isSettled = (now?.residentMiB ?? 0) <= (before?.residentMiB ?? 0) + LEVEL_MIB;
    if (isSettled || performance.now() > deadlineMs) {
      return now?.residentMiB ?? 0;
    }
    await sleep(MEMORY_POLL_MS);
  }
}
