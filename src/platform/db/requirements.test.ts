import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultOf, type Fitness } from './requirements.ts';

const FIT: Fitness = {
  version: '15.0',
  encoding: 'UTF8',
  isStandby: false,
  hasSettings: true,
  role: 'app',
  closedTable: null,
};
const faultWith = (change: Partial<Fitness>) => faultOf({ ...FIT, ...change });

describe('requirements on the database', () => {
  it('a database of PostgreSQL 15 or later with UTF8 and all rights is accepted', () => {
    for (const change of [{}, { version: '18.4' }]) {
      assert.equal(faultWith(change), null);
    }
  });

  it('if the server is too old or a standby, if the encoding is another one, if the settings were dropped, or if the role may not change a table, the message says what to do', () => {
    const faults: [Partial<Fitness>, RegExp][] = [
      [{ version: '14.23' }, /^The database server is PostgreSQL 14\.23\. Use version 15 or later\.$/],
      [{ encoding: 'SQL_ASCII' }, /^The encoding of the database is SQL_ASCII\. .*ENCODING 'UTF8' TEMPLATE template0/],
      [{ isStandby: true }, /is a standby.*Use the URL of the primary\.$/],
      [{ hasSettings: false }, /connection pooler .*Set DATABASE_POOLER to true/],
      [{ closedTable: 'event' }, /table event\..*GRANT SELECT, .* ON ALL TABLES IN SCHEMA public TO app\.$/],
    ];
    for (const [change, message] of faults) {
      assert.match(faultWith(change) ?? '', message);
    }
  });
});
