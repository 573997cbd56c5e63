import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { promisify } from 'node:util';

it('a new password hash has the cost that OWASP recommends for argon2id, and a salt of its own', async () => {
  // The tests lower the cost in their own process.
  const program = `
    import { hashPassword } from '#access/tenants/passwords.ts';
    console.log(await hashPassword('a'), await hashPassword('a'));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  const [one, other] = stdout.trim().split(' ');
  assert.match(one ?? '', /^argon2id\$19456\$2\$1\$[\w+/]{22}==\$[\w+/]{43}=$/);
  assert.notEqual(one, other);
});
