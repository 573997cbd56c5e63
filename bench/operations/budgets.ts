import { createClient } from 'redis';
import { createRedis, findRedis, type Redis } from '../../test/support/redis.ts';
import type { BudgetJob } from '../budget-taker.ts';
import { startChild } from '../child.ts';
import { cpuMsOf } from '../cpu.ts';
import type { Slice } from '../load-worker.ts';
import { median } from '../statistics.ts';
import type { Row } from '../table.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

/** Number of calls that wait for Redis at the same time. */
const LANES = 16;
const FEW = 100;
const MANY = 100_000;
const MIB = 1024 * 1024;

export const BUDGETS: Operation[] = [{ name: 'budgets-redis', measure: measureBudgets }];

/**
 * Measures the cost of counting the calls of each credential. The service counts these calls, because a credential may make only a certain
 * number of calls in one minute (its budget). The function measures the time to count one call. It also measures the memory that the
 * counters take in Redis and in the process that counts the calls. Each measurement runs with few and with many credentials.
 */
async function measureBudgets(world: World): Promise<Row[]> {
  const program = findRedis();
  if (program === undefined) {
    throw new Error('There is no redis-server in PATH.');
  }
  const redis = await createRedis(program);
  world.resources.defer(() => redis.close());
  await redis.start();
  const rows: Row[] = [];
  const memory = { process: [0], redis: [await usedBytes(redis)] };
  const taker = world.resources.use(
    startChild<BudgetJob, number & Slice>('budget-taker.ts', { NODE_OPTIONS: '--expose-gc' }),
  );
  await taker.ask({ do: 'open', redisUrl: redis.url });
  for (const credentials of [FEW, MANY]) {
    memory.process.push(await taker.ask({ do: 'fill', credentials }));
    memory.redis.push(await usedBytes(redis));
    const slices: Slice[] = [];
    const before = (await cpuMsOf(redis.pid)) ?? 0;
    for (let round = 0; round < world.options.rounds; round += 1) {
      slices.push(await taker.ask({ do: 'take', credentials, lanes: LANES, seconds: world.options.seconds }));
    }
    const calls = slices.reduce((sum, { perSecond }) => sum + perSecond * world.options.seconds, 0);
    const cpu = ((await cpuMsOf(redis.pid)) ?? 0) - before;
    const [beforeMb = 0, afterMb = 0] = memory.process.slice(-2);
    const [beforeBytes = 0, afterBytes = 0] = memory.redis.slice(-2);
    const many =
      credentials === MANY
        ? `; Redis grows by ${((afterBytes - beforeBytes) / MIB).toFixed(1)} MB, the heap of the process by ${(afterMb - beforeMb).toFixed(1)} MB`
        : '';
    rows.push({
      operation: `count a call in Redis, ${credentials} credentials`,
      perSecond: median(slices.map(({ perSecond }) => perSecond)),
      p50Ms: median(slices.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(slices.map(({ p99Ms }) => p99Ms)),
      note: `${((cpu / calls) * 1000).toFixed(1)} µs of Redis for a call${many}`,
    });
  }
  return rows;
}

/** Returns the memory that the data of Redis needs, in bytes. */
async function usedBytes({ url }: Redis): Promise<number> {
  const client = createClient({ url });
  await client.connect();
  const info = await client.info('memory');
  client.destroy();
  return Number(/^used_memory:(\d+)/m.exec(info)?.[1]);
}
