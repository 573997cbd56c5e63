import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { createDatabase } from './database.ts';

describe('a pool of connections', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  async function setting(name: string, isPatient: boolean): Promise<string | undefined> {
    const db = createDatabase({ url: database.url, poolSize: 1, isPatient });
    const { rows } = await sql<{ value: string }>`SELECT current_setting(${name}) AS value`.execute(db);
    await db.destroy();
    return rows[0]?.value;
  }

  it("ends a request's statement after 10 s, and lets a command's take the time it needs", async () => {
    assert.equal(await setting('statement_timeout', false), '10s');
    assert.equal(await setting('statement_timeout', true), '0');
  });

  it('reads dates and numbers as text, whole numbers as numbers, whatever style the database is set to', async () => {
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
});
