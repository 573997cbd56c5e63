import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { Fields, selectEach } from './inputs.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

interface Stretch {
  first: number;
  last: number;
  unit: string | null;
}

const STRETCH = new Fields<Stretch>({ first: 'int', last: 'int', unit: 'text' });

/** The sum of a stretch of numbers, and all of them behind their unit; null where there is none. */
const sums = (stretches: Stretch[]) =>
  selectEach(
    database.db,
    STRETCH,
    stretches,
    ({ first, last, unit }) => sql<{ total: number | null; list: string | null }>`
      SELECT sum(number)::int AS total, string_agg(${unit} || number, ' ') AS list FROM generate_series(${first}, ${last}) AS number
    `,
  );

const STRETCHES: Stretch[] = [
  { first: 4, last: 6, unit: '"a", {b} \\' },
  { first: 1, last: 100, unit: null },
  { first: 2, last: 1, unit: '' },
  { first: 4, last: 6, unit: 'm' },
];

describe('one select for many inputs', () => {
  it('gives each its own row, in their order, those without anything and those that are alike too', async () => {
    assert.deepEqual(await sums(STRETCHES), [
      { total: 15, list: '"a", {b} \\4 "a", {b} \\5 "a", {b} \\6' },
      { total: 5050, list: null },
      { total: null, list: null },
      { total: 15, list: 'm4 m5 m6' },
    ]);
  });

  it('gives the same to each alone, and nothing to none', async () => {
    const alone = await Promise.all(STRETCHES.map(async (stretch) => await sums([stretch])));
    assert.deepEqual(alone.flat(), await sums(STRETCHES));
    assert.deepEqual(await sums([]), []);
  });

  it('fails as a whole where one input is no value of its type', async () => {
    await assert.rejects(
      sums([
        { first: 1, last: 2, unit: '' },
        { first: 1.5, last: 2, unit: '' },
      ]),
      { code: '22P02' },
    );
  });
});
