import type { Target } from '../poster.ts';

/**
 * Program that sends deliveries: the service, a queue library, or the floor (a program without a queue). The operations `queues-…` compare
 * these programs. Each program has its own process.
 */
export interface Contestant {
  name: string;
  /** Text for the results table. It says what this program guarantees, for example that each event is delivered at least once. */
  guarantees: string;
  /** Process id of this program. */
  pid: number;
  /** Process id of the server that stores the queue. Null if this program has no queue. */
  storePid: number | null;
  /**
   * Stores a backlog of `events` events and distributes them evenly over the first `receivers` receivers. This program does not see the
   * events until the caller calls the returned function, which commits the backlog.
   */
  store(receivers: number, events: number): Promise<() => Promise<void>>;
  /** Waits until the outcomes of all deliveries are recorded. */
  untilRecorded(): Promise<void>;
}

/** Compared program that does not run on this machine, and the reason. */
export interface Missing {
  name: string;
  reason: string;
}

/** Receivers to which every compared program sends. */
export interface Field {
  targets: Target[];
  /** Certificate of all receivers, in PEM format. */
  cert: string;
  /** Stops each compared program at the end of the run. */
  resources: AsyncDisposableStack;
}
