import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { pino } from 'pino';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { eventually } from '#test/support/webhooks.ts';
import { inTransaction } from '../db/transaction.ts';
import { newId } from '../lib/ids.ts';
import { announceChange, waitForLeasesToEnd, type TenantCache, RecentChanges } from './changes.ts';
import { insertChange, readChanges } from './store.ts';

const isCluster = await isTestCluster();
const TENANT = 1;
const OTHER = 2;

describe('tenant caches of RecentChanges', () => {
  let database: TestDatabase;
  let changes: RecentChanges;
  let cache: TenantCache<string>;
  let warnings: string[];
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());
  beforeEach(async () => {
    warnings = [];
    const log = pino({ level: 'warn' }, { write: (line) => warnings.push(line) });
    changes = new RecentChanges(database.db, log);
    cache = changes.createCache(3);
    changes.start();
    await changes.catchUp();
    await load(TENANT, 'key', 'old value');
    await load(OTHER, 'key', 'value of the other tenant');
  });
  afterEach(() => changes.close());

  const get = (tenantId: number, key: string) => cache.get(`${tenantId} ${key}`);
  const load = (tenantId: number, key: string, value: string) =>
    cache.load(tenantId, `${tenantId} ${key}`, async () => value);
  /**
   * Waits until the cache returns this value. The lease of the cache may have ended because this process or the database has stalled. Then
   * the cache returns no data until the next poll. A value that was invalidated does not come back.
   */
  const returns = (tenantId: number, key: string, value: string) =>
    eventually(() => get(tenantId, key) === value, `cached value "${value}"`);
  const change = (tenantId = TENANT) => inTransaction(database.db, (tx) => announceChange(tx, tenantId));

  async function changeWithId(): Promise<string> {
    const id = newId();
    await inTransaction(database.db, async (tx) => await insertChange(tx, OTHER, id));
    return id;
  }

  async function breakDatabase(work: () => Promise<void>): Promise<void> {
    await sql`ALTER TABLE recent_change RENAME TO elsewhere`.execute(database.db);
    try {
      await work();
    } finally {
      await sql`ALTER TABLE elsewhere RENAME TO recent_change`.execute(database.db);
    }
  }

  it('if polls renew the lease of a tenant cache (500 ms), the cache still returns the data of an unchanged tenant after 700 ms', async () => {
    await sleep(700);
    await returns(TENANT, 'key', 'old value');
    assert.equal(get(TENANT, 'another'), undefined);
    assert.equal(get(3, 'key'), undefined);
  });

  it('when catchUp resolves, the cached data of a changed tenant is invalidated, but not the data of another tenant', async () => {
    await change();
    await changes.catchUp();
    assert.equal(get(TENANT, 'key'), undefined);
    await returns(OTHER, 'key', 'value of the other tenant');
  });

  it('if a tenant changes, a cache no longer returns the old data of the tenant after the time of one cache lease (500 ms) has passed', async () => {
    await change();
    await waitForLeasesToEnd();
    assert.equal(get(TENANT, 'key'), undefined);
  });

  it('if a poll reads a change again, a value that was cached after the change stays in the cache', async () => {
    await change();
    await changes.catchUp();
    await load(TENANT, 'key', 'new value');
    await changes.catchUp();
    await returns(TENANT, 'key', 'new value');
  });

  it('a value is not cached if a poll finds a change of the tenant while the value is being read', async () => {
    const value = await cache.load(TENANT, `${TENANT} key`, async () => {
      await change();
      await changes.catchUp();
      return 'perhaps an old value';
    });
    assert.equal(value, 'perhaps an old value');
    assert.equal(get(TENANT, 'key'), undefined);
  });

  it('if a change commits only after a poll has read a newer change, the next poll still invalidates the cached data', async () => {
    await inTransaction(database.db, async (tx) => {
      await announceChange(tx, TENANT);
      await change(OTHER);
      await changes.catchUp();
      await returns(TENANT, 'key', 'old value'); // The change is not committed yet.
      assert.equal(get(OTHER, 'key'), undefined);
      await sleep(300);
    });
    await changes.catchUp();
    assert.equal(get(TENANT, 'key'), undefined);
  });

  it('polls read a change again until every transaction that began before the change has ended, and then no longer read the change', {
    skip: isCluster && 'on a cluster, each poll reads the changes of the last two minutes',
  }, async () => {
    const idsSince = async (since: string) => (await readChanges(database.db, since)).rows.map(({ id }) => id);
    let since = '';
    let id = '';
    await inTransaction(database.db, async (tx) => {
      const slow = newId();
      await insertChange(tx, TENANT, slow);
      id = await changeWithId();
      since = (await readChanges(database.db, null)).oldestRunning;
      const ids = await idsSince(since);
      assert.deepEqual([ids.includes(id), ids.includes(slow)], [true, false]);
      id = slow;
    });
    assert.ok((await idsSince(since)).includes(id), 'the next poll finds the change that was committed late');
    // Each poll reads the changes of the transaction `since` and of all later transactions. `since` is the oldest transaction that was
    // running at the previous poll. Other tests on this server may have a transaction that began before the transactions of this test.
    // Until it ends, each poll reads the changes of this test again. So the test repeats the poll.
    await eventually(
      async () => {
        since = (await readChanges(database.db, since)).oldestRunning;
        return (await idsSince(since)).length === 0;
      },
      'a poll that reads no change',
      60_000,
    );
  });

  it('if a change has a lower transaction number than earlier changes (possible after a failover), the first poll after the end of the cache lease finds the change', async () => {
    await changes.close();
    await load(OTHER, 'key', 'old value');
    const tx = sql`INSERT INTO recent_change (id, tenant_id, transaction_id) VALUES (${newId()}, ${OTHER}, '3')`;
    await tx.execute(database.db);
    await waitForLeasesToEnd();
    await changes.catchUp();
    assert.equal(get(OTHER, 'key'), undefined);
  });

  it('if polls fail, one warning is logged, and a cache returns no data from the end of its lease until a poll succeeds', async () => {
    await breakDatabase(async () => {
      await waitForLeasesToEnd();
      assert.equal(get(TENANT, 'key'), undefined);
      await eventually(() => warnings.length > 0, 'warning');
      await sleep(400);
    });
    assert.equal(warnings.length, 1);
    await returns(TENANT, 'key', 'old value'); // The tenant has not changed.
  });

  it('a value is not cached if its read begins before the first poll ends, but a value that is read later is cached', async () => {
    const late = new RecentChanges(database.db, pino({ level: 'silent' }));
    const own = late.createCache<string>(1);
    await own.load(TENANT, 'key', async () => {
      await change();
      await late.catchUp();
      return 'old value';
    });
    assert.equal(own.get('key'), undefined);
    await own.load(TENANT, 'key', async () => 'new value');
    await eventually(async () => {
      await late.catchUp(); // This object has no regular polls, so the call renews the lease of its cache.
      return own.get('key') === 'new value';
    }, 'cached value "new value"');
  });

  it('a cache returns no data before the first poll', async () => {
    const idle = new RecentChanges(database.db, pino({ level: 'silent' }));
    const empty = idle.createCache<string>(1);
    await empty.load(TENANT, 'key', async () => 'value');
    assert.equal(empty.get('key'), undefined);
  });

  it('when a cache is full, a new tenant replaces the tenant that has been in the cache longest', async () => {
    await load(OTHER, 'second', 'two');
    await load(OTHER, 'second', 'again two');
    await returns(TENANT, 'key', 'old value');
    await load(3, 'key', 'three');
    await returns(3, 'key', 'three');
    await returns(OTHER, 'second', 'again two');
    assert.equal(get(TENANT, 'key'), undefined);
  });
});
