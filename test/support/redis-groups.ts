import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { freePort } from './free-port.ts';
import { createProcess, createRedis, type Redis } from './redis.ts';

const CLUSTER_SLOTS = 16_384;
const DEADLINE_MS = 30_000;
/**
 * Time in milliseconds after which the servers of a group treat a server as dead if it does not respond. A healthy server on a busy machine
 * must respond earlier, because otherwise its replica replaces it.
 */
const DEAD_AFTER_MS = 2_000;
/** The same time for a cluster that has no replica. No test waits until its servers treat one of them as dead. */
const DEAD_AFTER_MS_WITHOUT_REPLICA = 60_000;
/** Number of Sentinels. Two of them must agree that the primary is dead. */
const SENTINELS = 3;

/** Redis servers that belong together and have one REDIS_URL. They are a Redis Cluster, or a primary and a replica with Sentinels. */
export interface RedisGroup {
  url: string;
  primaries: Redis[];
  replicas: Redis[];
  /** Stops all servers. */
  close: () => Promise<void>;
}

/**
 * Starts a Redis Cluster. Each primary has an equal range of the slots. Each of the first `replicaCount` primaries has a replica. If such a
 * primary dies, its replica becomes the primary. If another primary dies, only its own slots are unavailable until it runs again.
 */
export async function startRedisCluster(program: string, primaryCount = 3, replicaCount = 0): Promise<RedisGroup> {
  const nodes = await Promise.all(
    Array.from({ length: primaryCount + replicaCount }, async () => {
      const busPort = await freePort();
      const redis = await createRedis(program, [
        '--cluster-enabled',
        'yes',
        '--cluster-port',
        String(busPort),
        '--cluster-require-full-coverage',
        'no',
        '--cluster-node-timeout',
        String(DEAD_AFTER_MS),
        '--repl-diskless-sync-delay',
        '0',
      ]);
      await redis.start();
      return { redis, busPort, id: await command(redis, ['CLUSTER', 'MYID']) };
    }),
  );
  const primaries = nodes.slice(0, primaryCount);
  const replicas = nodes.slice(primaryCount);
  for (const [index, { redis }] of primaries.entries()) {
    const [from, to] = [index, index + 1].map((part) => Math.floor((part * CLUSTER_SLOTS) / primaryCount)) as [
      number,
      number,
    ];
    await command(redis, ['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)]);
    await command(redis, ['CLUSTER', 'ADDSLOTSRANGE', String(from), String(to - 1)]);
  }
  for (const { redis } of nodes.slice(1)) {
    const { port } = nodes[0]?.redis ?? redis;
    await command(redis, ['CLUSTER', 'MEET', '127.0.0.1', String(port), String(nodes[0]?.busPort)]);
  }
  const all = nodes.map(({ redis }) => redis);
  const knowsAll = async (redis: Redis) => {
    const info = await command(redis, ['CLUSTER', 'INFO']);
    return [`state:ok`, `known_nodes:${nodes.length}`, `slots_ok:${CLUSTER_SLOTS}`].every((line) =>
      info.includes(`cluster_${line}\r`),
    );
  };
  await waitUntil('the nodes of the cluster know each other', async () =>
    (await Promise.all(all.map(knowsAll))).every(Boolean),
  );
  if (replicas.length === 0) {
    // A cluster with a long time needs seconds until it is ready, so the time is set only now. With the short time, the servers would treat
    // each other as dead if the machine stalls for two seconds.
    const setting = ['cluster-node-timeout', String(DEAD_AFTER_MS_WITHOUT_REPLICA)];
    await Promise.all(all.map((redis) => command(redis, ['CONFIG', 'SET', ...setting])));
  }
  for (const [index, { redis }] of replicas.entries()) {
    await command(redis, ['CLUSTER', 'REPLICATE', primaries[index]?.id ?? '']);
    await waitUntil('the replica is in step', async () =>
      (await command(redis, ['INFO', 'replication'])).includes('master_link_status:up'),
    );
  }
  const hosts = all.map(({ port }) => `127.0.0.1:${port}`);
  return {
    url: `redis+cluster://${hosts.join()}`,
    primaries: primaries.map(({ redis }) => redis),
    replicas: replicas.map(({ redis }) => redis),
    close: async () => void (await Promise.all(all.map((redis) => redis.close()))),
  };
}

/** Starts a primary, a replica, and three Sentinels, which monitor the primary under the name `budgets`. */
export async function startRedisSentinels(program: string): Promise<RedisGroup> {
  const primary = await createRedis(program, ['--repl-diskless-sync-delay', '0']);
  await primary.start();
  const replica = await createRedis(program, ['--replicaof', `127.0.0.1 ${primary.port}`]);
  await replica.start();
  await waitUntil('the replica is in step', async () =>
    (await command(replica, ['INFO', 'replication'])).includes('master_link_status:up'),
  );
  const sentinels = await Promise.all(
    Array.from({ length: SENTINELS }, async () => {
      const port = await freePort();
      const sentinel = await createProcess(program, port, async (folder) => {
        const file = join(folder, 'sentinel.conf');
        const lines = [
          `bind 127.0.0.1`,
          `port ${port}`,
          `dir ${folder}`,
          `sentinel monitor budgets 127.0.0.1 ${primary.port} 2`,
          `sentinel down-after-milliseconds budgets ${DEAD_AFTER_MS}`,
          `sentinel failover-timeout budgets 2000`,
        ];
        await writeFile(file, `${lines.join('\n')}\n`);
        return [file, '--sentinel'];
      });
      await sentinel.start();
      return sentinel;
    }),
  );
  const isReady = async (sentinel: Redis) => {
    const state = await command(sentinel, ['SENTINEL', 'MASTER', 'budgets']);
    return state.includes('num-slaves,1,') && state.includes(`num-other-sentinels,${SENTINELS - 1},`);
  };
  await waitUntil('the Sentinels know each other', async () =>
    (await Promise.all(sentinels.map(isReady))).every(Boolean),
  );
  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join()}/budgets`,
    primaries: [primary],
    replicas: [replica],
    close: async () => void (await Promise.all([primary, replica, ...sentinels].map((redis) => redis.close()))),
  };
}

/**
 * Client that `command` copies for each call. A call of `createClient` takes 10 ms, because it makes a new class with a method for each
 * command of Redis. A copy takes less time, because it uses the class of this client.
 */
const prototype = createClient({ RESP: 2 });

/** Sends one Redis command to a server, and returns the response as text. */
async function command(redis: Redis, args: string[]): Promise<string> {
  const { hostname: host, port } = new URL(redis.url);
  const client = prototype.duplicate({ socket: { host, port: Number(port) } });
  client.on('error', () => {}); // The caller gets the error of the command.
  try {
    await client.connect();
    return String(await client.sendCommand<string | string[]>(args));
  } finally {
    client.destroy();
  }
}

async function waitUntil(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + DEADLINE_MS; !(await isTrue()); await sleep(50)) {
    if (Date.now() > deadline) {
      throw new Error(`It did not happen within ${DEADLINE_MS} ms that ${what}.`);
    }
  }
}
