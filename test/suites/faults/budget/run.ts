import { setTimeout as sleep } from 'node:timers/promises';
import type { BudgetCase } from './cases.ts';
import { Node } from './node.ts';
import type { Stage } from './stage.ts';
import { GROWTH_MIB, type Measured, timesOf } from './verdict.ts';

/** Durations of the phases of a case, in milliseconds. */
interface Lengths {
  warmUpMs: number;
  /** Minimum duration of the measurement. */
  leastMs: number;
  /** Maximum time for all calls of the busy tenant. */
  mostMs: number;
}

export const FULL_LENGTHS: Lengths = { warmUpMs: 4_000, leastMs: 12_000, mostMs: 45_000 };
export const SHORT_LENGTHS: Lengths = { warmUpMs: 1_500, leastMs: 4_000, mostMs: 10_000 };

/**
 * Runs one case. Creates the busy tenant and starts a process. Then makes the calls of this tenant, while a second
 * tenant (the neighbour) makes ordinary calls. Measures the calls of both tenants.
 */
export async function runCase(stage: Stage, each: BudgetCase, lengths: Lengths): Promise<Measured> {
  const { name, what, load, mustAnswer = false, growthMiB: allowedGrowthMiB = GROWTH_MIB } = each;
  const tenant = await stage.openTenant(each.menu?.());
  const calls = await each.prepare(tenant);
  const node = await Node.start(stage.env);
  try {
    stage.neighbour.send({ ...stage.usual, service: node.url });
    await sleep(lengths.warmUpMs);
    const [before] = await Promise.all([node.read(), stage.neighbour.ask('take')]);
    const task = { url: node.url, calls, keys: tenant.keys, load, limitMs: lengths.mostMs };
    const [outcomes] = await Promise.all([stage.hog.ask(task), sleep(lengths.leastMs)]);
    const after = await node.read();
    const { service, control } = await stage.neighbour.ask('rest');
    return {
      name,
      what,
      hog: timesOf(outcomes),
      mustAnswer,
      other: timesOf(service.calls),
      control: timesOf(control.calls),
      livez: timesOf(service.livez),
      controlLivez: timesOf(control.livez),
      heldMs: Math.round(after?.heldMs ?? 0),
      memoryMiB: { before: before?.residentMiB ?? 0, peak: after?.peakMiB ?? 0 },
      allowedGrowthMiB,
      hasEnded: node.hasEnded,
    };
  } finally {
    await stage.neighbour.ask('rest');
    await node.kill();
  }
}
