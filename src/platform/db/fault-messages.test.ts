import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { OperatorError, UnavailableError } from '../errors.ts';
import { explainFault } from './fault-messages.ts';

const DATABASE = { subject: 'The database at db.example:5432', setting: 'DATABASE_URL' };

describe('explainFault', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** Makes PostgreSQL report an error with this SQLSTATE. @returns the error of pg */
  async function errorWith(state: string): Promise<unknown> {
    const raising = sql.raw(`DO $$BEGIN RAISE EXCEPTION 'words of the server' USING ERRCODE = '${state}'; END$$`);
    return await raising.execute(database.db).then(
      () => assert.fail('The statement must fail.'),
      (error: unknown) => error,
    );
  }

  const explained: Record<string, RegExp> = {
    '08006': /cannot do the work/,
    '25006': /accepts no writes/,
    '28000': /refuses the login/,
    '28P01': /refuses the login .*password in DATABASE_URL/,
    '3D000': /does not exist .*name of the database in DATABASE_URL/,
    '40001': /cannot do the work/,
    '42501': /denies a permission/,
    '53100': /has a full disk .*Free some space/,
    '53200': /cannot do the work/,
    '53300': /allows no further connection .*max_connections/,
    '55006': /cannot do the work/,
    '57014': /cannot do the work/,
    '57P01': /cannot do the work/,
    '57P03': /cannot do the work/,
    '58030': /cannot do the work/,
    XX001: /cannot do the work/,
  };
  it('explains each SQLSTATE that an operator can remove, with the words of the server, also if a retry has wrapped the error', async () => {
    for (const [state, pattern] of Object.entries(explained)) {
      const error = await errorWith(state);
      for (const each of [error, new UnavailableError('The database is unavailable.', { cause: error })]) {
        const fault = explainFault(each, DATABASE);
        assert.ok(fault instanceof OperatorError, state);
        assert.match(fault.message, /^The database at db\.example:5432 .+ \(words of the server\)\. .+\.$/);
        assert.match(fault.message, pattern);
      }
    }
  });

  it('returns an error of a wrong statement, of wrong data or of a missing file unchanged', async () => {
    for (const state of ['42601', '42703', '42P01', '23505', '22P02', 'P0001']) {
      const error = await errorWith(state);
      assert.equal(explainFault(error, DATABASE), error, state);
    }
    const missing = Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT', syscall: 'open', path: '/x' });
    assert.equal(explainFault(missing, DATABASE), missing);
    const ofProgram = new TypeError('x is not a function');
    assert.equal(explainFault(ofProgram, DATABASE), ofProgram);
  });
});
