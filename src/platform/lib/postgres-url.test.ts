import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseDatabaseUrl } from './postgres-url.ts';
import { InvalidValueError } from './setting-values.ts';

describe('the URL of a PostgreSQL database', () => {
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
    it(`sslmode=${mode} is accepted, and means verify-full for the library pg`, () => {
      assert.equal(
        parseDatabaseUrl(`postgres://u:p@h/d?sslmode=${mode}&application_name=a`),
        'postgres://u:p@h/d?sslmode=verify-full&application_name=a',
      );
    });
  }

  for (const query of ['sslmode=no-verify', 'ssl=true', 'sslnegotiation=direct']) {
    it(`${query} is accepted unchanged`, () => {
      assert.equal(parseDatabaseUrl(`postgres://h/d?${query}`), `postgres://h/d?${query}`);
    });
  }

  it('a percent sign in the password that begins no encoded character is accepted', () => {
    assert.equal(parseDatabaseUrl('postgres://u:100%@h/d'), 'postgres://u:100%@h/d');
  });

  const wrong = [
    'postgres://u:hunter2%e9@h/d',
    'postgres://u:12/hunter2@h/d',
    'postgres://u:12#hunter2@h/d',
    'postgres://u:12?hunter2@h/d',
    ...[
      'sslmode=bogus',
      'sslmode=allow',
      'sslmode=REQUIRE',
      'sslmode=',
      'SSLMODE=require',
      'ssl=yes',
      'sslnegotiation=never',
      'sslcrl=/etc/crl.pem',
      'sslrootcert=/nowhere/ca.pem',
      'sslcert=/nowhere/client.pem&sslkey=/nowhere/client.key',
    ].map((query) => `postgres://u:hunter2@h/d?${query}`),
  ];
  for (const url of wrong) {
    it(`${url} is refused with one line that does not show the password`, () => {
      assert.throws(
        () => parseDatabaseUrl(url),
        (error) =>
          error instanceof InvalidValueError && /^must .+$/.test(error.message) && !error.message.includes('hunter2'),
      );
    });
  }
});
