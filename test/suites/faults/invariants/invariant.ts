import { type EventRow, readEvents } from '../observer.ts';
import type { Post } from '../receivers.ts';
import type { World } from '../world.ts';

/** Period of the run that the check of an invariant covers. */
export interface Window {
  /** Beginning of the period, in milliseconds since 1970. */
  fromMs: number;
  /** Number of entries in `history.creations` at the beginning of the period. */
  creationsBefore: number;
  /** True if the fault interrupts deliveries under way. Such a delivery then waits until its lease ends. */
  interruptsDeliveries: boolean;
  /** True at the end of the run, when every delivery must have ended. */
  isLast: boolean;
}

/**
 * Period that is checked, with the events and POSTs that the checks use. Events and POSTs are collected after the load has paused, but
 * deliveries may still be retried at that time.
 */
export interface Evidence extends Window {
  gatheredAtMs: number;
  /**
   * Received POSTs by event id, copied just before the events were read from the database. So `events` contains the event of each of these
   * POSTs, unless the event was never committed.
   */
  postsBefore: Map<string, Post[]>;
  events: EventRow[];
}

/** Collects the data for the checks of a period. */
export async function gather(world: World, window: Window): Promise<Evidence> {
  const postsBefore = new Map([...world.posts.byEvent].map(([eventId, posts]) => [eventId, [...posts]]));
  return { ...window, gatheredAtMs: Date.now(), postsBefore, events: await readEvents(world.postgres) };
}

/** A guarantee of the service, with a check that uses the database, the history and the receivers. */
export interface Invariant {
  promise: string;
  /** Place in the code where an investigation of a violation should begin. */
  lookAt: string;
  /**
   * Checks the guarantee.
   * @returns a description of each violation, with ids
   */
  check(world: World, evidence: Evidence): Promise<string[]>;
}
