import type { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as redis from 'redis';
import type { HostAndPort, RedisAddress } from '../lib/redis-url.ts';

/** Number of hash slots of a Redis Cluster (Redis Cluster specification, "Key distribution model"). */
const CLUSTER_SLOTS = 16_384;
const CONNECT_TIMEOUT_MS = 2_000;
/**
 * Maximum time in milliseconds that `connect` waits for each server of a cluster. If a server is not connected by then, the first call that
 * uses this server waits for the connection.
 */
const CLUSTER_CONNECT_MS = 250;
/**
 * Time without a response after which a connection is closed and opened again, in milliseconds. It is longer than the time between two
 * announcements of a process (`redis-budgets.ts`), which use each connection to a server. PINGs of the library (`pingInterval`) are not
 * used, because their timer never ends if a client is closed while a PING is under way (redis 6.3.1).
 */
const SILENCE_MS = 12_000;
/**
 * Time in milliseconds between two requests to the Sentinels for the current primary. The requests are needed, because a notification of a
 * new primary may be lost.
 */
const ASK_SENTINELS_EVERY_MS = 10_000;

/** Connections to the servers of a REDIS_URL. A key belongs to a hash slot, and each slot has one primary at a time. */
export interface RedisServers {
  /** Number of slots. It is 1 unless the servers are a cluster. */
  slots: number;
  slotOf: (key: string) => number;
  /** Returns true if the same server has both slots, or if no server is known yet. */
  areTogether: (slot: number, other: number) => boolean;
  /**
   * Connects to all servers. A connection that breaks later is opened again. If one server of a cluster is down, the connections to the
   * other servers are not delayed.
   */
  connect: () => Promise<void>;
  /**
   * Runs a script on the primary that has the slot.
   * @param deadlineMs time of `performance.now()` after which the script is not sent any more, because its caller has stopped waiting
   * @throws an error of the library, or of Redis, if the script cannot run
   */
  run: (slot: number, script: Script, deadlineMs: number) => Promise<unknown>;
  /** Closes all connections without waiting. */
  destroy: () => void;
}

/** Script (Lua) with its only key, and its other arguments. */
export interface Script {
  text: string;
  key: string;
  values: string[];
}

export interface RedisServersOptions {
  address: RedisAddress;
  /** Maximum time between two attempts to connect in milliseconds. */
  reconnectEveryMs: number;
  /** Called when the connection to the server of a slot breaks. */
  onBroken: (slot: number, error: Error) => void;
}

/** Creates the connections to the servers of a REDIS_URL. They are opened by `connect`. */
export async function createRedisServers(options: RedisServersOptions): Promise<RedisServers> {
  const { address } = options;
  // The package `redis` is loaded only when it is needed, because it has more files than any other package, and most processes use no
  // Redis.
  const library = await import('redis');
  switch (address.mode) {
    case 'server':
      return createServer(library, options, address);
    case 'cluster':
      return createCluster(library, options, address);
    case 'sentinel':
      return createSentinel(library, options, address);
  }
}

type Library = typeof redis;
type AddressOf<Mode> = Extract<RedisAddress, { mode: Mode }>;

const ONE_SLOT = { slots: 1, slotOf: () => 0, areTogether: () => true };

function createServer(library: Library, options: RedisServersOptions, { url }: AddressOf<'server'>): RedisServers {
  const client = library.createClient({ ...clientOptions(options), url });
  client.on('error', (error: Error) => options.onBroken(0, error));
  return {
    ...ONE_SLOT,
    async connect() {
      await client.connect();
    },
    run: async (_slot, { text, key, values }) => await client.eval(text, { keys: [key], arguments: values }),
    destroy() {
      if (client.isOpen) {
        client.destroy(); // `destroy` throws if the client is already closed.
      }
    },
  };
}

function createSentinel(
  library: Library,
  options: RedisServersOptions,
  { hosts, primaryName, database, login, sentinelLogin, isEncrypted }: AddressOf<'sentinel'>,
): RedisServers {
  const common = clientOptions(options, isEncrypted);
  const client = library.createSentinel({
    name: primaryName,
    // The library asks the Sentinels in this order. The order is random, so that the next client may begin with another Sentinel if the
    // first Sentinel hangs.
    sentinelRootNodes: shuffled(hosts),
    nodeClientOptions: { ...common, ...login, database },
    sentinelClientOptions: { ...common, ...sentinelLogin },
    scanInterval: ASK_SENTINELS_EVERY_MS,
    // Without this option, each command must first borrow the connection, and a command that waits for the connection might wait until no
    // other command is under way.
    reserveClient: true,
    // A command that fails is not repeated, because its caller has stopped waiting.
    maxCommandRediscovers: 0,
  });
  client.on('client-error', ({ type, error }: { type: string; error: Error }) => {
    if (type === 'MASTER') {
      options.onBroken(0, error);
    }
  });
  // An `error` event, for example of a Sentinel that is out of reach, is only stored as a reason, because it does no harm while the primary
  // responds.
  const withReason = createReasons(client);
  return {
    ...ONE_SLOT,
    async connect() {
      await client.connect().catch(withReason);
    },
    run: async (_slot, { text, key, values }) => await client.eval(text, { keys: [key], arguments: values }),
    destroy: () => void client.destroy().catch(() => {}),
  };
}

function createCluster(
  library: Library,
  options: RedisServersOptions,
  { hosts, login, isEncrypted }: AddressOf<'cluster'>,
): RedisServers {
  const cluster = library.createCluster({
    rootNodes: hosts.map((socket) => ({ socket })),
    defaults: { ...clientOptions(options, isEncrypted), ...login },
    // Without this option, `connect` would wait until all primaries respond, even if some of them are down.
    minimizeConnections: true,
    topologyRefreshOnReconnectionAttemptStrategy: options.reconnectEveryMs,
  });
  let isDestroyed = false;
  const primaryOf = (slot: number) => cluster.slots[slot]?.master;
  cluster.on('node-error', (error: Error, { host, port }: HostAndPort) => {
    const primary = cluster.masters.find((each) => each.host === host && each.port === port);
    const slot = primary === undefined ? -1 : cluster.slots.findIndex((shard) => shard?.master === primary);
    if (slot !== -1) {
      options.onBroken(slot, error);
    }
  });
  // An `error` event, for example of a root node or of a refresh of the list of nodes, is only stored as a reason, because it does no harm
  // while the primaries respond.
  const withReason = createReasons(cluster);
  return {
    slots: CLUSTER_SLOTS,
    slotOf: clusterSlotOf,
    areTogether: (slot, other) => primaryOf(slot) === primaryOf(other),
    async connect() {
      await cluster.connect().catch(withReason);
      if (isDestroyed) {
        // `destroy` was called while the library searched for the primaries. The library has found them since then, but must not connect to
        // them.
        cluster.destroy();
        return;
      }
      const connected = cluster.masters.map((primary) => cluster.nodeClient(primary).catch(() => {}));
      await Promise.race([Promise.all(connected), sleep(CLUSTER_CONNECT_MS, undefined, { ref: false })]);
    },
    async run(slot, { text, key, values }, deadlineMs) {
      const primary = primaryOf(slot);
      if (primary === undefined || isDestroyed) {
        throw new Error(`no Redis server of the cluster has the hash slot ${slot}`);
      }
      await cluster.nodeClient(primary);
      if (performance.now() > deadlineMs) {
        throw new Error('the connection to the Redis server took longer than the time limit of the call');
      }
      return await cluster.eval(text, { keys: [key], arguments: values });
    },
    destroy() {
      isDestroyed = true;
      cluster.destroy();
    },
  };
}

/**
 * Stores the last error that a client has reported. Returns a function that throws an error with this reason. The errors of `connect` only
 * say that no server is available, and not that, for example, the password is wrong.
 */
function createReasons(client: EventEmitter): (error: Error) => never {
  let reason = '';
  client.on('error', (error: Error) => (reason = error.message));
  return (error) => {
    throw new Error(reason === '' || reason === error.message ? error.message : `${error.message}: ${reason}`);
  };
}

function shuffled<T>(items: T[]): T[] {
  const keyed = items.map((item) => ({ item, order: Math.random() }));
  return keyed.toSorted((a, b) => a.order - b.order).map(({ item }) => item);
}

/** Returns the options of the connection to one server. */
function clientOptions({ reconnectEveryMs }: RedisServersOptions, isEncrypted = false) {
  return {
    // A command fails immediately while its server is not connected.
    disableOfflineQueue: true,
    commandsQueueMaxLength: 10_000,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_MS,
      reconnectStrategy: (tries: number) => Math.min(reconnectEveryMs, 50 * 2 ** tries),
      ...(isEncrypted ? { tls: true as const } : {}),
    },
  };
}

/**
 * Returns the slot of a key in a Redis Cluster: CRC-16 (XMODEM) of the key, or of the part of the key between the first braces if this part
 * is not empty (Redis Cluster specification, "Hash tags").
 */
export function clusterSlotOf(key: string): number {
  const begin = key.indexOf('{') + 1;
  const end = begin === 0 ? -1 : key.indexOf('}', begin);
  let crc = 0;
  for (const byte of Buffer.from(end > begin ? key.slice(begin, end) : key)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    }
  }
  return crc & (CLUSTER_SLOTS - 1);
}
