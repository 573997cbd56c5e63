import type pg from 'pg';
import type { Caller } from './stand.ts';
import { waitUntil } from './wait.ts';

const RECORD_TIMEOUT_MS = 600_000;

/** Partner that gets events. */
type Owner = Pick<Caller, 'tenantId' | 'credentialId'>;

/** Returns the body of an event, in the form in which the service writes it. */
export function eventBody(eventId: string): string {
  const data = { order_id: '0'.repeat(36), external_order_id: 'delivered', status: 'confirmed' };
  return JSON.stringify({
    event: 'order.status_changed',
    event_id: eventId,
    occurred_at: new Date().toISOString(),
    data,
  });
}

/** The two parts of the body of an event: before its id, and after its id. */
export const [BODY_BEFORE_ID = '', BODY_AFTER_ID = ''] = eventBody('EVENT-ID').split('EVENT-ID');

/** Writes `count` events that are due now, and distributes them evenly over the subscribers. */
export async function writeEvents(client: pg.Client, subscribers: Owner[], count: number): Promise<void> {
  await client.query({
    name: 'events',
    text: `WITH event_row AS (
             INSERT INTO event (tenant_id, id, credential_id, type, body, subject, created_at)
             SELECT tenant_id, id, credential_id, 'order.status_changed', $4::text || id || $5, '{}', now()
             FROM (SELECT uuidv7() AS id, 1 + number % cardinality($1::bigint[]) AS place FROM generate_series(1, $3::int) AS number) AS new
             CROSS JOIN LATERAL (SELECT ($1::bigint[])[place] AS tenant_id, ($2::uuid[])[place] AS credential_id) AS owner
             RETURNING tenant_id, id, credential_id
           )
           INSERT INTO delivery (tenant_id, id, credential_id, status) SELECT tenant_id, id, credential_id, 'pending' FROM event_row`,
    values: [
      subscribers.map(({ tenantId }) => tenantId),
      subscribers.map(({ credentialId }) => credentialId),
      count,
      BODY_BEFORE_ID,
      BODY_AFTER_ID,
    ],
  });
}

/**
 * Waits until the service has recorded the outcome of every delivery to these subscribers. The service records outcomes in batches after
 * the deliveries. Without this wait, the service would still record outcomes during the next measurement.
 * @throws Error if deliveries are still pending after 10 minutes
 */
export async function untilRecorded(client: pg.Client, subscribers: Owner[]): Promise<void> {
  const isRecorded = async () => {
    const { rowCount } = await client.query(
      `SELECT FROM delivery WHERE status = 'pending' AND credential_id = ANY ($1) LIMIT 1`,
      [subscribers.map(({ credentialId }) => credentialId)],
    );
    return rowCount === 0;
  };
  await waitUntil(isRecorded, RECORD_TIMEOUT_MS, 'The service did not record all outcomes');
}
