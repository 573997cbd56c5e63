import type { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as redis from 'redis';
import type { HostAndPort, RedisAddress } from '../lib/redis-url.ts';

/** Number of hash slots of a Redis Cluster (Redis Cluster specification, "Key distribution model"). */
const CLUSTER_SLOTS = 16_384;
const CONNECT_TIMEOUT_MS = 2_000;
/**
 * Maximum time in milliseconds that `connect` waits for the servers of a cluster. If a server is not connected by then, the first call that
 * uses this server waits for the connection.
 */
const CLUSTER_CONNECT_MS = 250;
/**
 * Time in milliseconds without a response after which a connection is closed and opened again. A connection to a healthy server never
 * reaches this time, because each process announces itself over each connection every 5 s (`redis-budgets.ts`). PINGs of the library
 * (`pingInterval`) are not used, because their timer never ends if a client is closed during a PING (redis 6.3.1).
 */
const SILENCE_MS = 12_000;
/**
 * Time in milliseconds between two requests to the Sentinels for the current primary. A Sentinel also notifies the client of a new primary,
 * but this notification may be lost.
 */
const ASK_SENTINELS_EVERY_MS = 10_000;

/** Connections to the servers of a REDIS_URL. A key belongs to a hash slot, and each slot has one primary at a time. */
export interface RedisServers {
  /** Number of slots. It is 1 unless the servers are a cluster. */
  slots: number;
  slotOf: (key: string) => number;
  /** Returns true if both slots are on the same server, or if no server is known yet. */
  areTogether: (slot: number, other: number) => boolean;
  /**
   * Connects to all servers. A connection that breaks later is opened again automatically. If one server of a cluster is down, the other
   * servers are connected without delay.
   */
  connect: () => Promise<void>;
  /**
   * Runs a script on the primary that has the slot.
   * @param deadlineMs value of `performance.now()` after which the script must not be sent, because its caller no longer waits
   * @throws an error of the library, or of Redis, if the script cannot run
   */
  run: (slot: number, script: Script, deadlineMs: number) => Promise<unknown>;
  /** Closes all connections immediately, even if commands are running on them. */
  destroy: () => void;
}

/** Redis script (Lua), the one key that it uses, and its other arguments (`values`). */
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

/**
 * Loads the package `redis`. The package has more files than any other package, so loading it takes long and blocks the event loop. Most
 * processes use no Redis, so they never call this function.
 */
export async function loadRedisLibrary(): Promise<Library> {
  return await import('redis');
}

/** Creates the connections to the servers of a REDIS_URL. They stay closed until `connect` is called. */
export async function createRedisServers(options: RedisServersOptions): Promise<RedisServers> {
  const { address } = options;
  const library = await loadRedisLibrary();
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
        client.destroy(); // Called only for an open client, because `destroy` throws if the client is already closed.
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
    // The library asks the Sentinels in this order. Each client has a new random order. If the first Sentinel hangs, `RedisLink` creates
    // another client, which probably begins with another Sentinel.
    sentinelRootNodes: shuffled(hosts),
    nodeClientOptions: { ...common, ...login, database },
    sentinelClientOptions: { ...common, ...sentinelLogin },
    scanInterval: ASK_SENTINELS_EVERY_MS,
    // Reserves one connection to the primary. All commands share it, and do not wait for each other's responses. Without this option, each
    // command would occupy a connection of the library's pool until its response. Other commands might have to wait for a free connection.
    reserveClient: true,
    // The library must not repeat a failed command, because its caller no longer waits for it.
    maxCommandRediscovers: 0,
  });
  client.on('client-error', ({ type, error }: { type: string; error: Error }) => {
    if (type === 'MASTER') {
      options.onBroken(0, error);
    }
  });
  // An `error` event, for example of a Sentinel that is out of reach, does no harm while the primary responds. So its message is only
  // stored, as the reason for a later error of `connect`.
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
    // Without this option, `connect` would wait for the responses of all primaries, even if some primaries are down.
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
  // An `error` event, for example of a server of REDIS_URL that is out of reach, does no harm while the primaries respond. So its message
  // is only stored, as the reason for a later error of `connect`.
  const withReason = createReasons(cluster);
  return {
    slots: CLUSTER_SLOTS,
    slotOf: clusterSlotOf,
    areTogether: (slot, other) => primaryOf(slot) === primaryOf(other),
    async connect() {
      await cluster.connect().catch(withReason);
      if (isDestroyed) {
        // `destroy` was called while `connect` searched for the primaries. They are known now, but the library must not connect to them.
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
 * Stores the last error message that a client has reported. Returns a function that throws the given error with this message added. The
 * addition is needed, because an error of `connect` only says that no server is available. It does not say, for example, that the password
 * is wrong.
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

/** Returns the options for each connection to a server. */
function clientOptions({ reconnectEveryMs }: RedisServersOptions, isEncrypted = false) {
  return {
    // Makes a command fail immediately if the connection to its server is lost. By default, the command would wait until the connection is
    // open again. Despite this option, `run` waits for the first connection to a server of a cluster.
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
 * Returns the slot of a key in a Redis Cluster (Redis Cluster specification, "Hash tags"). It is the CRC-16 (XMODEM) of the key, modulo the
 * number of slots. If the first braces in the key contain a text, only this text is used in place of the key.
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
