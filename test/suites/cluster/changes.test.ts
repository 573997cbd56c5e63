import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { announceChange, RecentChanges } from '#platform/changes/changes.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { type ClusterDatabase, createClusterDatabase } from '../../support/database.ts';
import { isTestCluster } from '../../support/test-cluster.ts';

const skip = !(await isTestCluster()) && 'TEST_DATABASE_URL does not lead to a cluster (Citus)';
const TENANT = 1;

describe('caches of processes that are connected to different nodes of a cluster', { skip }, () => {
  let database: ClusterDatabase;
  let nodes: Database[];
  before(async () => {
    database = await createClusterDatabase();
    const urls = [database.url, ...database.proxies.map(({ url }) => url)];
    nodes = urls.map((url) => createDatabase({ url, poolSize: 2, layout: 'cluster' }));
  });
  after(async () => {
    await Promise.all(nodes.map((node) => node.destroy()));
    await database.drop();
  });

  it('if a process on one node announces a change of a tenant, processes on all nodes remove the cached data of this tenant', async () => {
    for (const [reader, readerDb] of nodes.entries()) {
      const changes = new RecentChanges(readerDb, pino({ level: 'silent' }));
      const cache = changes.createCache<string>(10);
      for (const [writer, writerDb] of nodes.entries()) {
        await changes.catchUp();
        await cache.load(TENANT, 'key', async () => 'old value');
        assert.equal(cache.get('key'), 'old value');
        await inTransaction(writerDb, (tx) => announceChange(tx, TENANT));
        await changes.catchUp();
        assert.equal(cache.get('key'), undefined, `node ${reader} learns of the change of node ${writer}`);
      }
    }
  });
});
