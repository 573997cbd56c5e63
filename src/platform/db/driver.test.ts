import assert from 'node:assert/strict';
import { after, before, beforeEach, afterEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { createDatabase, type Database } from './database.ts';
import { withPooler } from '../lib/postgres-url.ts';
import { executeByIndex, executeWithoutTableScan, inTransaction, limitLockWaits } from './transaction.ts';

describe('statements and transactions', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await sql`CREATE TABLE thing (value int PRIMARY KEY)`.execute(database.db);
  });
  after(() => database.drop());

  for (const isPrepared of [true, false]) {
    for (const isPooled of isPrepared ? [false] : [false, true]) {
      describe(`${isPrepared ? 'with' : 'without'} prepared statements, ${isPooled ? 'as behind' : 'without'} a connection pooler`, () => {
        let db: Database;
        beforeEach(async () => {
          await sql`DELETE FROM thing`.execute(database.db);
          const url = isPooled ? withPooler(database.url) : database.url;
          db = createDatabase({ url, poolSize: 1, isPrepared });
        });
        afterEach(() => db.destroy());

        const values = async () =>
          (await sql<{ value: number }>`SELECT value FROM thing ORDER BY value`.execute(db)).rows;
        const settings = sql<{ by_index: string; timeout: string; style: string }>`
          SELECT current_setting('enable_sort') AS by_index, current_setting('statement_timeout') AS timeout,
            current_setting('datestyle') AS style WHERE ${1} = 1`;

        it('executeByIndex runs a statement with changed planner settings, returns only the rows of the statement, and the settings end with the transaction', async () => {
          const limits = { timeout: '10s', style: 'ISO, MDY' };
          for (let times = 0; times < 3; times += 1) {
            assert.deepEqual((await executeByIndex(db, settings)).rows, [{ by_index: 'off', ...limits }]);
            assert.deepEqual((await settings.execute(db)).rows, [{ by_index: 'on', ...limits }]);
            await inTransaction(db, async (tx) => {
              assert.deepEqual((await settings.execute(tx)).rows, [{ by_index: 'on', ...limits }]);
              assert.deepEqual((await executeByIndex(tx, settings)).rows, [{ by_index: 'off', ...limits }]);
            });
          }
        });

        it('executeWithoutTableScan makes its settings in the transaction of the statement', async () => {
          const scans = sql<{ scan: string }>`SELECT current_setting('enable_seqscan') AS scan`;
          const found = [await executeWithoutTableScan(db, scans), await scans.execute(db)];
          assert.deepEqual(
            found.map(({ rows }) => rows[0]?.scan),
            ['off', 'on'],
          );
        });

        it('a transaction is committed as a whole, and if its first or a later statement fails, nothing of it is stored', async () => {
          await inTransaction(db, async (tx) => {
            await limitLockWaits(tx, 1_000);
            await sql`INSERT INTO thing VALUES (${1})`.execute(tx);
            await sql`INSERT INTO thing VALUES (${2})`.execute(tx);
          });
          const fail = (...inserted: number[]) =>
            inTransaction(db, async (tx) => {
              for (const value of inserted) {
                await sql`INSERT INTO thing VALUES (${value})`.execute(tx);
              }
            });
          await assert.rejects(fail(1), /duplicate key/);
          await assert.rejects(fail(3, 1), /duplicate key/);
          await assert.rejects(fail(3, 2), /duplicate key/);
          assert.deepEqual(await values(), [{ value: 1 }, { value: 2 }]);
        });

        it('after a statement that PostgreSQL cannot parse, the connection prepares and runs the next statements', async () => {
          const wrong = sql`SELECT value FROM missing WHERE value = ${1}`;
          await assert.rejects(
            inTransaction(db, (tx) => wrong.execute(tx)),
            /relation "missing" does not exist/,
          );
          await assert.rejects(executeByIndex(db, wrong), /relation "missing" does not exist/);
          await sql`CREATE TABLE missing AS SELECT 1 AS value`.execute(database.db);
          assert.deepEqual((await executeByIndex(db, wrong)).rows, [{ value: 1 }]);
          assert.deepEqual((await inTransaction(db, (tx) => wrong.execute(tx))).rows, [{ value: 1 }]);
          await sql`DROP TABLE missing`.execute(database.db);
        });

        it('a transaction without a statement succeeds', async () => {
          assert.equal(await inTransaction(db, async () => 'done'), 'done');
          await assert.rejects(
            inTransaction(db, () => Promise.reject(new Error('refused'))),
            /^Error: refused$/,
          );
          assert.deepEqual(await values(), []);
        });
      });
    }
  }
});
