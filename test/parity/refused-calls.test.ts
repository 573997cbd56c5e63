import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { newId } from '#platform/lib/ids.ts';
import * as refusals from '#access/refusals/store.ts';
import { startService, type TestService } from '../support/service.ts';
import { testEachForm } from './forms.ts';
import { Hotels, instantAt, oddText, times } from './odd-inputs.ts';

let service: TestService;
let hotels: Hotels;
before(async () => {
  service = await startService();
  hotels = await Hotels.open(service);
});
after(() => service.close());

const KEY = ['tenant_id', 'credential_id', 'id'];

describe('the statement that stores refused calls, with one input and with several inputs', () => {
  testEachForm(() => service, {
    name: 'insert of refused calls and removal of the oldest',
    inputs: (count) =>
      times(count, (index) => ({
        tenantId: hotels.at(index).tenantId,
        credentialId: hotels.at(index).credential.id,
        id: newId(),
        at: instantAt(index).toISOString(),
        method: oddText(index),
        path: `path ${oddText(index + 1)}`,
        status: 400 + index,
        code: `code ${oddText(index + 2)}`,
        message: oddText(index + 3),
        requestId: oddText(index + 4),
      })),
    tenantIdOf: ({ tenantId }) => tenantId,
    writes: { table: 'refused_call', key: KEY },
    run: async (db, calls) => {
      const stored = await refusals.storeRefusedCalls(db, calls);
      return calls.map(({ id }) => stored.has(id));
    },
    check: async (db, calls, outputs) => {
      assert.ok(outputs.every(Boolean));
      const byCredential = Map.groupBy(calls, ({ credentialId }) => credentialId);
      for (const [credentialId, own] of byCredential) {
        const rows = await refusals.readRefusedCalls(db, own[0]?.tenantId ?? 0, credentialId);
        const newest = own.toReversed().slice(0, 50);
        assert.deepEqual(
          rows?.map(({ tenant_id, credential_id, request_id, at, ...row }) => ({
            ...row,
            tenantId: tenant_id,
            credentialId: credential_id,
            requestId: request_id,
            at: at.toISOString(),
          })),
          newest,
        );
      }
    },
  });
});
