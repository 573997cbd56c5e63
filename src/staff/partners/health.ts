import type { Database } from '#platform/db/database.ts';
import { firstIdAt, timeOf } from '#platform/lib/ids.ts';
import type { CredentialHealth } from './schema.ts';
import { countByHour, type HourRow } from './store.ts';

const HOUR_MS = 3_600_000;
const HOURS = 24;
/** Maximum number of events that one call of `readHealth` reads. */
const MAX_EVENTS = 5_000;

/** Returns the counts and durations of a credential's deliveries for each of the last 24 hours. Reads at most the newest 5,000 events. */
export async function readHealth(db: Database, tenantId: number, credentialId: string): Promise<CredentialHealth> {
  const nowMs = Date.now();
  const dayAgoMs = nowMs - HOURS * HOUR_MS;
  const rows = await countByHour(db, tenantId, { credentialId, fromId: firstIdAt(dayAgoMs), limit: MAX_EVENTS });
  const since = completeSince(rows) ?? new Date(dayAgoMs);
  const byHour = new Map(rows.map((row) => [row.hour, row]));
  const hours = [];
  for (let hour = Math.floor(since.getTime() / HOUR_MS); hour <= nowMs / HOUR_MS; hour += 1) {
    hours.push(hourShape(hour, byHour.get(hour)));
  }
  return { since: since.toISOString(), hours };
}

/**
 * Returns the time of the oldest counted event if the query stopped at the limit `MAX_EVENTS`. The counts then do not include older events.
 * Returns null if the query has counted all events of the last 24 hours.
 */
function completeSince(rows: HourRow[]): Date | null {
  const events = rows.reduce((sum, row) => sum + row.events, 0);
  const [first] = rows;
  return events >= MAX_EVENTS && first !== undefined ? timeOf(first.oldest_id) : null;
}

function hourShape(hour: number, row: HourRow | undefined): CredentialHealth['hours'][number] {
  const [p50, p95] = row?.percentiles ?? [null, null];
  return {
    at: new Date(hour * HOUR_MS).toISOString(),
    delivered: row?.delivered ?? 0,
    failed: row?.failed ?? 0,
    pending: row?.pending ?? 0,
    p50_ms: p50 === null ? null : Math.round(p50),
    p95_ms: p95 === null ? null : Math.round(p95),
  };
}
