// Queue and worker of the library BullMQ. The worker sends the events of the queue.
import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { answerJobs } from '../child.ts';
import { eventBody } from '../events.ts';
import { createPoster, type Post, type Target } from '../poster.ts';

export type BullmqJob =
  | { do: 'open'; redisUrl: string; targets: Target[]; cert: string }
  /** Adds events to the paused queue, distributed evenly over the first `receivers` receivers. */
  | { do: 'add'; receivers: number; events: number }
  | { do: 'resume' }
  /** Returns the number of jobs that are not completed. */
  | { do: 'countPending' };

/** Number of jobs that run at the same time. */
const CONCURRENT_JOBS = 64;
/** Number of jobs that one call of `addBulk` adds to the queue. */
const CHUNK = 1_000;
const NAME = 'deliveries';

let queue: Queue<Post>;

async function handle(job: BullmqJob): Promise<number> {
  switch (job.do) {
    case 'open':
      await open(job);
      return 0;
    case 'add':
      await add(job);
      return 0;
    case 'resume':
      await queue.resume();
      return 0;
    case 'countPending':
      return await queue.getJobCountByTypes('waiting', 'paused', 'active', 'delayed', 'failed');
  }
}

async function open({ redisUrl, targets, cert }: Extract<BullmqJob, { do: 'open' }>): Promise<void> {
  const post = createPoster({ targets, cert, connections: CONCURRENT_JOBS });
  const connection = { url: redisUrl };
  // `removeOnComplete` makes Redis delete a job in the same command that completes it. This costs less than keeping completed jobs.
  const defaultJobOptions = { attempts: 5, backoff: { type: 'exponential', delay: 1_000 }, removeOnComplete: true };
  queue = new Queue<Post>(NAME, { connection, defaultJobOptions });
  const worker = new Worker<Post>(NAME, ({ data }) => post(data), { connection, concurrency: CONCURRENT_JOBS });
  worker.on('error', (error) => console.error(error));
  await worker.waitUntilReady();
}

async function add({ receivers, events }: Extract<BullmqJob, { do: 'add' }>): Promise<void> {
  await queue.pause();
  for (let first = 0; first < events; first += CHUNK) {
    const jobs = Array.from({ length: Math.min(CHUNK, events - first) }, (_, index) => {
      const eventId = randomUUID();
      return { name: 'deliver', data: { target: (first + index) % receivers, eventId, body: eventBody(eventId) } };
    });
    await queue.addBulk(jobs);
  }
}

answerJobs(handle);
