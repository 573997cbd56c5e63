import type { Contestant } from '../contestants/contestant.ts';
import { FLOOR } from '../contestants/floor.ts';
import { GRAPHILE_WORKER } from '../contestants/graphile-worker.ts';
import { ROOMSERVICE } from '../contestants/roomservice.ts';
import { measureBacklog, medianOfSlices, type QueueSlice } from '../queue-slice.ts';
import { atLeast, atMost, type QueueGoal, type QueueRow } from '../queue-table.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

/** Number of events in the backlog of the warm-up, divided by the number of events in a measured backlog. */
const WARM_UP = 0.5;
/**
 * Share of one CPU core, from 0 to 1. If the receivers use more than this share, a note in the table says that they may limit the result.
 */
const RECEIVER_LIMIT = 0.9;

const GOALS = [
  atLeast('ofGraphileWorker', 1),
  atLeast('ofFloor', 0.6),
  atMost('senderCpuMs', 0.13),
  atMost('storeCpuMs', 0.07),
];

export const QUEUES: Operation[] = [
  { name: 'queues-to-1-receiver', measure: (world) => compareQueues(world, 1, GOALS) },
  { name: 'queues-to-50-receivers', measure: (world) => compareQueues(world, 50, GOALS) },
  { name: 'queues-to-1000-receivers', measure: (world) => compareQueues(world, 1_000) },
];

/**
 * Measures how the service, the queue libraries and the floor deliver a backlog to the given number of healthy receivers. These programs
 * are measured in turns, after a warm-up of each.
 * @param goals goals of the service
 */
async function compareQueues(world: World, receivers: number, goals: QueueGoal[] = []): Promise<QueueRow[]> {
  const { rounds, queuedEvents: events } = world.options;
  const stand = await world.queues();
  const measure = (contestant: Contestant, count: number) =>
    measureBacklog(stand.receivers, contestant, { receivers, events: count });
  for (const contestant of stand.contestants) {
    await measure(contestant, Math.ceil(events * WARM_UP));
  }
  const slices = new Map<Contestant, QueueSlice[]>(stand.contestants.map((contestant) => [contestant, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [contestant, measured] of slices) {
      measured.push(await measure(contestant, events));
    }
  }
  const medians = new Map([...slices].map(([contestant, measured]) => [contestant, medianOfSlices(measured)]));
  return [
    ...rowsOf(receivers, medians, goals),
    ...stand.missing.map(({ name, reason }) => ({ receivers, sender: name, note: reason })),
  ];
}

function rowsOf(receivers: number, medians: Map<Contestant, QueueSlice>, goals: QueueGoal[]): QueueRow[] {
  const perSecondOf = (name: string) => [...medians].find(([contestant]) => contestant.name === name)?.[1].perSecond;
  const ratioTo = (name: string, perSecond: number) => {
    const base = perSecondOf(name);
    return base === undefined ? undefined : perSecond / base;
  };
  return [...medians].map(
    ([{ name, guarantees }, { perSecond, senderCpuMs, storeCpuMs, receiverLoad, connections }]) => ({
      receivers,
      sender: name,
      perSecond,
      ofFloor: ratioTo(FLOOR, perSecond),
      ofGraphileWorker: ratioTo(GRAPHILE_WORKER, perSecond),
      senderCpuMs: senderCpuMs ?? undefined,
      storeCpuMs: storeCpuMs ?? undefined,
      connections,
      guarantees,
      ...(name === ROOMSERVICE ? { goals } : {}),
      ...((receiverLoad ?? 0) > RECEIVER_LIMIT ? { note: 'the receivers may limit the result' } : {}),
    }),
  );
}
