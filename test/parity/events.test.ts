import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { sql } from 'kysely';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import type { Lease } from '#webhooks/events/events.ts';
import * as events from '#webhooks/events/store.ts';
import { startService, type TestService } from '../support/service.ts';
import { testEachForm, type Operation } from './forms.ts';
import { Hotels, instantAt, oddText, times } from './odd-inputs.ts';
import { isTestCluster } from '../support/test-cluster.ts';

let service: TestService;
let hotels: Hotels;
before(async () => {
  service = await startService();
  hotels = await Hotels.open(service);
});
after(() => service.close());

const leaseAt = (index: number): Lease | null =>
  index % 3 === 0 ? null : { id: newId(), seconds: 1_000 * (1 + (index % 5)), beginBeforeMs: 0 };

/**
 * Inserts events of three tenants. The first two have a webhook, so each of their events gets a delivery. The last tenant has no webhook.
 */
const insertEvents: Operation<events.NewEvent, [string, string] | null> = {
  name: 'insert of events',
  tenantIdOf: ({ tenantId }) => tenantId,
  writes: { table: 'event', key: ['id'] },
  inputs: (count) =>
    times(count, (index) => ({
      tenantId: hotels.at(index).tenantId,
      id: newId(),
      credentialId: hotels.at(index).credential.id,
      type: index % 2 === 0 ? 'order.status_changed' : 'reservation.created',
      body: JSON.stringify({ text: oddText(index) }),
      createdAt: instantAt(index),
      subject: {
        type: index % 2 === 0 ? ('order' as const) : ('reservation' as const),
        id: newId(),
        external_id: oddText(index),
      },
      lease: leaseAt(index),
    })),
  async prepare(db) {
    await db.deleteFrom('delivery').execute();
    for (const { tenantId, credential } of hotels.all.slice(0, -1)) {
      await db
        .updateTable('credential')
        .set({ webhook_url: `https://${tenantId}.example/`, webhook_secret: Buffer.from(`secret ${tenantId}`) })
        .where('tenant_id', '=', tenantId)
        .where('id', '=', credential.id)
        .execute();
    }
  },
  async run(db, inputs) {
    const targets = await inTransaction(db, (tx) => events.insertEvents(tx, inputs));
    return inputs.map(({ id }) => {
      const target = targets.get(id);
      return target === undefined ? null : [target.webhookUrl, target.webhookSecret.toString()];
    });
  },
  async check(db, inputs, outputs) {
    const { rows: stored } = await sql<Record<string, unknown> & { id: string }>`SELECT * FROM event`.execute(db);
    const { rows: deliveries } = await sql<Record<string, unknown> & { id: string; seconds: number | null }>`
      SELECT *, extract(epoch FROM leased_until - now())::float8 AS seconds, claimed_at IS NOT NULL AS is_claimed FROM delivery
    `.execute(db);
    assert.equal(stored.length, inputs.length);
    for (const [index, input] of inputs.entries()) {
      const { tenantId, lease } = input;
      const isDelivered = tenantId !== hotels.all.at(-1)?.tenantId;
      assert.deepEqual(outputs[index], isDelivered ? [`https://${tenantId}.example/`, `secret ${tenantId}`] : null);
      const { feed_position: _, ...event } = stored.find(({ id }) => id === input.id) ?? assert.fail();
      const key = { tenant_id: tenantId, id: input.id, credential_id: input.credentialId };
      assert.deepEqual(event, {
        ...key,
        type: input.type,
        body: input.body,
        created_at: input.createdAt,
        subject: input.subject,
      });
      const delivery = deliveries.find(({ id }) => id === input.id);
      if (!isDelivered) {
        assert.equal(delivery, undefined);
        continue;
      }
      const {
        seconds,
        next_attempt_at: _dueAt,
        leased_until: _leasedUntil,
        claimed_at: _claimedAt,
        ...row
      } = delivery ?? assert.fail();
      const isClaimed = lease !== null;
      assert.deepEqual(row, {
        ...key,
        status: 'pending',
        attempt_count: isClaimed ? 1 : 0,
        attempts: [],
        answers: null,
        lease_id: isClaimed ? lease.id : null,
        is_claimed: isClaimed,
      });
      assert.ok(
        isClaimed ? Math.abs((seconds ?? 0) - lease.seconds) < 60 : seconds === null,
        `leased for ${seconds} s`,
      );
    }
  },
};

describe('the statement that inserts events, with one input and with several inputs', {
  skip: (await isTestCluster()) && 'the forms for one node do not run on a cluster',
}, () => {
  testEachForm(() => service, insertEvents);
});
