import type { Attempt } from './schema.ts';

/** Attempts of a delivery, as the database stores them. */
export interface StoredAttempts {
  /** Attempts whose outcome is recorded, in the order in which they began. */
  attempts: unknown;
  /** Number of attempts. If this number is greater than the length of `attempts`, the last attempt has no recorded outcome. */
  attempt_count: number;
  /** Time at which a process claimed the delivery for the last attempt. Null: there was no attempt. */
  claimed_at: Date | null;
}

/**
 * Returns stored attempts as the API returns them, with the fields in the order of the contract and times in milliseconds. PostgreSQL
 * stores the fields in another order and the times in microseconds. An attempt without a recorded outcome gets the error `no_outcome`. Such
 * an attempt is under way, or its process died before it recorded the outcome.
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
