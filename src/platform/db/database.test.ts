import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/webhooks.ts';
import { countWaiting, createDatabase, type Database, type Db } from './database.ts';
import { inTransaction } from './transaction.ts';

describe('createDatabase', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  async function setting(name: string, hasNoTimeLimit: boolean): Promise<string | undefined> {
    const db = createDatabase({ url: database.url, poolSize: 1, hasNoTimeLimit });
    const { rows } = await sql<{ value: string }>`SELECT current_setting(${name}) AS value`.execute(db);
    await db.destroy();
    return rows[0]?.value;
  }

  it('the time limit of a statement is 10 s, but a pool with hasNoTimeLimit sets no limit', async () => {
    assert.equal(await setting('statement_timeout', false), '10s');
    assert.equal(await setting('statement_timeout', true), '0');
  });

  it('a pool reads dates and numerics as text and bigints as numbers, even if the database has another date style', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await sql`ALTER DATABASE ${sql.ref(name)} SET datestyle = 'German'`.execute(database.db);
    const db = createDatabase({ url: database.url, poolSize: 1 });
    const { rows } = await sql`
      SELECT date '2024-02-29' AS date, numeric '10.50' AS amount, bigint '42' AS count,
        timestamptz '2024-02-29T12:00:00Z' AS at
    `.execute(db);
    await db.destroy();
    assert.deepEqual(rows, [{ date: '2024-02-29', amount: '10.50', count: 42, at: new Date('2024-02-29T12:00:00Z') }]);
  });

  it('time limits in the URL do not apply, and other options in the URL, such as a search path, do', async () => {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=pg_catalog -c default_transaction_isolation=serializable');
    url.searchParams.set('statement_timeout', '1');
    const db = createDatabase({ url: url.href, poolSize: 1 });
    const { rows } = await sql`
      SELECT current_setting('search_path') AS path, current_setting('transaction_isolation') AS isolation,
        current_setting('statement_timeout') AS timeout`.execute(db);
    await db.destroy();
    assert.deepEqual(rows, [{ path: 'pg_catalog', isolation: 'read committed', timeout: '10s' }]);
  });

  it('a caller that waits for a free connection counts as waiting, and is refused as unavailable after 5 s', async () => {
    const db = createDatabase({ url: database.url, poolSize: 1 });
    await db.connection().execute(async () => {
      const waiting = assert.rejects(
        inTransaction(db, (tx) => sql`SELECT 1`.execute(tx)),
        /^UnavailableError: No database connection became free in time\./,
      );
      await eventually(() => countWaiting(db) === 1, 'the wait');
      await waiting;
      assert.equal(countWaiting(db), 0);
    });
    await db.destroy();
  });

  describe('prepared statements', () => {
    const open = (isPrepared?: boolean, poolSize = 1) =>
      createDatabase({ url: database.url, poolSize, ...(isPrepared === undefined ? {} : { isPrepared }) });
    const readAll = (db: Db) => sql<{ n: number }>`SELECT * FROM number WHERE n > ${0}`.execute(db);
    const countPrepared = async (db: Database) => {
      const { rows } = await sql<{
        count: number;
      }>`SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%number%'`.execute(db);
      return rows[0]?.count;
    };
    beforeEach(async () => {
      await sql`CREATE TABLE number AS SELECT 1 AS n`.execute(database.db);
    });
    afterEach(async () => {
      await sql`DROP TABLE number`.execute(database.db);
    });

    it('a pool prepares each statement text once, and prepares no statement if isPrepared is false', async () => {
      for (const [isPrepared, expected] of [
        [undefined, 1],
        [false, 0],
      ] as const) {
        const db = open(isPrepared);
        await readAll(db);
        await readAll(db);
        assert.equal(await countPrepared(db), expected);
        await db.destroy();
      }
    });

    it('a prepared statement still succeeds after its table gets a new column, inside and outside a transaction', async () => {
      const db = open();
      await readAll(db);
      await sql`ALTER TABLE number ADD COLUMN m int DEFAULT 2`.execute(database.db);
      assert.deepEqual((await readAll(db)).rows, [{ n: 1, m: 2 }]);
      await readAll(db);
      await sql`ALTER TABLE number ADD COLUMN o int DEFAULT 3`.execute(database.db);
      assert.deepEqual((await inTransaction(db, readAll)).rows, [{ n: 1, m: 2, o: 3 }]);
      await db.destroy();
    });

    it('if a new column invalidates the prepared statements of all connections, a transaction with such a statement is run again only once', async () => {
      const db = open(true, 6);
      const read = () =>
        inTransaction(db, async (tx) => {
          await sql`SELECT * FROM number WHERE n > ${0}`.execute(tx);
          await sql`SELECT pg_sleep(0.2)`.execute(tx); // Makes the transactions overlap, so that each has its own connection.
        });
      await Promise.all(Array.from({ length: 6 }, read));
      await sql`ALTER TABLE number ADD COLUMN m int DEFAULT 2`.execute(database.db);
      let tries = 0;
      const found = await inTransaction(db, (tx) => {
        tries += 1;
        return readAll(tx);
      });
      assert.deepEqual([found.rows, tries], [[{ n: 1, m: 2 }], 2]);
      await Promise.all(Array.from({ length: 6 }, read));
      await db.destroy();
    });

    it('a connection has at most 400 prepared statements, even if 420 different texts are run', async () => {
      const db = open();
      for (let n = 0; n < 420; n += 1) {
        await sql`SELECT ${sql.lit(n)} AS number WHERE ${1} = 1`.execute(db);
      }
      assert.equal(await countPrepared(db), 400);
      await db.destroy();
    });
  });
});
