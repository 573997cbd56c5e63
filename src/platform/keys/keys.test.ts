import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { createDatabase } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { OperatorError } from '../errors.ts';
import { type Keyring, openKeyring } from './keys.ts';
import { decryptBound, encryptBound } from './sealing.ts';
import { readWrappedKeys } from './store.ts';

const WRONG_KEY = (error: unknown) =>
  error instanceof OperatorError && /^MASTER_KEY cannot decrypt .*MASTER_KEY_PREVIOUS/.test(error.message);

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  await database.db.deleteFrom('service_key').execute();
});

/** Asserts that both keyrings have the same pepper and the same token key, and that `other` decrypts a ciphertext of `one`. */
async function assertSameKeys(one: Keyring, other: Keyring): Promise<void> {
  assert.deepEqual([one.pepper, one.token], [other.pepper, other.token]);
  const ciphertext = await inTransaction(database.db, (tx) => one.encrypt(tx, 'a secret', 'location'));
  assert.equal(await other.decrypt(ciphertext, 'location'), 'a secret');
}

describe('openKeyring', () => {
  it('openKeyring makes the keys at the first start, and returns the same keys at a later start', async () => {
    const masterKey = randomBytes(32);
    const made = await openKeyring(database.db, masterKey);
    await assertSameKeys(made, await openKeyring(database.db, masterKey));
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
        await Promise.all(processes.map((db) => readWrappedKeys(db)));
        const keyrings = await Promise.all(processes.map((db) => openKeyring(db, masterKey)));
        await Promise.all(keyrings.map((keyring) => assertSameKeys(keyrings[0] as Keyring, keyring)));
        assert.equal((await readWrappedKeys(database.db)).length, 3);
      }
    } finally {
      await Promise.all(processes.map((db) => db.destroy()));
    }
  });

  it('openKeyring stores the pepper and the token key only encrypted in the database, and does not store the master key', async () => {
    const masterKey = randomBytes(32);
    const { pepper, token } = await openKeyring(database.db, masterKey);
    for (const { wrapped_key: wrapped } of await readWrappedKeys(database.db)) {
      assert.ok(![masterKey, pepper, token].some((key) => wrapped.includes(key)));
    }
  });

  it('openKeyring refuses a wrong master key, names the settings to change, and leaves the stored keys as they are', async () => {
    const masterKey = randomBytes(32);
    const made = await openKeyring(database.db, masterKey);
    await assert.rejects(openKeyring(database.db, randomBytes(32)), WRONG_KEY);
    await assert.rejects(openKeyring(database.db, randomBytes(32), randomBytes(32)), WRONG_KEY);
    await assertSameKeys(made, await openKeyring(database.db, masterKey));
  });

  it('openKeyring refuses the stored keys if one wrapped key was replaced by a copy of another wrapped key', async () => {
    const masterKey = randomBytes(32);
    await openKeyring(database.db, masterKey);
    const [one, other] = await readWrappedKeys(database.db);
    assert.ok(one && other);
    await database.db
      .updateTable('service_key')
      .set({ wrapped_key: one.wrapped_key })
      .where('purpose', '=', other.purpose)
      .execute();
    await assert.rejects(openKeyring(database.db, masterKey), WRONG_KEY);
  });
});

describe('replacement of the master key', () => {
  it('rewrap wraps all keys with the new master key, and afterwards the old master key is refused', async () => {
    const [previous, next] = [randomBytes(32), randomBytes(32)];
    const made = await openKeyring(database.db, previous);
    const both = await openKeyring(database.db, next, previous);
    await assertSameKeys(made, both);
    await assertSameKeys(made, await openKeyring(database.db, previous));
    assert.equal(await both.rewrap(), 3, 'openKeyring has wrapped no key again');
    assert.equal(await both.rewrap(), 0);
    await assertSameKeys(made, await openKeyring(database.db, next));
    await assert.rejects(openKeyring(database.db, previous), WRONG_KEY);
  });

  it('if two of three keys are already wrapped with the new master key, rewrap wraps only the third one', async () => {
    const [previous, next] = [randomBytes(32), randomBytes(32)];
    const made = await openKeyring(database.db, previous);
    const [first] = await readWrappedKeys(database.db);
    assert.ok(first);
    await (await openKeyring(database.db, next, previous)).rewrap();
    await database.db
      .updateTable('service_key')
      .set({ wrapped_key: first.wrapped_key })
      .where('purpose', '=', first.purpose)
      .execute();
    await assert.rejects(openKeyring(database.db, next), WRONG_KEY);
    const both = await openKeyring(database.db, next, previous);
    await assertSameKeys(made, both);
    assert.equal(await both.rewrap(), 1);
    await assertSameKeys(made, await openKeyring(database.db, next));
  });

  it('if four keyrings rewrap the keys at the same time, all succeed, and these keyrings and a newly opened one have the same keys as before', async () => {
    const [previous, next] = [randomBytes(32), randomBytes(32)];
    const made = await openKeyring(database.db, previous);
    const keyrings = await Promise.all([1, 2, 3, 4].map(() => openKeyring(database.db, next, previous)));
    const counts = await Promise.all(keyrings.map((keyring) => keyring.rewrap()));
    assert.ok(counts.some((count) => count === 3));
    for (const keyring of [...keyrings, await openKeyring(database.db, next)]) {
      await assertSameKeys(made, keyring);
    }
  });
});

describe('encryptBound', () => {
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
