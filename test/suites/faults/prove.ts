import { setTimeout as sleep } from 'node:timers/promises';
import { gather } from './invariants/invariant.ts';
import { findBreaches, rest } from './run.ts';
import { accessTamperings } from './tamperings/access.ts';
import { rowTamperings } from './tamperings/rows.ts';
import type { Tampering } from './tamperings/tampering.ts';
import { webhookTamperings } from './tamperings/webhooks.ts';
import type { World } from './world.ts';

const TAMPERINGS: readonly Tampering[] = [...rowTamperings, ...webhookTamperings, ...accessTamperings];
const LOAD_MS = 3_000;

/**
 * Proves that the invariants find faults. Each tampering damages one row or record on purpose. The invariants must then report the
 * guarantee that the damage breaks, and no broken guarantee before the damage or after its repair.
 * @returns true if the invariants found every tampering
 */
export async function prove(world: World): Promise<boolean> {
  let found = 0;
  for (const tampering of TAMPERINGS) {
    found += (await proveOne(world, tampering)) ? 1 : 0;
  }
  world.findings.note(`The invariants found ${found} of ${TAMPERINGS.length} tamperings.`);
  return found === TAMPERINGS.length;
}

async function proveOne(world: World, { name, breaks, spoil }: Tampering): Promise<boolean> {
  const fromMs = Date.now();
  world.load.go();
  await sleep(LOAD_MS);
  await rest(world);
  const before = await brokenPromises(world, fromMs);
  const undo = await spoil(world, fromMs);
  const spoilt = await brokenPromises(world, fromMs);
  await undo();
  const after = await brokenPromises(world, fromMs);
  const isSeen = before.length === 0 && spoilt.includes(breaks) && after.length === 0;
  world.findings.note(`${isSeen ? 'found ' : 'MISSED'} ${name}: ${spoilt.join('; ') || 'no guarantee was broken'}`);
  if (before.length + after.length > 0) {
    world.findings.note(`       broken before: ${before.join('; ')}; broken after the repair: ${after.join('; ')}`);
  }
  return isSeen;
}

async function brokenPromises(world: World, fromMs: number): Promise<string[]> {
  const creationsBefore = world.history.creations.length;
  const window = { fromMs, creationsBefore, interruptsDeliveries: false, isLast: false };
  const breaches = await findBreaches(world, await gather(world, window));
  return [...breaches].filter(([, found]) => found.length > 0).map(([{ promise }]) => promise);
}
