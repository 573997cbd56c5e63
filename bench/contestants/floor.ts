import { startChild } from '../child.ts';
import type { PostManyJob } from '../floors/post-many.ts';
import type { Contestant, Field } from './contestant.ts';

export const FLOOR = 'floor: undici without a queue';

export function openFloor({ targets, cert, resources }: Field): Contestant {
  const child = resources.use(startChild<PostManyJob, void>('floors/post-many.ts'));
  let posting: Promise<void> = Promise.resolve();
  return {
    name: FLOOR,
    guarantees: 'none. The process posts each event once, with at most 64 posts under way, and stores nothing.',
    pid: child.pid,
    storePid: null,
    store: async (receivers, events) => async () => {
      posting = child.ask({ targets: targets.slice(0, receivers), cert, events });
    },
    untilRecorded: () => posting,
  };
}
