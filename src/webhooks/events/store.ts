import { sql } from 'kysely';
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
 * Inserts one event for each row of the CTE `receiver`, and its delivery if the event has one. A lease begins at the time of the INSERT
 * (`clock_timestamp()`) and not of the BEGIN (`now()`), because the transaction may have begun much earlier.
 */
const WRITE_EVENTS = sql`
  event_row AS (
    INSERT INTO event (tenant_id, id, credential_id, type, body, created_at)
    SELECT tenant_id, id, credential_id, type, body, created_at FROM receiver
  ), delivery_row AS (
    INSERT INTO delivery (tenant_id, id, credential_id, status, attempt_count, leased_until, claimed_at, lease_id)
    SELECT tenant_id, id, credential_id, 'pending', (lease_id IS NOT NULL)::int,
      CASE WHEN lease_id IS NOT NULL THEN clock_timestamp() + make_interval(secs => lease_seconds) END,
      CASE WHEN lease_id IS NOT NULL THEN now() END, lease_id
    FROM receiver WHERE is_delivered
  )`;

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
    WITH receiver AS (${receivers}), ${WRITE_EVENTS}
    SELECT id, webhook_url AS "webhookUrl", webhook_secret AS "webhookSecret" FROM receiver WHERE is_delivered
  `.execute(tx);
  return new Map(rows.map(({ id, ...target }) => [id, target]));
}
