import { createRedis, findRedis } from '../../test/support/redis.ts';
import { startChild } from '../child.ts';
import type { BullmqJob } from '../queues/bullmq.ts';
import { waitUntil } from '../wait.ts';
import type { Contestant, Field } from './contestant.ts';

export const BULLMQ = 'BullMQ 6.7.0, appendfsync always';

const RECORD_TIMEOUT_MS = 60_000;

/**
 * Starts a worker of BullMQ on its own Redis. Redis flushes each write to the disk before it responds, as PostgreSQL does.
 * @throws Error if this machine has no Redis
 */
export async function openBullmq({ targets, cert, resources }: Field): Promise<Contestant> {
  const program = findRedis();
  if (program === undefined) {
    throw new Error('There is no redis-server in PATH.');
  }
  const redis = await createRedis(program, ['--appendonly', 'yes', '--appendfsync', 'always']);
  resources.defer(() => redis.close());
  await redis.start();
  const child = resources.use(startChild<BullmqJob, number>('queues/bullmq.ts'));
  await child.ask({ do: 'open', redisUrl: redis.url, targets, cert });
  return {
    name: BULLMQ,
    guarantees:
      'at least once, Redis with a flush to disk before each response. Each start is counted before its POST, one job in each command. ' +
      'A job gets at most 5 attempts. A job is deleted after its POST, in the command that takes the next job. If a process dies, its ' +
      'jobs start again after 30 to 60 s, but a job fails if its process dies twice. All receivers share the 64 concurrent jobs.',
    pid: child.pid,
    storePid: redis.pid,
    async store(receivers, events) {
      await child.ask({ do: 'add', receivers, events });
      return async () => void (await child.ask({ do: 'resume' }));
    },
    async untilRecorded() {
      const isEmpty = async () => (await child.ask({ do: 'countPending' })) === 0;
      await waitUntil(isEmpty, RECORD_TIMEOUT_MS, 'BullMQ did not complete all jobs');
    },
  };
}
