// Floor (baseline without a queue) of the operations `queues-…`: it signs events, and posts them to many receivers with the HTTP client
// undici.
import { randomUUID } from 'node:crypto';
import { answerJobs } from '../child.ts';
import { eventBody } from '../events.ts';
import { createPoster, type Target } from '../poster.ts';

export interface PostManyJob {
  targets: Target[];
  cert: string;
  events: number;
}

/** Number of posts under way at the same time. */
const LANES = 64;

answerJobs(async ({ targets, cert, events }: PostManyJob): Promise<void> => {
  const post = createPoster({ targets, cert, connections: Math.ceil(LANES / targets.length) });
  let next = 0;
  const run = async () => {
    while (next < events) {
      const target = next % targets.length;
      next += 1;
      const eventId = randomUUID();
      await post({ target, eventId, body: eventBody(eventId) });
    }
  };
  await Promise.all(Array.from({ length: LANES }, run));
});
