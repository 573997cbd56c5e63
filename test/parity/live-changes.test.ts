import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { readTokenCallers, type CallerRow, type TokenInput } from '#access/sessions/caller-store.ts';
import { type LookInput, type LookRow, look } from '#staff/live-changes/store.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';
import { personId } from '../support/sessions.ts';
import { causeEvent } from '../support/webhooks.ts';
import { type Operation, testEachForm } from './forms.ts';
import { times } from './odd-inputs.ts';

const HOUR_MS = 3_600_000;

let service: TestService;
const tenants: TestTenant[] = [];
const owners: string[] = [];
before(async () => {
  service = await startService();
  while (tenants.length < 3) {
    const tenant = await service.tenant();
    tenants.push(tenant);
    owners.push(await personId(service, tenant.tenantId, 'owner'));
    await causeEvent(service, tenant);
  }
});
after(() => service.close());

const tenantAt = (index: number) => tenants[index % tenants.length] as TestTenant;

/**
 * Reads the newest orders, events, audit entries and reservations of tenants. Every second input asks only for rows that are newer than a
 * time one hour in the future. Such rows do not exist, so the read must find no rows for this input. Each output has the time of the read
 * (`momentMs`). This time differs in each run, so the test replaces it with 0.
 */
const lookAtTenants: Operation<LookInput, Omit<LookRow, 'momentMs'> | undefined> = {
  name: 'read of the newest rows',
  tenantIdOf: ({ tenantId }) => tenantId,
  inputs: (count) =>
    times(count, (index) => ({ tenantId: tenantAt(index).tenantId, backMs: index % 2 === 0 ? HOUR_MS : -HOUR_MS })),
  async run(db, inputs) {
    const rows = await look(db, inputs);
    return rows.map((row) => row && { ...row, momentMs: 0 });
  },
  async check(_db, inputs, outputs) {
    for (const [index, { backMs }] of inputs.entries()) {
      const { orderIds, eventOrderIds } = outputs[index] ?? assert.fail('each input has a row');
      assert.equal(orderIds?.length, backMs > 0 ? 1 : undefined);
      assert.deepEqual(eventOrderIds, orderIds, 'the event is about the order');
    }
  },
};

/**
 * Checks access tokens. Every third token has a wrong generation, like a token from before a change of the password. Every fifth token has
 * expired. The operation must refuse all these tokens.
 */
const checkTokens: Operation<TokenInput, CallerRow | undefined> = {
  name: 'check of tokens',
  tenantIdOf: ({ tenantId }) => tenantId,
  inputs: (count) =>
    times(count, (index) => ({
      tenantId: tenantAt(index).tenantId,
      personId: owners[index % owners.length] ?? '',
      generation: index % 3 === 2 ? -1 : 0,
      expiresAt: new Date(Date.now() + (index % 5 === 4 ? -HOUR_MS : HOUR_MS)).toISOString(),
    })),
  run: readTokenCallers,
  async check(_db, inputs, outputs) {
    assert.deepEqual(
      outputs.map((row) => row?.role),
      inputs.map((_, index) => (index % 3 === 2 || index % 5 === 4 ? undefined : 'owner')),
    );
  },
};

describe('the statements that read new rows for open screens and check access tokens, with one input and with several inputs', () => {
  testEachForm(() => service, lookAtTenants);
  testEachForm(() => service, checkTokens);
});
