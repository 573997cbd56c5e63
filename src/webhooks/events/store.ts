import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '#platform/db/database.ts';
import { Fields, selectForEach } from '#platform/db/inputs.ts';
import { isCluster } from '#platform/db/layout.ts';
import type { EventType } from './event-types.ts';
import type { Lease, Target } from './local-delivery.ts';
import type { EventSubject } from './schema.ts';

/** Event to insert. `createdAt` is the time of the change that the event reports. */
export interface NewEvent {
  tenantId: number;
  id: string;
  credentialId: string;
  type: EventType;
  body: string;
  createdAt: Date;
  subject: EventSubject;
  /**
   * Lease for the first attempt, if this process will send the event itself. With a lease, the INSERT also claims the delivery and counts
   * the attempt. Null: a worker of any process claims the delivery later.
   */
  lease: Lease | null;
}

/** Event with the fields that the INSERT takes as parameters. The subject is JSON text. */
type EventInput = Omit<NewEvent, 'lease' | 'subject'> & {
  subject: string;
  leaseId: string | null;
  leaseSeconds: number;
};

const EVENT_INPUT = new Fields<EventInput>({
  tenantId: 'bigint',
  id: 'uuid',
  credentialId: 'uuid',
  type: 'text',
  body: 'text',
  createdAt: 'timestamptz',
  subject: 'json',
  leaseId: 'uuid',
  leaseSeconds: 'float8',
});

/** Time of the claim in milliseconds of Unix time, which is the start time of the transaction. */
const CLAIMED_AT_MS = sql`extract(epoch FROM now())::float8 * 1000`;
/** SQL condition that is true for a credential whose events get deliveries. */
const IS_DELIVERED = sql`webhook_url <> '' AND is_active`;
const EVENT_COLUMNS = sql`event (tenant_id, id, credential_id, type, body, created_at, subject)`;
const DELIVERY_COLUMNS = sql`delivery (tenant_id, id, credential_id, status, attempt_count, leased_until, claimed_at, lease_id)`;

/**
 * Returns the SQL values for these columns of a new delivery: `status`, `attempt_count`, `leased_until`, `claimed_at` and `lease_id`. The
 * duration of the lease counts from the time of the INSERT (`clock_timestamp()`). It does not count from the time of the BEGIN (`now()`),
 * because the transaction may have begun much earlier.
 */
function firstClaim(leaseId: RawBuilder<unknown>, leaseSeconds: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`'pending', (${leaseId} IS NOT NULL)::int,
    CASE WHEN ${leaseId} IS NOT NULL THEN clock_timestamp() + make_interval(secs => ${leaseSeconds}) END,
    CASE WHEN ${leaseId} IS NOT NULL THEN now() END, ${leaseId}`;
}

/**
 * Writes events. An event gets a delivery if its credential has a webhook URL when the statement runs (decision 32). On a cluster (Citus),
 * all events must belong to one tenant. On a single database server, the events may belong to several tenants.
 * @returns the URL and secret of each event that gets a delivery, by event id
 */
export async function insertEvents(tx: Tx, events: NewEvent[]): Promise<Map<string, Target>> {
  const inputs = events.map(({ lease, subject, ...event }) => ({
    ...event,
    subject: JSON.stringify(subject),
    leaseId: lease?.id ?? null,
    leaseSeconds: lease?.seconds ?? 0,
  }));
  return isCluster(tx) ? await insertRows(tx, inputs) : await insertTogether(tx, inputs);
}

/**
 * Writes the events and their deliveries in one statement. The subquery that finds the credential of an event ends with `LIMIT 1`, so
 * PostgreSQL cannot turn the subquery into a join. Instead it runs the subquery for each event, and uses an index. For a join, PostgreSQL
 * could read the whole table of credentials if the statistics of the table are wrong.
 */
async function insertTogether(tx: Tx, inputs: EventInput[]): Promise<Map<string, Target>> {
  const receivers = selectForEach(
    tx,
    EVENT_INPUT,
    inputs,
    (event) => sql`
      SELECT tenant_id, ${event.id} AS id, id AS credential_id, ${event.type} AS type, ${event.body} AS body,
        ${event.createdAt} AS created_at, ${event.subject} AS subject, ${event.leaseId} AS lease_id, ${event.leaseSeconds} AS lease_seconds,
        webhook_url, webhook_secret, ${CLAIMED_AT_MS} AS claimed_at_ms, ${IS_DELIVERED} AS is_delivered
      FROM credential WHERE tenant_id = ${event.tenantId} AND id = ${event.credentialId} LIMIT 1
    `,
  );
  const { rows } = await sql<Target & { id: string }>`
    WITH receiver AS (${receivers}), event_row AS (
      INSERT INTO ${EVENT_COLUMNS} SELECT tenant_id, id, credential_id, type, body, created_at, subject FROM receiver
    ), delivery_row AS (
      INSERT INTO ${DELIVERY_COLUMNS}
      SELECT tenant_id, id, credential_id, ${firstClaim(sql`lease_id`, sql`lease_seconds`)} FROM receiver WHERE is_delivered
    )
    SELECT id, webhook_url AS "webhookUrl", webhook_secret AS "webhookSecret", claimed_at_ms AS "claimedAtMs" FROM receiver WHERE is_delivered
  `.execute(tx);
  return new Map(rows.map(({ id, ...target }) => [id, target]));
}

/**
 * Reads the credentials, and then writes the rows of the events and of their deliveries. Used on a cluster, where one INSERT into several
 * tables or an INSERT … SELECT would query all nodes (architecture, database rule 4).
 */
async function insertRows(tx: Tx, inputs: EventInput[]): Promise<Map<string, Target>> {
  const [first] = inputs;
  const { rows } = await sql<Target & { id: string; isDelivered: boolean }>`
    SELECT id, webhook_url AS "webhookUrl", webhook_secret AS "webhookSecret", ${CLAIMED_AT_MS} AS "claimedAtMs",
      ${IS_DELIVERED} AS "isDelivered"
    FROM credential WHERE tenant_id = ${first?.tenantId} AND id = ANY(${inputs.map(({ credentialId }) => credentialId)}::uuid[])
  `.execute(tx);
  const events: RawBuilder<unknown>[] = [];
  const deliveries: RawBuilder<unknown>[] = [];
  const targets = new Map<string, Target>();
  for (const input of inputs) {
    const credential = rows.find(({ id }) => id === input.credentialId);
    const { tenantId, id, credentialId, type, body, createdAt, subject, leaseId, leaseSeconds } =
      EVENT_INPUT.parameters(input);
    if (credential !== undefined) {
      events.push(sql`(${sql.join([tenantId, id, credentialId, type, body, createdAt, subject])})`);
    }
    if (credential?.isDelivered) {
      deliveries.push(sql`(${sql.join([tenantId, id, credentialId, firstClaim(leaseId, leaseSeconds)])})`);
      const { id: _, isDelivered: __, ...target } = credential;
      targets.set(input.id, target);
    }
  }
  await insertValues(tx, EVENT_COLUMNS, events);
  await insertValues(tx, DELIVERY_COLUMNS, deliveries);
  return targets;
}

async function insertValues(tx: Tx, columns: RawBuilder<unknown>, values: RawBuilder<unknown>[]): Promise<void> {
  if (values.length > 0) {
    await sql`INSERT INTO ${columns} VALUES ${sql.join(values)}`.execute(tx);
  }
}
