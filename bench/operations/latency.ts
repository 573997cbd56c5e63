import { setTimeout as sleep } from 'node:timers/promises';
import { jsonCall } from '../calls.ts';
import { startChild } from '../child.ts';
import type { DeliveryStand, Subscriber } from '../delivery-stand.ts';
import type { ChangeStatusJob } from '../floors/change-status.ts';
import type { Call } from '../load-worker.ts';
import type { PaceJob } from '../pace-worker.ts';
import { withConnection } from '../sql.ts';
import { CONNECTIONS } from '../stand.ts';
import { median, percentile } from '../statistics.ts';
import { storeOrdersOf } from '../stored.ts';
import { latencyWithin, p99Within, type Row } from '../table.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

/** Number of partners that get events. */
const SUBSCRIBERS = 50;
/** Number of processes that only run the deliveries, in the operation `delivery-latency-split`. */
const WORKERS = 2;
/** Number of partners, out of SUBSCRIBERS, whose receiver never responds in the operation `delivery-latency-hanging`. */
const HANGING = 10;
/**
 * Minimum length, in seconds, of the measurement with receivers that never respond. It is longer than the time limit of a delivery attempt
 * (10 s). So some attempts reach their time limit during the measurement.
 */
const LEAST_SECONDS_HANGING = 12;
const WARM_UP_SECONDS = 1;
const ARRIVAL_TIMEOUT_MS = 20_000;
const POLL_MS = 50;

export const LATENCY: Operation[] = [
  { name: 'delivery-latency', measure: measureLatency },
  { name: 'delivery-latency-split', measure: measureSplitLatency },
  { name: 'delivery-latency-hanging', measure: measureHanging },
];

/** Load of calls by staff. Each call changes the status of one order. */
interface StatusLoad {
  /** URL of the service, or of the floor (the bare server with which the service is compared). */
  url: string;
  perSecond: number;
  seconds: number;
  callOf: (subscriber: Subscriber, orderId: string) => Promise<Call>;
}

/** Times of one status change, in milliseconds since 1970. */
interface StatusChange {
  orderId: string;
  beganAtMs: number;
  /** Time at which the first byte of the delivery arrived. */
  arrivedAtMs: number;
}

interface Percentiles {
  p50Ms: number;
  p99Ms: number;
}

async function measureLatency(world: World): Promise<Row[]> {
  const deliveries = await world.deliveries();
  const { fromCommit, fromCall, floor } = await compareLatency(world, deliveries);
  const memoryMb = await deliveries.stand.service.rssMb();
  return [
    {
      operation: 'status change to first byte, 100/s',
      ...fromCommit,
      memoryMb,
      goal: latencyWithin(2, 10),
      note: 'measured from the commit, including its flush to disk',
    },
    {
      operation: 'the same from the begin of the call',
      ...fromCall,
      memoryMb,
      goal: { text: 'p99 ≤ 15 ms or 3 × floor', isReached: ({ p99Ms = Infinity }) => p99Ms <= mostOf(15, floor) },
      note: noteOn(floor),
    },
  ];
}

/** Measures the latency of deliveries if the API is one process, and two other processes run the deliveries. */
async function measureSplitLatency(world: World): Promise<Row[]> {
  const { fromCommit, floor } = await compareLatency(world, await world.splitDeliveries(WORKERS));
  return [
    {
      operation: `status change to first byte, 100/s, API and ${WORKERS} workers`,
      ...fromCommit,
      goal: {
        text: 'p50 ≤ 5 ms, p99 ≤ 25 ms or 3 × floor',
        isReached: ({ p50Ms = Infinity, p99Ms = Infinity }) => p50Ms <= 5 && p99Ms <= mostOf(25, floor),
      },
      note: `measured from the commit; no event arrived twice; ${noteOn(floor)}`,
    },
  ];
}

/**
 * Measures the service and the floor (the bare server with which it is compared) alternately, several times. Each result is the median of
 * these measurements. So a short stall of the disk or of the machine, which slows down one measurement, does not change the result.
 * @throws Error if an event arrives twice
 */
async function compareLatency(
  world: World,
  deliveries: DeliveryStand,
): Promise<{ fromCommit: Percentiles; fromCall: Percentiles; floor: Percentiles }> {
  const { stand } = deliveries;
  const { rounds, seconds } = world.options;
  const subscribers = deliveries.healthy.slice(0, SUBSCRIBERS);
  await using floor = startChild<ChangeStatusJob, string>('floors/change-status.ts');
  const floorUrl = await floor.ask({
    databaseUrl: stand.databaseUrl,
    connections: CONNECTIONS,
    webhookUrl: `${deliveries.receiverUrl}/well/floor`,
    cert: deliveries.certificate.cert,
  });
  const fromCommit: Percentiles[] = [];
  const fromCall: Percentiles[] = [];
  const ofFloor: Percentiles[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const load = { perSecond: 100, seconds };
    const changes = await changeStatuses(deliveries, subscribers, subscribers, { ...load, ...toService(deliveries) });
    fromCall.push(percentilesOf(changes.map(waitFromCall)));
    fromCommit.push(percentilesOf(await waitsFromCommit(stand.databaseUrl, changes)));
    const floors = await changeStatuses(deliveries, subscribers, subscribers, { ...load, ...toFloor(floorUrl) });
    ofFloor.push(percentilesOf(floors.map(waitFromCall)));
  }
  return { fromCommit: medianOf(fromCommit), fromCall: medianOf(fromCall), floor: medianOf(ofFloor) };
}

/**
 * Returns the goal for the 99th percentile of the latency in milliseconds. It is `mostMs` or three times the 99th percentile of the floor
 * (the baseline), whichever is larger.
 */
function mostOf(mostMs: number, floor: Percentiles): number {
  return Math.max(mostMs, 3 * floor.p99Ms);
}

function noteOn(floor: Percentiles): string {
  return `floor: p50 ${floor.p50Ms.toFixed(2)} ms, p99 ${floor.p99Ms.toFixed(2)} ms`;
}

function toService({ stand, ownerOf }: DeliveryStand): Pick<StatusLoad, 'url' | 'callOf'> {
  return {
    url: stand.service.url,
    callOf: async ({ tenantId }, orderId) =>
      jsonCall(`/v1/staff/orders/${orderId}/status/`, await ownerOf(tenantId), { status: 'confirmed' }),
  };
}

function toFloor(url: string): Pick<StatusLoad, 'url' | 'callOf'> {
  return { url, callOf: async ({ tenantId }, orderId) => jsonCall(`/${tenantId}/${orderId}`, {}, {}) };
}

async function measureHanging(world: World): Promise<Row[]> {
  const deliveries = await world.deliveries();
  const subscribers = deliveries.healthy.slice(0, SUBSCRIBERS);
  const hanging = subscribers.slice(0, HANGING);
  const healthy = subscribers.slice(HANGING);
  await deliveries.redirect(hanging, '/hang');
  const seconds = Math.max(LEAST_SECONDS_HANGING, world.options.rounds * world.options.seconds);
  const load = { perSecond: 50, seconds, ...toService(deliveries) };
  const changes = await changeStatuses(deliveries, subscribers, healthy, load);
  await deliveries.redirect(hanging, '/well');
  const waits = await waitsFromCommit(deliveries.stand.databaseUrl, changes);
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
 * Confirms orders of the subscribers at a constant rate, first during a warm-up of one second, and then during the measurement. Each
 * confirmation causes an event for the subscriber. Then waits until the events of the measurement have arrived at the subscribers in
 * `watched`.
 * @returns one entry for each of these events. The entry has the order, the start of the confirming call, and the time of arrival
 * @throws Error if an event of a watched subscriber does not arrive, or if any event arrives twice
 */
async function changeStatuses(
  deliveries: DeliveryStand,
  subscribers: Subscriber[],
  watched: Subscriber[],
  load: StatusLoad,
): Promise<StatusChange[]> {
  const { receiver } = deliveries;
  await using pace = startChild<PaceJob, number[]>('pace-worker.ts');
  const send = async (count: number) => {
    const orders = await storeForAll(deliveries, subscribers, count, load.callOf);
    const beganAtMs = await pace.ask({
      url: load.url,
      perSecond: load.perSecond,
      calls: orders.map(({ call }) => call),
    });
    return orders.map((order, index) => ({ ...order, beganAtMs: beganAtMs[index] ?? Number.NaN }));
  };
  await send(Math.ceil(load.perSecond * WARM_UP_SECONDS));
  await receiver.ask({ isRecording: true });
  const sent = await send(Math.ceil(load.perSecond * load.seconds));
  const isWatched = new Set(watched.map(({ credentialId }) => credentialId));
  const expected = sent.filter(({ credentialId }) => isWatched.has(credentialId));
  const arrivals = await arrivalsOf(
    deliveries,
    expected.map(({ id }) => id),
  );
  const { repeated } = await receiver.ask({ isRecording: false });
  if (repeated > 0) {
    throw new Error(`${repeated} events arrived more than once.`);
  }
  return expected.map(({ id, beganAtMs }) => ({
    orderId: id,
    beganAtMs,
    arrivedAtMs: arrivals.get(id) ?? Number.NaN,
  }));
}

/** Returns the time in milliseconds from the start of a call to the arrival of its delivery. */
function waitFromCall({ beganAtMs, arrivedAtMs }: StatusChange): number {
  return arrivedAtMs - beganAtMs;
}

/**
 * Returns, for each status change, the time in milliseconds from its commit to the arrival of its delivery.
 * @throws Error if an event seems to have arrived before its commit
 */
async function waitsFromCommit(databaseUrl: string, changes: StatusChange[]): Promise<number[]> {
  const commits = await commitsOf(
    databaseUrl,
    changes.map(({ orderId }) => orderId),
  );
  const waits = changes.map(({ orderId, arrivedAtMs }) => arrivedAtMs - (commits.get(orderId) ?? Number.NaN));
  if (!waits.every((wait) => wait >= 0)) {
    throw new Error(
      'An event seems to have arrived before its commit, so the clocks of PostgreSQL and the receiver differ.',
    );
  }
  return waits;
}

/** Stores `count` orders, distributed evenly over the subscribers. Returns each order with the call that confirms it. */
async function storeForAll(
  { stand }: DeliveryStand,
  subscribers: Subscriber[],
  count: number,
  callOf: StatusLoad['callOf'],
) {
  const each = Math.ceil(count / subscribers.length);
  return await withConnection(stand.databaseUrl, async (client) => {
    const stored = [];
    for (const subscriber of subscribers) {
      const ids = await storeOrdersOf(client, subscriber, `paced-${Date.now()}-`, each);
      for (const [turn, id] of ids.entries()) {
        stored.push({ id, turn, credentialId: subscriber.credentialId, call: await callOf(subscriber, id) });
      }
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

function percentilesOf(waits: number[]): Percentiles {
  const sorted = waits.toSorted((a, b) => a - b);
  return { p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) };
}

function medianOf(turns: Percentiles[]): Percentiles {
  return { p50Ms: median(turns.map(({ p50Ms }) => p50Ms)), p99Ms: median(turns.map(({ p99Ms }) => p99Ms)) };
}
