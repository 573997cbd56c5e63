import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { createDatabase, type Database } from './database.ts';
import { Fields, forEachShare, selectEach } from './inputs.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

interface NumberRange {
  first: number;
  last: number;
  unit: string | null;
}

const RANGE = new Fields<NumberRange>({ first: 'int', last: 'int', unit: 'text' });

/**
 * Selects two columns for each range of numbers:
 * - `total` is the sum of the numbers. It is null if the range is empty.
 * - `list` is a text with all numbers, and the unit in front of each number, for example `kg1 kg2`. It is null if the range is empty or its
 *   unit is null.
 */
const sums = (ranges: NumberRange[]) =>
  selectEach(
    database.db,
    RANGE,
    ranges,
    ({ first, last, unit }) => sql<{ total: number | null; list: string | null }>`
      SELECT sum(number)::int AS total, string_agg(${unit} || number, ' ') AS list FROM generate_series(${first}, ${last}) AS number
    `,
  );

const RANGES: NumberRange[] = [
  { first: 4, last: 6, unit: '"a", {b} \\' },
  { first: 1, last: 100, unit: null },
  { first: 2, last: 1, unit: '' },
  { first: 4, last: 6, unit: 'm' },
];

describe('selectEach', () => {
  it('selectEach with four number ranges as inputs returns one row for each input, in the order of the inputs, even for an empty range', async () => {
    assert.deepEqual(await sums(RANGES), [
      { total: 15, list: '"a", {b} \\4 "a", {b} \\5 "a", {b} \\6' },
      { total: 5050, list: null },
      { total: null, list: null },
      { total: 15, list: 'm4 m5 m6' },
    ]);
  });

  it('selectEach returns the same row for an input whether it is the only input or one of several, and no rows without inputs', async () => {
    const alone = await Promise.all(RANGES.map(async (range) => await sums([range])));
    assert.deepEqual(alone.flat(), await sums(RANGES));
    assert.deepEqual(await sums([]), []);
  });

  it('selectEach fails for all inputs if a field of one input does not fit its PostgreSQL type', async () => {
    await assert.rejects(
      sums([
        { first: 1, last: 2, unit: '' },
        { first: 1.5, last: 2, unit: '' },
      ]),
      { code: '22P02' },
    );
  });
});

describe('forEachShare on a cluster, where each tenant has a share of its own', () => {
  let cluster: Database;
  before(() => {
    cluster = createDatabase({ url: database.url, poolSize: 1, layout: 'cluster' });
  });
  after(() => cluster.destroy());

  const forEachTenant = (work: (tenantIds: number[]) => Promise<void>) =>
    forEachShare(cluster, [1, 2, 3], (id) => id, work);

  it('does the work of one share after the other', async () => {
    const steps: string[] = [];
    await forEachTenant(async ([id]) => {
      steps.push(`begin ${id}`);
      await sql`SELECT`.execute(database.db);
      steps.push(`end ${id}`);
    });
    assert.deepEqual(steps, ['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3']);
  });

  it('does the work of the other shares if one fails, and then throws the failure', async () => {
    const done: unknown[] = [];
    const work = forEachTenant(async ([id]) => {
      assert.notEqual(id, 1, 'failure of the first');
      done.push(id);
    });
    await assert.rejects(work, /failure of the first/);
    assert.deepEqual(done, [2, 3]);
  });
});
