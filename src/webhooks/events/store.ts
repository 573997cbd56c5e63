import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '#platform/db/database.ts';
import { Fields, selectForEach } from '#platform/db/inputs.ts';
import type { EventType } from './event-types.ts';
import type { Lease, Target } from './local-delivery.ts';

export interface NewEvent {
  tenantId: number;
  id: string;
  credentialId: string;
  type: EventType;
  body: string;
  createdAt: Date;
  /**
   * Lease for the first attempt, if this process will send the event itself. With a lease, the INSERT also claims the delivery and counts
   * the attempt. Null: a worker of this process or of another process claims the delivery later.
   */
  lease: Lease | null;
}

/**
 * Returns the entry of `attempts` for an attempt that was claimed at the given time and has no recorded outcome yet. The recorded outcome
 * replaces this entry.
 */
export function noOutcomeAt(claimedAt: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`jsonb_build_object('at', ${claimedAt}, 'http_status', NULL, 'duration_ms', NULL, 'error', 'no_outcome')`;
}

/**
 * Inserts one event for each row of the CTE `receiver`. A lease begins at the time of the INSERT (`clock_timestamp()`) and not of the BEGIN
 * (`now()`), because the transaction may have begun much earlier.
 */
const WRITE_EVENTS = sql`
  INSERT INTO event (tenant_id, id, credential_id, type, body, created_at, delivery_status,
                     attempt_count, attempts, next_attempt_at, lease_id)
  SELECT tenant_id, id, credential_id, type, body, created_at,
    CASE WHEN is_delivered THEN 'pending' END,
    (is_delivered AND lease_id IS NOT NULL)::int,
    CASE WHEN is_delivered AND lease_id IS NOT NULL THEN jsonb_build_array(${noOutcomeAt(sql`now()`)}) ELSE '[]' END,
    clock_timestamp() + make_interval(secs => lease_seconds),
    CASE WHEN is_delivered THEN lease_id END
  FROM receiver`;

/** Event with the fields that the INSERT takes as parameters. */
type EventInput = Omit<NewEvent, 'lease'> & { leaseId: string | null; leaseSeconds: number };

const EVENT_INPUT = new Fields<EventInput>({
  tenantId: 'bigint',
  id: 'uuid',
  credentialId: 'uuid',
  type: 'text',
  body: 'text',
  createdAt: 'timestamptz',
  leaseId: 'uuid',
  leaseSeconds: 'float8',
});

/**
 * Writes events. In a cluster, all events must belong to one tenant. In a database of a single node, the events may belong to several
 * tenants. This is one of the few statements that may write for several tenants. An event gets a delivery if its credential has a webhook
 * URL when the statement runs (decision 32). The LIMIT makes the planner look up each credential by index, even if the statistics of the
 * table are wrong.
 * @returns the URL and secret of each event that gets a delivery, by event id
 */
export async function insertEvents(tx: Tx, events: NewEvent[]): Promise<Map<string, Target>> {
  const inputs = events.map(({ lease, ...event }) => ({
    ...event,
    leaseId: lease?.id ?? null,
    leaseSeconds: lease?.seconds ?? 0,
  }));
  const receivers = selectForEach(
    EVENT_INPUT,
    inputs,
    (event) => sql`
      SELECT tenant_id, ${event.id} AS id, id AS credential_id, ${event.type} AS type, ${event.body} AS body,
        ${event.createdAt} AS created_at, ${event.leaseId} AS lease_id, ${event.leaseSeconds} AS lease_seconds,
        webhook_url, webhook_secret, webhook_url <> '' AND is_active AS is_delivered
      FROM credential WHERE tenant_id = ${event.tenantId} AND id = ${event.credentialId} LIMIT 1
    `,
  );
  const { rows } = await sql<Target & { id: string }>`
    WITH receiver AS (${receivers}), written AS (${WRITE_EVENTS})
    SELECT id, webhook_url AS "webhookUrl", webhook_secret AS "webhookSecret" FROM receiver WHERE is_delivered
  `.execute(tx);
  return new Map(rows.map(({ id, ...target }) => [id, target]));
}
