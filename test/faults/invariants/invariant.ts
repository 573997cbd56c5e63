import { type EventRow, readEvents } from '../observer.ts';
import type { Post } from '../receivers.ts';
import type { World } from '../world.ts';

/** Period of the run that the check of an invariant covers. */
export interface Window {
  /** Beginning of the period, in milliseconds since 1970. */
  fromMs: number;
  /** Number of creations in the history before the period. */
  creationsBefore: number;
  /** True if the fault interrupts deliveries under way, which then wait for the end of their lease. */
  interruptsDeliveries: boolean;
  /** True at the end of the run, when every delivery must have ended. */
  isLast: boolean;
}

/** A window with the events and POSTs after the load has paused. Retries may still continue. */
export interface Evidence extends Window {
  gatheredAtMs: number;
  /** POSTs by event, copied just before the events were read. */
  postsBefore: Map<string, Post[]>;
  events: EventRow[];
}

/** Collects the evidence for the checks of a window. */
export async function gather(world: World, window: Window): Promise<Evidence> {
  const postsBefore = new Map([...world.posts.byEvent].map(([eventId, posts]) => [eventId, [...posts]]));
  return { ...window, gatheredAtMs: Date.now(), postsBefore, events: await readEvents(world.postgres) };
}

/** A promise, with a check that uses the database, the history and the receivers. */
export interface Invariant {
  promise: string;
  /** Place in the code where an investigation of a violation should begin. */
  lookAt: string;
  /**
   * Checks the promise.
   * @returns a description of each breach, with ids
   */
  check(world: World, evidence: Evidence): Promise<string[]>;
}
