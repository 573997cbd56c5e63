import type pg from 'pg';
import { createRedis, findRedis, type Redis } from '../../test/support/redis.ts';
import { callOnce, jsonCall, withId } from '../calls.ts';
import type { CostRow } from '../cost-table.ts';
import { cpuMsOf, onCpuMsOf } from '../cpu.ts';
import type { DeliveryStand } from '../delivery-stand.ts';
import { untilRecorded } from '../events.ts';
import type { Call } from '../load-worker.ts';
import { withConnection } from '../sql.ts';
import type { Caller } from '../stand.ts';
import { median } from '../statistics.ts';
import { storeOrdersOf } from '../stored.ts';
import type { World } from '../world.ts';
import { availabilityCalls, bookingCalls, spreadStays } from './hotel.ts';
import type { Operation } from './operation.ts';
import { newOrderCalls, storedOrderCalls } from './orders.ts';

/**
 * Loads to measure: numbers of concurrent calls, and of tenants to which the calls belong. With 2 concurrent calls, nearly every call has
 * its own statement and commit. With 128 concurrent calls, several calls share a statement and a commit.
 */
const LOADS = [
  { concurrent: 2, tenants: 90 },
  { concurrent: 128, tenants: 2 },
];
/**
 * Number of orders to store before a measurement of status changes, for each second that the measurement takes. Each order can be changed
 * only once, so the measurement would end early after the last stored order. To prevent this, the number is larger than the number of
 * status changes that the service can make in a second.
 */
const MOST_CHANGES_PER_SECOND = 2_000;

export const COSTS: Operation[] = [{ name: 'costs', measure: measureCosts }];

/** Kind of calls to measure, for example new orders. */
interface Kind {
  name: string;
  /**
   * Returns the calls of one slice (measurement) for the given tenants. Unless `isOnce` is true, the slice repeats these calls with new
   * texts for `{id}`.
   */
  callsOf: (tenantIds: Set<number>, seconds: number) => Promise<Call[]>;
  /** True if each call can be made only once, so that a slice ends after the last call. */
  isOnce?: boolean;
}

/**
 * CPU times in milliseconds and sizes in bytes. `readUsage` returns the totals until now, and `measureSlice` returns the mean costs of one
 * call. A time is null if this machine cannot measure it.
 */
type Usage = Record<'apiMs' | 'postgresMs' | 'redisMs', number | null> & Record<'walBytes' | 'storedBytes', number>;

/** The processes whose costs are measured, and a connection that reads the sizes of the database. */
interface Measured {
  deliveries: DeliveryStand;
  postgresPid: number;
  redis: Redis | undefined;
  client: pg.Client;
}

/**
 * Measures the CPU time of the service, of PostgreSQL and of Redis for one call of each kind. The service runs as one process, with the API
 * and the deliveries. If Redis is installed on the machine, the service counts the calls of each credential in Redis. The CPU time
 * includes:
 * - writing the log
 * - statements that the service sends regularly, for example to find due deliveries
 * - regular work of PostgreSQL, for example checkpoints and the vacuum
 */
async function measureCosts(world: World): Promise<CostRow[]> {
  const redis = await startRedis(world);
  const deliveries = await world.costs(redis ? { REDIS_URL: redis.url } : {});
  return await withConnection(deliveries.stand.databaseUrl, async (client) => {
    const measured = { deliveries, postgresPid: world.postgresPid, redis, client };
    const rows: CostRow[] = [];
    for (const kind of kindsOf(deliveries, client)) {
      for (const load of LOADS) {
        rows.push(await measureKind(world, measured, kind, load));
      }
    }
    return rows;
  });
}

async function startRedis(world: World): Promise<Redis | undefined> {
  const program = findRedis();
  if (program === undefined) {
    return undefined;
  }
  const redis = await createRedis(program);
  world.resources.defer(() => redis.close());
  await redis.start();
  return redis;
}

/** Returns the kinds of calls. Only the status changes use partners with a webhook, so the other kinds cause no deliveries. */
function kindsOf({ stand, healthy, refusing, ownerOf }: DeliveryStand, client: pg.Client): Kind[] {
  const subscribed = new Set([...healthy, ...refusing].map(({ credentialId }) => credentialId));
  const of = (tenantIds: Set<number>) =>
    stand.partners.filter(({ tenantId, credentialId }) => tenantIds.has(tenantId) && !subscribed.has(credentialId));
  return [
    { name: 'new order', callsOf: (tenantIds) => newOrderCalls({ ...stand, partners: of(tenantIds) }) },
    { name: 'new stay, 3 nights', callsOf: async (tenantIds) => bookingCalls(spreadStays(stand, of(tenantIds))) },
    {
      name: 'availability of 30 nights',
      callsOf: async (tenantIds) => availabilityCalls(spreadStays(stand, of(tenantIds))),
    },
    { name: 'GET one order', callsOf: async (tenantIds) => storedOrderCalls(of(tenantIds)) },
    {
      name: 'status change with its delivery',
      isOnce: true,
      callsOf: async (tenantIds, seconds) => {
        const subscribers = healthy.filter(({ tenantId }) => tenantIds.has(tenantId));
        const each = Math.ceil((MOST_CHANGES_PER_SECOND * seconds) / subscribers.length);
        return await confirmationsOf(client, subscribers, each, ownerOf);
      },
    },
  ];
}

/**
 * Stores new orders for each partner, and returns the calls that confirm these orders. In the result, the partners alternate.
 * @param each number of new orders for one partner
 */
async function confirmationsOf(
  client: pg.Client,
  subscribers: Caller[],
  each: number,
  ownerOf: DeliveryStand['ownerOf'],
): Promise<Call[]> {
  const calls: Call[][] = [];
  for (const subscriber of subscribers) {
    const headers = await ownerOf(subscriber.tenantId);
    const ids = await storeOrdersOf(client, subscriber, `costs-${Date.now()}-`, each);
    calls.push(ids.map((id) => jsonCall(`/v1/staff/orders/${id}/status/`, headers, { status: 'confirmed' })));
  }
  return Array.from({ length: each }, (_, turn) => calls.flatMap((own) => own[turn] ?? [])).flat();
}

async function measureKind(
  world: World,
  measured: Measured,
  kind: Kind,
  load: (typeof LOADS)[number],
): Promise<CostRow> {
  const { rounds, seconds } = world.options;
  const tenantIds = new Set(measured.deliveries.healthy.slice(0, load.tenants).map(({ tenantId }) => tenantId));
  const slices: Usage[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const calls = await kind.callsOf(tenantIds, seconds);
    const ids = kind.isOnce ? calls.values() : repeated(calls);
    slices.push(await measureSlice(measured, ids, load.concurrent, seconds));
  }
  // The first slice is only the warm-up, so the result leaves it out.
  const of = (key: keyof Usage) => {
    const values = slices.slice(1).flatMap((slice) => slice[key] ?? []);
    return values.length === 0 ? undefined : median(values);
  };
  const microseconds = (key: 'apiMs' | 'postgresMs' | 'redisMs') => {
    const ms = of(key);
    return ms === undefined ? undefined : ms * 1_000;
  };
  return {
    call: kind.name,
    ...load,
    apiUs: microseconds('apiMs'),
    postgresUs: microseconds('postgresMs'),
    redisUs: microseconds('redisMs'),
    walBytes: of('walBytes'),
    storedBytes: of('storedBytes'),
  };
}

/** Yields the calls in an endless loop. Each yielded call has a new text for `{id}`. */
function* repeated(calls: Call[]): Generator<Call> {
  for (;;) {
    for (const call of calls) {
      yield call.body === undefined ? call : withId(call, crypto.randomUUID());
    }
  }
}

/** Makes calls for the given time, and waits until all deliveries are recorded. Returns the mean costs of one call. */
async function measureSlice(
  measured: Measured,
  calls: Iterable<Call>,
  concurrent: number,
  seconds: number,
): Promise<Usage> {
  const { client, deliveries } = measured;
  const before = await readUsage(measured);
  const count = await callFor(seconds, deliveries.stand.service.url, calls, concurrent);
  await untilRecorded(client, deliveries.healthy);
  const after = await readUsage(measured);
  const perCall = (key: keyof Usage) => {
    const [start, end] = [before[key], after[key]];
    return start === null || end === null ? null : (end - start) / count;
  };
  return {
    apiMs: perCall('apiMs'),
    postgresMs: perCall('postgresMs'),
    redisMs: perCall('redisMs'),
    walBytes: perCall('walBytes') ?? 0,
    storedBytes: perCall('storedBytes') ?? 0,
  };
}

/** Makes the calls, `concurrent` at the same time, for the given time or until all calls are made. Returns the number of calls made. */
async function callFor(seconds: number, url: string, calls: Iterable<Call>, concurrent: number): Promise<number> {
  const endMs = performance.now() + seconds * 1_000;
  const shared = calls[Symbol.iterator]();
  let count = 0;
  const callInTurn = async () => {
    for (let next = shared.next(); !next.done && performance.now() < endMs; next = shared.next()) {
      await callOnce(url, next.value);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrent }, callInTurn));
  return count;
}

async function readUsage({ deliveries, postgresPid, redis, client }: Measured): Promise<Usage> {
  const { rows } = await client.query<Pick<Usage, 'walBytes' | 'storedBytes'>>(
    `SELECT (pg_current_wal_lsn() - '0/0')::float8 AS "walBytes", pg_database_size(current_database())::float8 AS "storedBytes"`,
  );
  const [sizes = { walBytes: 0, storedBytes: 0 }] = rows;
  return {
    ...sizes,
    apiMs: await cpuMsOf(deliveries.stand.service.pid),
    postgresMs: await cpuMsOf(postgresPid),
    // Redis uses little CPU time for the measured calls, but `cpuMsOf` counts in steps of 10 ms. So the more precise `onCpuMsOf` measures
    // Redis.
    redisMs: redis && process.platform === 'linux' ? await onCpuMsOf([redis.pid]) : null,
  };
}
