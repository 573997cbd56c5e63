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
  /** Process id of the PostgreSQL or Redis server in which this contestant stores its queue. Null if the contestant has no queue. */
  storePid: number | null;
  /**
   * Writes a backlog of events in an open transaction. This program starts to deliver the events when the caller calls the returned
   * function, which commits the transaction.
   * @param receivers number of receivers that get these events. If the number is 50, the first 50 receivers of the comparison get the
   * events. Each receiver gets about the same number of events
   * @param events number of events for all these receivers together
   */
  store(receivers: number, events: number): Promise<() => Promise<void>>;
  /** Waits until the outcomes of all deliveries are recorded. */
  untilRecorded(): Promise<void>;
}

/** Name of a program that the comparison leaves out, and the reason why the program does not run on this machine. */
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
