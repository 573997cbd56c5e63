import type { Attempt } from './schema.ts';

/**
 * Converts stored attempts to the objects that the API returns, with the fields in the order of the contract and times in milliseconds.
 * PostgreSQL stores the fields in another order and the times in microseconds.
 */
export function attemptsShape(attempts: unknown): Attempt[] {
  return (attempts as Attempt[]).map(({ at, http_status, duration_ms, error }) => ({
    at: new Date(at).toISOString(),
    http_status,
    duration_ms,
    error,
  }));
}
