import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultOf, type Fitness } from './transfer-requirements.ts';

const FIT: Fitness = {
  version: '15.0',
  major: 15,
  encoding: 'UTF8',
  role: 'app',
  mayCreate: true,
  isStandby: false,
};

describe('requirements on the target database of a transfer', () => {
  it('a database of PostgreSQL 15 or later with UTF8 and the right to create tables is accepted', () => {
    for (const fitness of [FIT, { ...FIT, version: '18.4', major: 18 }]) {
      assert.equal(faultOf(fitness), null);
    }
  });

  it('if the target of a transfer has PostgreSQL 14, the encoding SQL_ASCII, a standby server or a role that may not create tables, the refusal says what to do', () => {
    const faults: [Partial<Fitness>, RegExp][] = [
      [{ version: '14.23', major: 14 }, /PostgreSQL 14\.23\. Use version 15 or later\./],
      [{ encoding: 'SQL_ASCII' }, /is SQL_ASCII\. Create the database with ENCODING 'UTF8'/],
      [{ isStandby: true }, /is a standby.*Use the URL of the primary\./],
      [{ mayCreate: false }, /The role app may not create tables.*GRANT CREATE ON SCHEMA public TO app\./],
    ];
    for (const [change, message] of faults) {
      assert.match(faultOf({ ...FIT, ...change }) ?? '', message);
    }
  });
});
