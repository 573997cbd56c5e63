import { type EventRow, readEvents } from '../observer.ts';
import type { Post } from '../receivers.ts';
import type { World } from '../world.ts';

/** What a check looks back on. */
export interface Window {
  /** When the fault's part of the run began, milliseconds since 1970. */
  fromMs: number;
  /** How many creations, races and so on there were before. */
  creationsBefore: number;
  /** Whether the fault breaks off deliveries under way: they wait for the end of a lease. */
  interruptsDeliveries: boolean;
  /** Whether everything must have come to its end. */
  isLast: boolean;
}

/** The window, with what was seen of the events once the load had come to rest; retries may go on meanwhile. */
export interface Evidence extends Window {
  gatheredAtMs: number;
  /** By event, as they were just before the events were read. */
  postsBefore: Map<string, Post[]>;
  events: EventRow[];
}

export async function gather(world: World, window: Window): Promise<Evidence> {
  const postsBefore = new Map([...world.posts.byEvent].map(([eventId, posts]) => [eventId, [...posts]]));
  return { ...window, gatheredAtMs: Date.now(), postsBefore, events: await readEvents(world.postgres) };
}

/** One of the promises, as a question that the database, the history and the receivers answer together. */
export interface Invariant {
  promise: string;
  /** Where somebody begins who has to explain a violation. */
  lookAt: string;
  /** @returns each breach, with the ids to find it by */
  check(world: World, evidence: Evidence): Promise<string[]>;
}
