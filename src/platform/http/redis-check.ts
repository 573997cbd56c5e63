import { inTime } from '../lib/in-time.ts';
import { parseRedisUrl } from '../lib/redis-url.ts';
import { presenceKeys } from './redis-budgets.ts';
import { createRedisServers, type RedisServers } from './redis-servers.ts';

const RECONNECT_EVERY_MS = 500;
/** Redis script (Lua) that reads and writes no data. */
const DO_NOTHING = 'return 1';

/**
 * Connects to the Redis of a REDIS_URL, and runs a script that changes no data. In a cluster, runs it on each primary.
 * @param url a URL that `parseRedisUrl` accepts
 * @param limitMs time limit of the whole check in milliseconds
 * @returns the number of servers that have run the script
 * @throws Error with the reason if a server is out of reach, refuses the login or does not run the script in time
 */
export async function checkRedis(url: string, limitMs: number): Promise<number> {
  const address = parseRedisUrl(url);
  if (address === null) {
    throw new Error(
      'REDIS_URL is not a URL such as redis://user:password@host:6379/0. ' +
        'The check of the settings must refuse such a value, so this is a fault of the program.',
    );
  }
  let reason: Error | null = null;
  const broken = Promise.withResolvers<never>();
  const onBroken = (_slot: number, error: Error) => {
    reason = error;
    if (address.mode === 'server') {
      broken.reject(error); // With only one server, the check fails at the first error, because no other server could respond.
    }
  };
  const servers = await createRedisServers({ address, reconnectEveryMs: RECONNECT_EVERY_MS, onBroken });
  try {
    return await inTime(limitMs, (deadlineMs) => Promise.race([broken.promise, runOnEach(servers, deadlineMs)]));
  } catch (error) {
    // In a cluster or with Sentinels, the client connects again after each failure, until the time limit. So the last failure is the reason
    // for which the check failed.
    throw reason ?? error;
  } finally {
    servers.destroy();
  }
}

/**
 * Connects to all servers, and runs the script on each of them.
 * @returns the number of servers
 */
async function runOnEach(servers: RedisServers, deadlineMs: number): Promise<number> {
  await servers.connect();
  const keys = presenceKeys(servers);
  await Promise.all(
    keys.map(async ({ slot, key }) => await servers.run(slot, { text: DO_NOTHING, key, values: [] }, deadlineMs)),
  );
  return keys.length;
}
