import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { createDatabase } from '../db/database.ts';
import { OperatorError } from '../errors.ts';
import { type Keyring, openKeyring, readWrappedPepper, rewrapPepper, SecretDecryptionError } from './keys.ts';
import { decryptBound, encryptBound } from './keys.ts';

const WRONG_KEY = (error: unknown) =>
  error instanceof OperatorError && /^The master key cannot decrypt .*MASTER_KEY_PREVIOUS/.test(error.message);

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  await database.db.deleteFrom('service_key').execute();
});

/** Asserts that both keyrings have the same pepper and the same token key, and that `other` decrypts a ciphertext of `one`. */
function assertSameKeys(one: Keyring, other: Keyring): void {
  assert.deepEqual([one.pepper, one.token], [other.pepper, other.token]);
  assert.equal(other.decrypt(one.encrypt('a secret', 'location'), 'location'), 'a secret');
}

const rewrap = (from: Buffer | null, to: Buffer) => rewrapPepper(database.db, from, to);

describe('openKeyring', () => {
  it('openKeyring makes the pepper at the first start, and returns the same keys at a later start', async () => {
    const masterKey = randomBytes(32);
    const made = await openKeyring(database.db, masterKey);
    assertSameKeys(made, await openKeyring(database.db, masterKey));
    assert.equal(made.pepper.length, 32);
    assert.notDeepEqual(made.pepper, made.token);
  });

  it('openKeyring returns the same keys in six processes that start at the same time with an empty database', async () => {
    const masterKey = randomBytes(32);
    const processes = Array.from({ length: 6 }, () => createDatabase({ url: database.url, poolSize: 2 }));
    try {
      for (let round = 0; round < 10; round += 1) {
        await database.db.deleteFrom('service_key').execute();
        // Opens the connections in advance, so that the calls of openKeyring run at the same time.
        await Promise.all(processes.map((db) => readWrappedPepper(db)));
        const keyrings = await Promise.all(processes.map((db) => openKeyring(db, masterKey)));
        keyrings.forEach((keyring) => assertSameKeys(keyrings[0] as Keyring, keyring));
      }
    } finally {
      await Promise.all(processes.map((db) => db.destroy()));
    }
  });

  it('openKeyring stores the pepper only encrypted in the database, and stores no other key', async () => {
    const masterKey = randomBytes(32);
    const { pepper, token } = await openKeyring(database.db, masterKey);
    const [stored, ...others] = await database.db.selectFrom('service_key').selectAll().execute();
    assert.deepEqual(others, []);
    assert.ok(![masterKey, pepper, token].some((key) => stored?.wrapped_key.includes(key)));
  });

  it('openKeyring refuses a wrong master key, names the settings to change, and leaves the stored keys as they are', async () => {
    const masterKey = randomBytes(32);
    const made = await openKeyring(database.db, masterKey);
    await assert.rejects(openKeyring(database.db, randomBytes(32)), WRONG_KEY);
    await assert.rejects(openKeyring(database.db, randomBytes(32), randomBytes(32)), WRONG_KEY);
    assertSameKeys(made, await openKeyring(database.db, masterKey));
  });
});

describe('replacement of the master key', () => {
  it('rewrapPepper wraps the pepper with the new master key, and afterwards the old master key is refused', async () => {
    const [previous, next] = [randomBytes(32), randomBytes(32)];
    const made = await openKeyring(database.db, previous);
    assertSameKeys(made, await openKeyring(database.db, next, previous));
    assert.equal(await rewrap(previous, next), true, 'openKeyring has wrapped no key again');
    assert.equal(await rewrap(previous, next), false);
    assert.equal(await rewrap(null, next), false);
    assertSameKeys(made, await openKeyring(database.db, next));
    await assert.rejects(openKeyring(database.db, previous), WRONG_KEY);
    await assert.rejects(rewrap(null, previous), WRONG_KEY);
  });

  it('if four processes rewrap the keys at the same time, all succeed, and the keys stay the same', async () => {
    const [previous, next] = [randomBytes(32), randomBytes(32)];
    const made = await openKeyring(database.db, previous);
    const counts = await Promise.all([1, 2, 3, 4].map(() => rewrap(previous, next)));
    assert.ok(counts.includes(true));
    assertSameKeys(made, await openKeyring(database.db, next));
  });
});

describe('encrypt and decrypt', () => {
  let keyring: Keyring;
  beforeEach(async () => {
    keyring = await openKeyring(database.db, randomBytes(32));
  });

  it('a secret cannot be decrypted with another location, or after its key was discarded', async () => {
    const ciphertext = keyring.encrypt('a secret', 'location');
    assert.equal(keyring.decrypt(ciphertext, 'location'), 'a secret');
    assert.throws(() => keyring.decrypt(ciphertext, 'elsewhere'), SecretDecryptionError);
    await database.db.deleteFrom('service_key').execute();
    const other = await openKeyring(database.db, randomBytes(32));
    assert.throws(() => other.decrypt(ciphertext, 'location'), /was discarded/);
  });

  it('two encryptions of the same secret give different ciphertexts', () => {
    assert.notDeepEqual(keyring.encrypt('a secret', 'location'), keyring.encrypt('a secret', 'location'));
  });

  it('a ciphertext with one changed bit, a truncated ciphertext and an empty ciphertext are refused', () => {
    const ciphertext = keyring.encrypt('a secret', 'location');
    for (let bit = 0; bit < ciphertext.length * 8; bit += 1) {
      const changed = Buffer.from(ciphertext);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      assert.throws(() => keyring.decrypt(changed, 'location'), SecretDecryptionError);
    }
    for (let length = 0; length < ciphertext.length; length += 1) {
      assert.throws(() => keyring.decrypt(ciphertext.subarray(0, length), 'location'), SecretDecryptionError);
    }
  });

  it('decryptBound returns the plain bytes only with the key and the location (a text for the place of storage) that encryptBound got', () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(key, key, bytes, fc.string(), fc.string(), (right, wrong, plain, location, elsewhere) => {
        fc.pre(Buffer.compare(right, wrong) !== 0 && location !== elsewhere);
        const encrypted = encryptBound(Buffer.from(right), Buffer.from(plain), location);
        assert.deepEqual(decryptBound(Buffer.from(right), encrypted, location), Buffer.from(plain));
        assert.throws(() => decryptBound(Buffer.from(wrong), encrypted, location));
        assert.throws(() => decryptBound(Buffer.from(right), encrypted, elsewhere));
      }),
    );
  });
});
