import { type EventRow, readEvents } from '../observer.ts';
import type { Post } from '../receivers.ts';
import type { World } from '../world.ts';

/** Period of the run that the check of an invariant covers. */
interface Window {
  /** Beginning of the period, in milliseconds since 1970. */
  fromMs: number;
  /** Number of entries in `history.creations` at the beginning of the period. */
  creationsBefore: number;
  /** True if the fault interrupts deliveries under way. Such a delivery then waits until its lease ends. */
  interruptsDeliveries: boolean;
  /** True at the end of the run, when every delivery must have ended. */
  isLast: boolean;
}

/** What was seen after the load had paused. Deliveries may still be retried at that time. */
export interface Evidence extends Window {
  gatheredAtMs: number;
  /** POSTs by event id that arrived before the events were read. So `events` has the event of each, unless it was never committed. */
  postsBefore: Map<string, Post[]>;
  events: EventRow[];
}

export async function gather(world: World, window: Window): Promise<Evidence> {
  const postsBefore = new Map(world.posts.byEvent);
  return { ...window, gatheredAtMs: Date.now(), postsBefore, events: await readEvents(world.postgres) };
}

/** A guarantee of the service, with a check that uses the database, the history and the receivers. */
export interface Invariant {
  promise: string;
  /** Returns a description of each violation, with ids. */
  check(world: World, evidence: Evidence): Promise<string[]>;
}
