import type { Child } from './child.ts';
import type { Contestant } from './contestants/contestant.ts';
import { cpuMsOf } from './cpu.ts';
import type { Arrivals, ReceiversAnswer, ReceiversJob } from './receivers.ts';
import { median } from './statistics.ts';
import { waitUntil } from './wait.ts';

const ARRIVAL_TIMEOUT_MS = 300_000;

/**
 * Measured values of the delivery of one backlog. The sender is the service, a queue library, or a program without a queue (the floor). A
 * value is null if it does not apply to the sender, or if the benchmark cannot measure CPU time on this operating system.
 */
export interface QueueSlice {
  /** Deliveries per second, measured from the first to the last arrival. */
  perSecond: number;
  /** CPU time of the sender for one delivery, in milliseconds. */
  senderCpuMs: number | null;
  /** CPU time that the server of the queue (PostgreSQL or Redis) takes for one delivery, in milliseconds. */
  storeCpuMs: number | null;
  /** CPU time of the receivers, divided by the elapsed time. All receivers are one process, so the value is at most about 1. */
  receiverLoad: number | null;
  /** Number of connections that the sender opened. */
  connections: number;
}

interface Backlog {
  receivers: number;
  events: number;
}

/**
 * Stores a backlog, and measures how a compared program delivers it. The CPU time includes the recording of all
 * outcomes, but not the storing of the backlog.
 * @throws Error if a signature is wrong, or if the backlog is not delivered within 300 s
 */
export async function measureBacklog(
  receivers: Child<ReceiversJob, ReceiversAnswer>,
  contestant: Contestant,
  backlog: Backlog,
): Promise<QueueSlice> {
  const { pid, storePid } = contestant;
  const readCpu = async () => ({
    sender: await cpuMsOf(pid),
    store: storePid === null ? null : await cpuMsOf(storePid),
    receivers: await cpuMsOf(receivers.pid),
  });
  const commit = await contestant.store(backlog.receivers, backlog.events);
  await receivers.ask({ startsCount: true });
  const before = await readCpu();
  await commit();
  const arrivals = await untilArrived(receivers, contestant.name, backlog.events);
  await contestant.untilRecorded();
  const after = await readCpu();
  const used = (key: keyof typeof before) => {
    const [start, end] = [before[key], after[key]];
    return start === null || end === null ? null : end - start;
  };
  const [sender, store, receiver] = [used('sender'), used('store'), used('receivers')];
  return {
    perSecond: backlog.events / (arrivals.elapsedMs / 1000),
    senderCpuMs: sender && sender / backlog.events,
    storeCpuMs: store && store / backlog.events,
    receiverLoad: receiver && receiver / arrivals.elapsedMs,
    connections: arrivals.connections,
  };
}

/** Returns the medians of several slices. */
export function medianOfSlices(slices: QueueSlice[]): QueueSlice {
  const numbers = (value: (slice: QueueSlice) => number | null) => slices.map(value).filter((each) => each !== null);
  const of = (value: (slice: QueueSlice) => number | null) =>
    numbers(value).length === 0 ? null : median(numbers(value));
  return {
    perSecond: median(slices.map((slice) => slice.perSecond)),
    senderCpuMs: of((slice) => slice.senderCpuMs),
    storeCpuMs: of((slice) => slice.storeCpuMs),
    receiverLoad: of((slice) => slice.receiverLoad),
    connections: median(slices.map((slice) => slice.connections)),
  };
}

async function untilArrived(
  receivers: Child<ReceiversJob, ReceiversAnswer>,
  name: string,
  events: number,
): Promise<Arrivals> {
  let { arrivals } = await receivers.ask({});
  const haveArrived = async () => {
    ({ arrivals } = await receivers.ask({}));
    if (arrivals.badSignatures > 0) {
      throw new Error(`${arrivals.badSignatures} requests of ${name} had a wrong signature.`);
    }
    return arrivals.events >= events;
  };
  await waitUntil(haveArrived, ARRIVAL_TIMEOUT_MS, `${name} did not deliver the backlog`);
  return arrivals;
}
