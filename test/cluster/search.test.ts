import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { findDueQueues, findDueQueuesOfReachableNodes } from '#webhooks/deliveries/store.ts';
import { isTestCluster } from '../support/test-cluster.ts';
import { insertBacklog, insertCredentials } from '../support/events.ts';
import { startService, type TestService } from '../support/service.ts';

const skip = !(await isTestCluster()) && 'TEST_DATABASE_URL does not lead to a cluster (Citus)';

/** A URL with characters that have a special meaning in SQL. */
const ODD_URL = 'https://odd.example/a\'b\\c"d,{e}';

describe('the two searches for due deliveries on a cluster', { skip }, () => {
  let service: TestService;
  before(async () => {
    service = await startService();
    for (let number = 0; number < 4; number += 1) {
      const tenant = await service.tenant();
      const urls = ['https://one.example/', 'https://two.example/', ODD_URL];
      const credentials = await insertCredentials(service, tenant.tenantId, urls);
      await insertBacklog(service.database.db, credentials, 2);
    }
  });
  after(() => service.close());

  for (const [what, search] of [
    ['all credentials', { after: null, limit: 100, passOver: [] }],
    ['the first five credentials', { after: null, limit: 5, passOver: [] }],
    ['credentials without some receivers', { after: null, limit: 100, passOver: [ODD_URL, 'https://two.example/'] }],
  ] as const) {
    it(`the search of all nodes and the search of each node find the same credentials with due deliveries: ${what}`, async () => {
      const { db } = service.database;
      const found = await findDueQueues(db, { ...search, passOver: [...search.passOver] });
      assert.ok(found.length >= 4, `${found.length} found`);
      assert.deepEqual(await findDueQueuesOfReachableNodes(db, { ...search, passOver: [...search.passOver] }), found);
      const next = { ...search, passOver: [...search.passOver], after: found[1] ?? null };
      assert.deepEqual(await findDueQueuesOfReachableNodes(db, next), await findDueQueues(db, next));
    });
  }
});
