import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { sql } from 'kysely';
import { newId } from '#platform/lib/ids.ts';
import * as orders from '#restaurant/orders/store.ts';
import { startService, type TestService } from '../support/service.ts';
import { testEachForm, type Operation } from './forms.ts';
import { Hotels, instantAt, oddText, optional, times } from './odd-inputs.ts';
import { isTestCluster } from '../support/test-cluster.ts';

let service: TestService;
let hotels: Hotels;
before(async () => {
  service = await startService();
  hotels = await Hotels.open(service);
});
after(() => service.close());

const orderKey = ({ tenant_id, credential_id, external_order_id }: orders.NewOrder) =>
  `${tenant_id} ${credential_id} ${external_order_id}`;

/** Inserts orders. Every third order repeats the external id of the previous order, so the operation must skip it. */
const insertOrders: Operation<orders.NewOrder, boolean> = {
  name: 'insert of orders',
  tenantIdOf: ({ tenant_id }) => tenant_id,
  writes: { table: 'restaurant_order', key: ['id'] },
  inputs: (count) =>
    times(count, (index) => {
      const own = index % 3 === 2 ? index - 1 : index;
      const { tenantId, credential } = hotels.at(own);
      return {
        tenant_id: tenantId,
        id: newId(),
        credential_id: credential.id,
        external_order_id: `${oddText(own)} ${Math.floor(own / 2)}`,
        status: ['pending', 'ready', 'cancelled'][index % 3] as string,
        order_type: ['delivery', 'take_away', 'pick_up'][index % 3] as string,
        ...optional('customer_name', index, 0),
        ...optional('customer_phone', index, 1),
        ...optional('delivery_address', index, 2),
        ...optional('notes', index, 1),
        lines: `[ {"b": ${index}, "a": ${JSON.stringify(oddText(index))}, "b": 1.50} ]`,
        total: ['0', '0.10', '99999999.99'][index % 3] as string,
        currency: ['EUR', 'JPY'][index % 2] as string,
        created_at: instantAt(index),
      };
    }),
  run: orders.insertOrders,
  async check(db, inputs, outputs) {
    const seen = new Set<string>();
    const isFirst = inputs.map((input) => seen.size < seen.add(orderKey(input)).size);
    assert.deepEqual(outputs, isFirst);
    const stored = await db
      .selectFrom('restaurant_order')
      .selectAll()
      .select(sql<string>`lines::text`.as('lines'))
      .execute();
    const byId = new Map(stored.map((row) => [row.id, row]));
    assert.equal(byId.size, seen.size);
    for (const [index, input] of inputs.entries()) {
      const absent = {
        customer_name: null,
        customer_phone: null,
        delivery_address: null,
        notes: null,
        status_request_id: null,
        status_changed_at: null,
        last_status: null,
        ready_by: null,
        cancel_reason: null,
      };
      const expected = { ...absent, ...input, total: Number(input.total).toFixed(2) };
      assert.deepEqual(byId.get(input.id), isFirst[index] ? expected : undefined);
    }
  },
};

const findOrders: Operation<orders.ExternalKey, orders.OrderSummary | undefined> = {
  name: 'look-up of orders',
  tenantIdOf: ({ tenantId }) => tenantId,
  writes: { table: 'restaurant_order', key: ['id'] },
  inputs: (count) =>
    times(count, (index) => ({
      tenantId: hotels.at(index).tenantId,
      // Every fifth look-up has the credential of another tenant, so it must find no order.
      credentialId: hotels.at(index % 5 === 4 ? index + 1 : index).credential.id,
      externalOrderId: `${oddText(index)} ${index}`,
    })),
  async prepare(db, keys) {
    const rows = insertOrders.inputs(keys.length).map((row, index) => ({
      ...row,
      id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      tenant_id: hotels.at(index).tenantId,
      credential_id: hotels.at(index).credential.id,
      external_order_id: keys[index]?.externalOrderId ?? '',
    }));
    await orders.insertOrders(db, rows);
  },
  run: orders.findByExternalIds,
  async check(db, keys, outputs) {
    const stored = await db
      .selectFrom('restaurant_order')
      .select(['id', 'external_order_id', 'status'])
      .orderBy('id')
      .execute();
    assert.deepEqual(
      outputs,
      keys.map((_, index) => (index % 5 === 4 ? undefined : stored[index])),
    );
  },
};

describe('statements that insert and find orders, with one input and with several inputs', {
  skip: (await isTestCluster()) && 'the forms for one node do not run on a cluster',
}, () => {
  testEachForm(() => service, insertOrders);
  testEachForm(() => service, findOrders);
});
