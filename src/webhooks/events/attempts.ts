import type { Attempt } from './schema.ts';

/** PostgreSQL keeps the keys of an attempt in an order of its own, and its times with microseconds. */
export function attemptsShape(attempts: unknown): Attempt[] {
  return (attempts as Attempt[]).map(({ at, http_status, duration_ms, error }) => ({
    at: new Date(at).toISOString(),
    http_status,
    duration_ms,
    error,
  }));
}
