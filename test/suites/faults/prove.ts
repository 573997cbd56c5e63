import { setTimeout as sleep } from 'node:timers/promises';
import { gather } from './invariants/invariant.ts';
import { findBreaches, rest } from './run.ts';
import { TAMPERINGS, type Tampering } from './tamperings/all.ts';
import type { World } from './world.ts';

const LOAD_MS = 3_000;

/**
 * Proves that the invariants find faults. Each tampering damages one row or record on purpose. The invariants must then report the
 * guarantee that the damage breaks. After the repair they must report no broken guarantee.
 * @returns the exit code: 0 if the invariants found every tampering, and otherwise 1
 */
export async function prove(world: World): Promise<number> {
  let unseen = 0;
  for (const tampering of TAMPERINGS) {
    const isSeen = await proveOne(world, tampering);
    unseen += isSeen ? 0 : 1;
  }
  world.findings.note(`The invariants found ${TAMPERINGS.length - unseen} of ${TAMPERINGS.length} tamperings.`);
  return unseen === 0 ? 0 : 1;
}

async function proveOne(world: World, tampering: Tampering): Promise<boolean> {
  const fromMs = Date.now();
  world.load.go();
  await sleep(LOAD_MS);
  await rest(world);
  const before = await brokenPromises(world, fromMs);
  const undo = await tampering.spoil(world, fromMs);
  const spoilt = await brokenPromises(world, fromMs);
  await undo();
  const after = await brokenPromises(world, fromMs);
  const isSeen = before.length === 0 && spoilt.includes(tampering.breaks) && after.length === 0;
  world.findings.note(
    `${isSeen ? 'found ' : 'MISSED'} ${tampering.name}: ${spoilt.join('; ') || 'no guarantee was broken'}`,
  );
  if (before.length + after.length > 0) {
    world.findings.note(
      `       broken before the tampering: ${before.join('; ')}; broken after the repair: ${after.join('; ')}`,
    );
  }
  return isSeen;
}

async function brokenPromises(world: World, fromMs: number): Promise<string[]> {
  const creationsBefore = world.history.creations.length;
  const window = { fromMs, creationsBefore, interruptsDeliveries: false, isLast: false };
  const breaches = await findBreaches(world, await gather(world, window));
  return [...breaches].filter(([, found]) => found.length > 0).map(([{ promise }]) => promise);
}
