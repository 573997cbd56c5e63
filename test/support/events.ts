import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { readConfig } from '#platform/config.ts';
import type { Database } from '#platform/db/database.ts';
import { webhookSecretLocation } from '#access/credentials/credentials.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import type { DeliveryMetrics } from '#webhooks/deliveries/metrics.ts';
import type { EventInput, TransactionWithEvents } from '#webhooks/events/events.ts';
import { type DeliveryPace, startWorker, type Worker } from '#service/worker.ts';
import type { TestService } from './service.ts';

export interface CredentialRef {
  tenantId: number;
  credential: { id: string };
}

/** Starts a worker that only sends deliveries, for a service. It retries immediately. */
export function startTestWorker(service: TestService, pace: DeliveryPace = {}, metrics?: DeliveryMetrics): Worker {
  return startWorker({
    config: { ...readConfig({}), webhookAllowPrivateNetwork: true },
    db: service.database.db,
    keyring: service.keyring,
    log: pino({ level: 'silent' }),
    pace: { drawWaitMs: () => 0, probeRestMs: 0, pollEveryMs: 100, ...pace },
    ...(metrics ? { metrics } : {}),
  });
}

/** Returns an event about a new status of an order that does not exist. `name` is the external id of the order. */
export function eventInput({ tenantId, credential }: CredentialRef, name: string = randomUUID()): EventInput {
  return {
    tenantId,
    credentialId: credential.id,
    type: 'order.status_changed',
    occurredAt: new Date(),
    subject: { type: 'order', id: randomUUID(), external_id: name },
    status: 'confirmed',
  };
}

export async function writeEvent(
  transaction: TransactionWithEvents,
  whose: CredentialRef,
  name?: string,
): Promise<void> {
  await transaction(async (_tx, record) => await record(eventInput(whose, name)));
}

/** Inserts `count` due events for each credential, as an API process without a worker leaves them. */
export async function insertBacklog(
  db: Database,
  whose: CredentialRef | CredentialRef[],
  count: number,
): Promise<void> {
  const rows = [whose].flat().flatMap((each) =>
    Array.from({ length: count }, (_, index) => ({
      ...each,
      id: newId(),
      body: JSON.stringify({ number: index + 1 }),
    })),
  );
  const given = sql`
    unnest(${rows.map(({ tenantId }) => tenantId)}::bigint[], ${rows.map(({ id }) => id)}::uuid[],
           ${rows.map(({ credential }) => credential.id)}::uuid[], ${rows.map(({ body }) => body)}::text[])
      AS given (tenant_id, id, credential_id, body)`;
  await inTransaction(db, async (tx) => {
    // ANALYZE gathers statistics. Without them, the check of each foreign key reads the whole table of credentials, which takes seconds
    // with 5,000 credentials.
    await sql`ANALYZE credential`.execute(tx);
    await sql`
      INSERT INTO event (tenant_id, id, credential_id, type, body, subject, created_at)
      SELECT tenant_id, id, credential_id, 'order.status_changed', body,
        json_build_object('type', 'order', 'id', id, 'external_id', 'N-1'), now() FROM ${given}`.execute(tx);
    await sql`
      INSERT INTO delivery (tenant_id, id, credential_id, status)
      SELECT tenant_id, id, credential_id, 'pending' FROM ${given}`.execute(tx);
  });
}

/** Writes them directly to the database, because that is faster than the API. */
export async function insertCredentials(
  service: TestService,
  tenantId: number,
  urls: string[],
): Promise<CredentialRef[]> {
  const ids = urls.map(() => newId());
  await inTransaction(service.database.db, async (tx) => {
    const rows = [];
    for (const [index, id] of ids.entries()) {
      rows.push({
        tenant_id: tenantId,
        id,
        audience: 'third_party',
        label: '',
        api_key: id,
        secret_hash: Buffer.alloc(32),
        webhook_url: urls[index] ?? '',
        webhook_secret: service.keyring.encrypt('a secret', webhookSecretLocation(tenantId, id)),
      });
    }
    for (let done = 0; done < rows.length; done += 1_000) {
      await tx
        .insertInto('credential')
        .values(rows.slice(done, done + 1_000))
        .execute();
    }
  });
  return ids.map((id) => ({ tenantId, credential: { id } }));
}

export async function removeAllEvents(db: Database): Promise<void> {
  await db.deleteFrom('delivery').execute();
  await db.deleteFrom('event').execute();
}

export async function eventRows(db: Database, tenantId: number) {
  return await db.selectFrom('event').selectAll().where('tenant_id', '=', tenantId).orderBy('id').execute();
}

export async function deliveryRows(db: Database, tenantId: number) {
  return await db
    .selectFrom('delivery')
    .innerJoin('event', (join) =>
      join.onRef('event.tenant_id', '=', 'delivery.tenant_id').onRef('event.id', '=', 'delivery.id'),
    )
    .selectAll('delivery')
    .select('event.body')
    .where('delivery.tenant_id', '=', tenantId)
    .orderBy('delivery.id')
    .execute();
}
