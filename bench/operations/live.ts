import { setTimeout as sleep } from 'node:timers/promises';
import { hasTopic, openStream, type TestStream } from '../../test/support/streams.ts';
import { callForJson, withId } from '../calls.ts';
import { cpuMsOf } from '../cpu.ts';
import type { OwnerOf } from '../owners.ts';
import type { Call } from '../load-worker.ts';
import type { Caller } from '../stand.ts';
import { percentile } from '../statistics.ts';
import { p99Within, type Row } from '../table.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';
import { newOrderCalls } from './orders.ts';

/** Number of tenants that have open streams of live changes. */
const TENANTS = 200;
/** Number of new orders per second, over all tenants, while the delay of hints (messages that data has changed) is measured. */
const ORDERS_PER_SECOND = 20;
/** Minimum length of the measurement of the delay, in seconds. A shorter measurement would have too few orders for a 99th percentile. */
const LEAST_SECONDS = 20;
/** Length of the measurement of the CPU time, in seconds. */
const CPU_SECONDS = 30;
/** Goal: the largest share of a CPU core, in percent, that the open streams may use while no data changes. */
const MOST_CPU_PERCENT = 3;
/** Goals for the delay of a hint (a message that data has changed) in ms: on the process that made the change, and on another process. */
const SAME_WITHIN_MS = 300;
const OTHER_WITHIN_MS = 1_000;
/** Time in milliseconds after which a hint (a message that data has changed) counts as lost. */
const LOST_AFTER_MS = 10_000;

export const LIVE: Operation[] = [{ name: 'live-changes', measure: measureLive }];

/**
 * Measures the CPU time of the service and its database that open streams of live changes take while no data changes. Also measures the delay of a hint (a message that
 * data has changed). The delay is the time from the response of the call that places an order until the hint arrives. It is measured on the
 * process that stored the order and on another process.
 */
async function measureLive(world: World): Promise<Row[]> {
  const { stand, second, ownerOf } = await world.twoNodes('bench_live');
  const calls = await newOrderCalls(stand);
  const callers = stand.partners.flatMap((partner, index) => {
    const isFirst = stand.partners.findIndex(({ tenantId }) => tenantId === partner.tenantId) === index;
    const order = calls[index];
    return isFirst && order !== undefined ? [{ ...partner, order }] : [];
  });
  callers.splice(TENANTS);
  const { pid, url } = stand.service;
  const idlePercent = await cpuPercent([pid, world.postgresPid]);
  const streams = await openStreams(url, callers, ownerOf);
  const cpu = (await cpuPercent([pid, world.postgresPid])) - idlePercent;
  const others = await openStreams(second.url, callers, ownerOf);
  const seconds = Math.max(LEAST_SECONDS, world.options.seconds * world.options.rounds);
  const delays = await placeOrders(url, callers, { same: streams, other: others, seconds });
  [...streams, ...others].forEach((stream) => stream.close());
  return [
    {
      operation: `streams of live changes of ${TENANTS} tenants, no changes`,
      goal: { text: `CPU < ${MOST_CPU_PERCENT} % of a core`, isReached: () => cpu < MOST_CPU_PERCENT },
      note: `${cpu.toFixed(1)} % of a core over ${CPU_SECONDS} s, beside ${idlePercent.toFixed(1)} % without streams`,
    },
    { operation: 'change to hint, same process', ...delays.same, goal: p99Within(SAME_WITHIN_MS) },
    { operation: 'change to hint, another process', ...delays.other, goal: p99Within(OTHER_WITHIN_MS) },
  ];
}

/** Opens a stream of live changes for the owner of each tenant, in the order of `callers`. */
async function openStreams(url: string, callers: Orderer[], ownerOf: OwnerOf): Promise<TestStream[]> {
  return await Promise.all(callers.map(async ({ tenantId }) => await openStream(url, await ownerOf(tenantId))));
}

/** Returns the CPU time of processes and their children, in percent of one core, over `CPU_SECONDS`. */
async function cpuPercent(pids: number[]): Promise<number> {
  const sumMs = async () => {
    const times = await Promise.all(pids.map(cpuMsOf));
    return times.reduce<number>((sum, ms) => sum + (ms ?? Number.NaN), 0);
  };
  const beforeMs = await sumMs();
  await sleep(CPU_SECONDS * 1_000);
  return ((await sumMs()) - beforeMs) / (CPU_SECONDS * 10);
}

/** Partner of a tenant, and the call with which this partner places an order. */
interface Orderer extends Caller {
  order: Call;
}

interface Percentiles {
  p50Ms: number;
  p99Ms: number;
}

/**
 * Places orders of the tenants in turn, at a constant rate. One process of the service, with the address `url`, stores all these orders.
 * Measures the delay from each order to its hint (message that data has changed).
 * @returns the percentiles of the delays. `same` is for the streams on the process that stores the orders. `other` is for the streams on
 * another process
 */
async function placeOrders(
  url: string,
  callers: Orderer[],
  { same, other, seconds }: { same: TestStream[]; other: TestStream[]; seconds: number },
): Promise<{ same: Percentiles; other: Percentiles }> {
  const delays = { same: [] as Promise<number>[], other: [] as Promise<number>[] };
  const placing: Promise<void>[] = [];
  for (let number = 0; number < seconds * ORDERS_PER_SECOND; number += 1) {
    const index = number % callers.length;
    const caller = callers[index];
    const streams = [same[index], other[index]];
    placing.push(
      (async () => {
        const delayOf = async (stream: TestStream | undefined, from: number, placed: Promise<number>) => {
          const block = await stream?.find(hasTopic('orders'), { from, withinMs: LOST_AFTER_MS });
          return Math.max(0, (block?.atMs ?? Number.NaN) - (await placed));
        };
        const place = async () => {
          if (caller !== undefined) {
            await callForJson(url, withId(caller.order, `live ${number}`));
          }
          return performance.now();
        };
        const placed = place();
        delays.same.push(delayOf(streams[0], streams[0]?.blocks.length ?? 0, placed));
        delays.other.push(delayOf(streams[1], streams[1]?.blocks.length ?? 0, placed));
        await placed;
      })(),
    );
    await sleep(1_000 / ORDERS_PER_SECOND);
  }
  await Promise.all(placing);
  return { same: await percentilesOf(delays.same), other: await percentilesOf(delays.other) };
}

async function percentilesOf(delays: Promise<number>[]): Promise<Percentiles> {
  const sorted = (await Promise.all(delays)).toSorted((a, b) => a - b);
  return { p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) };
}
