import type { Attempt } from './schema.ts';

/**
 * Returns stored attempts in the form of the API, with the fields in the order of the contract and times in milliseconds. PostgreSQL stores
 * the fields in another order and times in microseconds.
 */
export function attemptsShape(attempts: unknown): Attempt[] {
  return (attempts as Attempt[]).map(({ at, http_status, duration_ms, error }) => ({
    at: new Date(at).toISOString(),
    http_status,
    duration_ms,
    error,
  }));
}
