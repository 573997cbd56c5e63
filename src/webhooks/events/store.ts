import { type RawBuilder, sql } from 'kysely';
import { isCluster, type Tx } from '#platform/db/database.ts';
import { Fields, selectForEach } from '#platform/db/inputs.ts';
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

/** Event with the fields that the INSERT takes in its list. The subject is JSON text. */
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

/** SQL condition that is true for a credential whose events get deliveries. */
const IS_DELIVERED = sql`webhook_url <> '' AND is_active`;

/**
 * Writes events. An event gets a delivery if its credential has a webhook URL when the statement runs (decision 32). On a cluster (Citus),
 * all events must belong to one tenant. On a single database server, the events may belong to several tenants.
 *
 * On a cluster, each of the three parts is a statement of its own, because a cluster cannot send an INSERT into two tables to one node
 * (architecture, database rule 4). On one node, they are one statement, because two more round trips would cost more than a tenth of the
 * change that causes the event.
 * @returns the URL and secret of each event that gets a delivery, by event id
 */
export async function insertEvents(tx: Tx, events: NewEvent[]): Promise<Map<string, Target>> {
  const receivers = receiversOf(tx, events);
  const targets = isCluster(tx)
    ? await executeParts(tx, partsFrom(sql`(${receivers}) AS receiver`))
    : await executeTogether(tx, receivers, partsFrom(sql`receiver`));
  return new Map(targets.map(({ id, ...target }) => [id, target]));
}

/**
 * Returns the statement that reads the credential of each event. The subquery ends with `LIMIT 1`, so PostgreSQL cannot turn it into a
 * join. Instead it runs the subquery for each event, and uses an index. For a join, PostgreSQL could read the whole table of credentials if
 * the statistics of the table are wrong.
 */
function receiversOf(tx: Tx, events: NewEvent[]): RawBuilder<unknown> {
  const inputs = events.map(({ lease, subject, ...event }) => ({
    ...event,
    subject: JSON.stringify(subject),
    leaseId: lease?.id ?? null,
    leaseSeconds: lease?.seconds ?? 0,
  }));
  return selectForEach(
    tx,
    EVENT_INPUT,
    inputs,
    (event) => sql`
      SELECT tenant_id, ${event.id} AS id, id AS credential_id, ${event.type} AS type, ${event.body} AS body,
        ${event.createdAt} AS created_at, ${event.subject} AS subject, ${event.leaseId} AS lease_id, ${event.leaseSeconds} AS lease_seconds,
        webhook_url, webhook_secret, ${IS_DELIVERED} AS is_delivered
      FROM credential WHERE tenant_id = ${event.tenantId} AND id = ${event.credentialId} LIMIT 1
    `,
  );
}

type TargetRow = Target & { id: string };

interface Parts {
  insertEvents: RawBuilder<unknown>;
  insertDeliveries: RawBuilder<unknown>;
  readTargets: RawBuilder<TargetRow>;
}

/**
 * Returns the parts that write the events, write their deliveries, and read their targets.
 *
 * The duration of a lease counts from the time of the statement. It does not count from the time of the BEGIN (`now()`), because the
 * transaction may have begun much earlier. A cluster accepts `statement_timestamp()` here, but not `clock_timestamp()`, which is volatile.
 * @param receiver table expression with the rows of `receiversOf`
 */
function partsFrom(receiver: RawBuilder<unknown>): Parts {
  return {
    insertEvents: sql`
      INSERT INTO event (tenant_id, id, credential_id, type, body, created_at, subject)
      SELECT receiver.tenant_id, id, credential_id, type, body, created_at, subject FROM ${receiver}`,
    insertDeliveries: sql`
      INSERT INTO delivery (tenant_id, id, credential_id, status, attempt_count, leased_until, claimed_at, lease_id)
      SELECT receiver.tenant_id, id, credential_id, 'pending', (lease_id IS NOT NULL)::int,
        CASE WHEN lease_id IS NOT NULL THEN statement_timestamp() + make_interval(secs => lease_seconds) END,
        CASE WHEN lease_id IS NOT NULL THEN now() END, lease_id
      FROM ${receiver} WHERE is_delivered`,
    readTargets: sql<TargetRow>`
      SELECT id, webhook_url AS "webhookUrl", webhook_secret AS "webhookSecret",
        extract(epoch FROM now())::float8 * 1000 AS "claimedAtMs"
      FROM ${receiver} WHERE is_delivered`,
  };
}

async function executeTogether(
  tx: Tx,
  receivers: RawBuilder<unknown>,
  { insertEvents: events, insertDeliveries: deliveries, readTargets }: Parts,
): Promise<TargetRow[]> {
  const { rows } = await sql<TargetRow>`
    WITH receiver AS (${receivers}), event_row AS (${events}), delivery_row AS (${deliveries}) ${readTargets}
  `.execute(tx);
  return rows;
}

async function executeParts(
  tx: Tx,
  { insertEvents: events, insertDeliveries: deliveries, readTargets }: Parts,
): Promise<TargetRow[]> {
  await events.execute(tx);
  await deliveries.execute(tx);
  return (await readTargets.execute(tx)).rows;
}
