import { setTimeout as sleep } from 'node:timers/promises';
import { jsonCall } from '../calls.ts';
import { startChild } from '../child.ts';
import type { DeliveryStand, Subscriber } from '../delivery-stand.ts';
import type { PaceJob } from '../pace-worker.ts';
import { withConnection } from '../sql.ts';
import { percentile } from '../statistics.ts';
import { storeOrdersOf } from '../stored.ts';
import { latencyWithin, p99Within, type Row } from '../table.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

/** Number of partners that get events. */
const SUBSCRIBERS = 50;
/** Number of partners, out of SUBSCRIBERS, whose receiver never responds in the operation `delivery-latency-hanging`. */
const HANGING = 10;
/**
 * Minimum length, in seconds, of the measurement with receivers that never respond. One delivery attempt has a time limit of 10 s. The
 * measurement is longer, so that some attempts reach this limit.
 */
const LEAST_SECONDS_HANGING = 12;
const WARM_UP_SECONDS = 1;
const ARRIVAL_TIMEOUT_MS = 20_000;
const POLL_MS = 50;

export const LATENCY: Operation[] = [
  { name: 'delivery-latency', measure: measureLatency },
  { name: 'delivery-latency-hanging', measure: measureHanging },
];

async function measureLatency(world: World): Promise<Row[]> {
  const deliveries = await world.deliveries();
  const subscribers = deliveries.healthy.slice(0, SUBSCRIBERS);
  const seconds = world.options.rounds * world.options.seconds;
  const waits = await causeEvents(deliveries, subscribers, subscribers, { perSecond: 100, seconds });
  const measured = percentilesOf(waits);
  return [
    {
      operation: 'status change to first byte, 100/s',
      ...measured,
      memoryMb: await deliveries.stand.service.rssMb(),
      goal: latencyWithin(2, 10),
      note: `${waits.length} events, measured from the commit, including its flush to disk`,
    },
  ];
}

async function measureHanging(world: World): Promise<Row[]> {
  const deliveries = await world.deliveries();
  const subscribers = deliveries.healthy.slice(0, SUBSCRIBERS);
  const hanging = subscribers.slice(0, HANGING);
  const healthy = subscribers.slice(HANGING);
  await deliveries.redirect(hanging, '/hang');
  const seconds = Math.max(LEAST_SECONDS_HANGING, world.options.rounds * world.options.seconds);
  const waits = await causeEvents(deliveries, subscribers, healthy, { perSecond: 50, seconds });
  await deliveries.redirect(hanging, '/well');
  return [
    {
      operation: `status change to first byte, 50/s, ${HANGING} of ${SUBSCRIBERS} receivers hang`,
      ...percentilesOf(waits),
      memoryMb: await deliveries.stand.service.rssMb(),
      goal: p99Within(100),
      note: `${waits.length} events to the receivers that respond`,
    },
  ];
}

/**
 * Confirms orders of the subscribers at a constant rate. Each confirmation causes an event. Returns one time in milliseconds for each order
 * of the subscribers in `watched`. It is the time from the commit of the confirmation to the arrival of the delivery.
 * @throws Error if an event does not arrive, or seems to arrive before its commit
 */
async function causeEvents(
  deliveries: DeliveryStand,
  subscribers: Subscriber[],
  watched: Subscriber[],
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<number[]> {
  const { stand, receiver } = deliveries;
  await using pace = startChild<PaceJob, number>('pace-worker.ts');
  const send = async (count: number) => {
    const orders = await storeForAll(deliveries, subscribers, count);
    await pace.ask({ url: stand.service.url, calls: orders.map(({ call }) => call), perSecond });
    return orders;
  };
  await send(Math.ceil(perSecond * WARM_UP_SECONDS));
  await receiver.ask({ isRecording: true });
  const orders = await send(Math.ceil(perSecond * seconds));
  const isWatched = new Set(watched.map(({ credentialId }) => credentialId));
  const expected = orders.filter(({ credentialId }) => isWatched.has(credentialId)).map(({ id }) => id);
  const arrivals = await arrivalsOf(deliveries, expected);
  await receiver.ask({ isRecording: false });
  const commits = await commitsOf(stand.databaseUrl, expected);
  const waits = expected.map((id) => (arrivals.get(id) ?? Number.NaN) - (commits.get(id) ?? Number.NaN));
  if (!waits.every((wait) => wait >= 0)) {
    throw new Error(
      'An event seems to have arrived before its commit, so the clocks of PostgreSQL and the receiver differ.',
    );
  }
  return waits;
}

/** Stores `count` orders, distributed evenly over the subscribers. Returns each order with the staff call that confirms it. */
async function storeForAll({ stand, ownerOf }: DeliveryStand, subscribers: Subscriber[], count: number) {
  const each = Math.ceil(count / subscribers.length);
  return await withConnection(stand.databaseUrl, async (client) => {
    const stored = [];
    for (const subscriber of subscribers) {
      const owner = await ownerOf(subscriber.tenantId);
      const ids = await storeOrdersOf(client, subscriber, `paced-${Date.now()}-`, each);
      stored.push(
        ...ids.map((id, turn) => ({
          id,
          turn,
          credentialId: subscriber.credentialId,
          call: jsonCall(`/v1/staff/orders/${id}/status/`, owner, { status: 'confirmed' }),
        })),
      );
    }
    return stored.sort((a, b) => a.turn - b.turn).slice(0, count);
  });
}

async function arrivalsOf({ receiver }: DeliveryStand, expected: string[]): Promise<Map<string, number>> {
  const arrivals = new Map<string, number>();
  for (const deadlineMs = Date.now() + ARRIVAL_TIMEOUT_MS; Date.now() < deadlineMs; await sleep(POLL_MS)) {
    for (const [id, atMs] of (await receiver.ask({})).arrivals) {
      arrivals.set(id, atMs);
    }
    if (expected.every((id) => arrivals.has(id))) {
      return arrivals;
    }
  }
  throw new Error(`Some events did not arrive within ${ARRIVAL_TIMEOUT_MS / 1000} s.`);
}

/**
 * Returns the commit time of the last change of each order, by order id, in milliseconds since 1970. PostgreSQL keeps the commit time of
 * each transaction, because the setting `track_commit_timestamp` is on.
 */
async function commitsOf(databaseUrl: string, ids: string[]): Promise<Map<string, number>> {
  return await withConnection(databaseUrl, async (client) => {
    const { rows } = await client.query<{ id: string; at_ms: number }>(
      `SELECT id, (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000)::float8 AS at_ms
       FROM restaurant_order WHERE id = ANY ($1)`,
      [ids],
    );
    return new Map(rows.map(({ id, at_ms }) => [id, at_ms]));
  });
}

function percentilesOf(waits: number[]): { p50Ms: number; p99Ms: number } {
  const sorted = waits.toSorted((a, b) => a - b);
  return { p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) };
}
