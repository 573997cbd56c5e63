import type { Attempt, DeliveryStatus, FeedEntry } from './schema.ts';

export interface StoredAttempts {
  /** Attempts whose outcome is recorded, oldest first. */
  attempts: unknown;
  /** Number of attempts. If this number is greater than the length of `attempts`, the last attempt has no recorded outcome. */
  attempt_count: number;
  /** Time at which a process claimed the delivery for the last attempt. Null: there was no attempt. */
  claimed_at: Date | null;
}

/**
 * Returns stored attempts as the API returns them, with the fields in the order of the contract and times in milliseconds. An attempt without
 * a recorded outcome gets the error `no_outcome`: it is under way, or its process died.
 */
export function attemptsShape({ attempts, attempt_count, claimed_at }: StoredAttempts): Attempt[] {
  const ended = attempts as Attempt[];
  const shown = ended.map(({ at, http_status, duration_ms, error }) => ({
    at: new Date(at).toISOString(),
    http_status,
    duration_ms,
    error,
  }));
  if (attempt_count > ended.length && claimed_at !== null) {
    shown.push({ at: claimed_at.toISOString(), http_status: null, duration_ms: null, error: 'no_outcome' });
  }
  return shown;
}

/** Those of the delivery are null if the event has none. */
export interface EventWithDelivery {
  body: string;
  status: string | null;
  attempts: unknown;
  attempt_count: number | null;
  claimed_at: Date | null;
}

/**
 * Returns an event as the API shows it, with the state of its delivery. `JSON.stringify` wrote the stored body, so parsing and serialising it
 * again changes no byte, and the fields have the same bytes as in the signed body of a webhook.
 */
export function eventShape({ body, status, attempts, attempt_count, claimed_at }: EventWithDelivery) {
  const stored = { attempts, attempt_count: attempt_count ?? 0, claimed_at };
  return {
    ...(JSON.parse(body) as Pick<FeedEntry, 'event' | 'event_id' | 'occurred_at' | 'data'>),
    delivery: status === null ? null : { status: status as DeliveryStatus, attempts: attemptsShape(stored) },
  };
}
