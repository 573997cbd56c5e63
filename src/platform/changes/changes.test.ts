import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { pino } from 'pino';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { announceChange, leasesEnded, type TenantCache, RecentChanges } from './changes.ts';

const TENANT = 1;
const OTHER = 2;

describe('what a node remembers of tenants', () => {
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
    await remember(TENANT, 'key', 'of before');
    await remember(OTHER, 'key', 'of the other');
  });
  afterEach(() => changes.close());

  const get = (tenantId: number, key: string) => cache.get(`${tenantId} ${key}`);
  const remember = (tenantId: number, key: string, value: string) =>
    cache.load(tenantId, `${tenantId} ${key}`, async () => value);
  const change = (tenantId = TENANT) => inTransaction(database.db, (tx) => announceChange(tx, tenantId));

  async function breakDatabase(work: () => Promise<void>): Promise<void> {
    await sql`ALTER TABLE recent_change RENAME TO elsewhere`.execute(database.db);
    try {
      await work();
    } finally {
      await sql`ALTER TABLE elsewhere RENAME TO recent_change`.execute(database.db);
    }
  }

  it('is at hand for as long as nothing changes', async () => {
    await sleep(700);
    assert.equal(get(TENANT, 'key'), 'of before');
    assert.equal(get(TENANT, 'another'), undefined);
    assert.equal(get(3, 'key'), undefined);
  });

  it('is forgotten with a change of the tenant, at once where the node catches up, and only of that tenant', async () => {
    await change();
    await changes.catchUp();
    assert.equal(get(TENANT, 'key'), undefined);
    assert.equal(get(OTHER, 'key'), 'of the other');
  });

  it('is forgotten by every node when the leases have ended', async () => {
    await change();
    await leasesEnded();
    assert.equal(get(TENANT, 'key'), undefined);
  });

  it('is forgotten once for each change: what is read later stays', async () => {
    await change();
    await changes.catchUp();
    await remember(TENANT, 'key', 'of after');
    await changes.catchUp();
    assert.equal(get(TENANT, 'key'), 'of after');
  });

  it('does not hold what was read before a change that became known meanwhile', async () => {
    const value = await cache.load(TENANT, `${TENANT} key`, async () => {
      await change();
      await changes.catchUp();
      return 'perhaps of before';
    });
    assert.equal(value, 'perhaps of before');
    assert.equal(get(TENANT, 'key'), undefined);
  });

  it('is seen through to a transaction that commits late', async () => {
    await inTransaction(database.db, async (tx) => {
      await announceChange(tx, TENANT);
      await change(OTHER);
      await changes.catchUp();
      assert.equal(get(TENANT, 'key'), 'of before', 'not committed');
      assert.equal(get(OTHER, 'key'), undefined);
      await sleep(300);
    });
    await changes.catchUp();
    assert.equal(get(TENANT, 'key'), undefined);
  });

  it('is not trusted for longer than a lease when the database is away, which is said once; nor before it is back', async () => {
    await breakDatabase(async () => {
      await leasesEnded();
      assert.equal(get(TENANT, 'key'), undefined);
      await sleep(400);
    });
    assert.equal(warnings.length, 1);
    await changes.catchUp();
    assert.equal(get(TENANT, 'key'), 'of before', 'nothing has changed');
  });

  it('does not hold what was on its way when all had to be forgotten, as at the first poll', async () => {
    const late = new RecentChanges(database.db, pino({ level: 'silent' }));
    const own = late.createCache<string>(1);
    await own.load(TENANT, 'key', async () => {
      await change();
      await late.catchUp();
      return 'of before the change';
    });
    assert.equal(own.get('key'), undefined);
    await own.load(TENANT, 'key', async () => 'of after');
    assert.equal(own.get('key'), 'of after');
  });

  it('is not trusted before the first poll', async () => {
    const idle = new RecentChanges(database.db, pino({ level: 'silent' }));
    const empty = idle.createCache<string>(1);
    await empty.load(TENANT, 'key', async () => 'value');
    assert.equal(empty.get('key'), undefined);
  });

  it('has a bound: the tenant remembered longest is forgotten', async () => {
    await remember(OTHER, 'second', 'two');
    await remember(OTHER, 'second', 'again two');
    assert.equal(get(TENANT, 'key'), 'of before');
    await remember(3, 'key', 'three');
    assert.deepEqual([get(TENANT, 'key'), get(OTHER, 'second'), get(3, 'key')], [undefined, 'again two', 'three']);
  });
});
