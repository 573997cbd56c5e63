import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/webhooks.ts';
import { webhookSecretLocation } from '#access/credentials/credentials.ts';
import { createDatabase, type Database, type Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { OperatorError } from '../errors.ts';
import { type OpenKeyring, SecretDecryptionError, versionBytes } from './keyring.ts';
import { openKeyring } from './keys.ts';
import { wrapKey } from './wrapping.ts';

let database: TestDatabase;
let masterKey: Buffer;
let keyring: OpenKeyring;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  await database.db.deleteFrom('service_key').execute();
  masterKey = randomBytes(32);
  keyring = await openKeyring(database.db, masterKey);
});

const encrypt = (by: OpenKeyring, secret = 'a secret', location = 'location') =>
  inTransaction(database.db, (tx) => by.encrypt(tx, secret, location));

/** Wraps the service keys in the database with a new master key. Returns a keyring that has both the old and the new master key. */
async function replaceMasterKey(): Promise<OpenKeyring> {
  const replaced = await openKeyring(database.db, randomBytes(32), masterKey);
  await replaced.rewrap();
  return replaced;
}

async function rotate(by: OpenKeyring): Promise<void> {
  const { version } = await by.beginRotation();
  await by.endRotation(version);
}

const versionOf = (ciphertext: Buffer) => ciphertext.readUInt32BE(0);

/** Runs the work in a transaction that stays open until `end` is called. */
async function hold<T>(work: (tx: Tx) => Promise<T>): Promise<{ result: T; end: () => Promise<void> }> {
  const { promise: ending, resolve: endIt } = Promise.withResolvers<void>();
  const { promise: done, resolve, reject } = Promise.withResolvers<T>();
  const transaction = database.db.transaction().execute(async (tx) => {
    resolve(await work(tx));
    await ending;
  });
  transaction.catch(reject);
  const end = async () => {
    endIt();
    await transaction;
  };
  return { result: await done, end };
}

/** Resolves to true if the promise has not settled after `afterMs` milliseconds, and to false if it settles earlier. */
const isWaiting = (promise: Promise<unknown>, afterMs = 150) =>
  Promise.race([
    promise.then(
      () => false,
      () => false,
    ),
    sleep(afterMs, true, { ref: false }),
  ]);

describe('encrypt and decrypt', () => {
  it('a secret is bound to its tenant and credential, and cannot be decrypted with another tenant or credential', async () => {
    const id = randomUUID();
    const ciphertext = await encrypt(keyring, 'a secret', webhookSecretLocation(7, id));
    assert.equal(await keyring.decrypt(ciphertext, webhookSecretLocation(7, id)), 'a secret');
    await assert.rejects(keyring.decrypt(ciphertext, webhookSecretLocation(8, id)), SecretDecryptionError);
    await assert.rejects(keyring.decrypt(ciphertext, webhookSecretLocation(7, randomUUID())), SecretDecryptionError);
  });

  it('a secret cannot be decrypted with the keys of another installation', async () => {
    const ciphertext = await encrypt(keyring);
    await database.db.deleteFrom('service_key').execute();
    const other = await openKeyring(database.db, randomBytes(32));
    await assert.rejects(other.decrypt(ciphertext, 'location'), SecretDecryptionError);
  });

  it('two encryptions of the same secret give different ciphertexts', async () => {
    assert.notDeepEqual(await encrypt(keyring), await encrypt(keyring));
  });

  it('a ciphertext with one changed bit, a truncated ciphertext and an empty ciphertext are refused', async () => {
    const ciphertext = await encrypt(keyring);
    const spoiled: Buffer[] = [];
    for (let bit = 0; bit < ciphertext.length * 8; bit += 1) {
      const changed = Buffer.from(ciphertext);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      spoiled.push(changed);
    }
    for (let length = 0; length < ciphertext.length; length += 1) {
      spoiled.push(ciphertext.subarray(0, length));
    }
    const decrypted = await Promise.allSettled(spoiled.map((changed) => keyring.decrypt(changed, 'location')));
    assert.ok(decrypted.every(({ status }) => status === 'rejected'));
    assert.equal(await keyring.decrypt(ciphertext, 'location'), 'a secret');
  });
});

describe('encrypt during a rotation', () => {
  it('when another process adds a new key, a process encrypts with the new key immediately', async () => {
    const other = await openKeyring(database.db, masterKey);
    assert.equal(versionOf(await encrypt(other)), 1);
    await keyring.beginRotation();
    assert.equal(versionOf(await encrypt(other)), 2);
  });

  it('if an open transaction has encrypted a secret, beginRotation waits for the end of this transaction, and only then adds the new key', async () => {
    const storing = await hold((tx) => keyring.encrypt(tx, 'a secret', 'location'));
    const rotation = keyring.beginRotation();
    assert.equal(await isWaiting(rotation), true);
    await storing.end();
    assert.deepEqual(await rotation, { version: 2, older: [1], isResumed: false });
  });

  it('while a transaction adds a new key, encrypt waits, and then uses the new key', async () => {
    const addition = await hold(async (tx) => {
      await tx.selectFrom('service_key').select('version').where('purpose', '=', 'pepper').forUpdate().execute();
      const added = wrapKey({ purpose: 'encryption', version: 2 }, randomBytes(32), masterKey);
      await tx.insertInto('service_key').values(added).execute();
    });
    const encrypting = encrypt(keyring);
    assert.equal(await isWaiting(encrypting), true);
    await addition.end();
    assert.equal(versionOf(await encrypting), 2);
  });

  it('encrypt does not wait for another transaction that encrypts, even if a rotation waits for that transaction', async () => {
    const storing = await hold((tx) => keyring.encrypt(tx, 'a secret', 'location'));
    const rotation = keyring.beginRotation();
    assert.equal(await isWaiting(rotation), true);
    assert.equal(versionOf(await encrypt(keyring)), 1);
    await storing.end();
    assert.equal((await rotation).version, 2);
  });

  it('encrypt and a replacement of the master key do not wait for each other', async () => {
    const storing = await hold((tx) => keyring.encrypt(tx, 'a secret', 'location'));
    const replaced = replaceMasterKey();
    assert.equal(await isWaiting(replaced, 10_000), false);
    await storing.end();
    const ciphertext = await encrypt(keyring);
    assert.equal(await (await replaced).decrypt(ciphertext, 'location'), 'a secret');
  });
});

describe('decrypt during a rotation', () => {
  /** SQL statements of the keyring `other`, which plays the keyring of another process. */
  let queries: string[];
  let elsewhere: Database;
  let other: OpenKeyring;
  beforeEach(async () => {
    queries = [];
    elsewhere = createDatabase({
      url: database.url,
      poolSize: 4,
      log: (event) => queries.push(event.query.sql),
    });
    other = await openKeyring(elsewhere, masterKey);
    queries.length = 0;
  });
  afterEach(() => elsewhere.destroy());

  it('50 concurrent calls of decrypt send only one query for a key that another process has added', async () => {
    await rotate(keyring);
    const ciphertexts = await Promise.all(Array.from({ length: 50 }, () => encrypt(keyring)));
    const decrypted = await Promise.all(ciphertexts.map((ciphertext) => other.decrypt(ciphertext, 'location')));
    assert.deepEqual(new Set(decrypted), new Set(['a secret']));
    assert.equal(queries.length, 1);
    await other.decrypt(await encrypt(keyring), 'location');
    assert.equal(queries.length, 1, 'a known key needs no query');
  });

  it('a process that knows a removed key can still decrypt with it, but a process that starts after the removal cannot', async () => {
    const early = await encrypt(keyring);
    await rotate(keyring);
    assert.equal(await other.decrypt(early, 'location'), 'a secret');
    assert.deepEqual(queries, []);
    const late = await openKeyring(database.db, masterKey);
    await assert.rejects(late.decrypt(early, 'location'), SecretDecryptionError);
  });

  it('decrypt queries the database at most once a second, even if 200 ciphertexts name keys that do not exist', async () => {
    const fakeCiphertext = (version: number) => Buffer.concat([versionBytes(version), randomBytes(40)]);
    const startedMs = performance.now();
    await assert.rejects(other.decrypt(fakeCiphertext(1_000_000), 'location'), SecretDecryptionError);
    assert.equal(queries.length, 1);
    const results = await Promise.allSettled(
      Array.from({ length: 199 }, async (_, index) => {
        await sleep(index * 10);
        await other.decrypt(fakeCiphertext(1_000_001 + index), 'location');
      }),
    );
    const seconds = (performance.now() - startedMs) / 1_000;
    assert.ok(results.every((result) => result.status === 'rejected'));
    // A timer drops fractions of a millisecond, and may fire a millisecond early. So 2 ms are added for each second.
    const mostQueries = 1 + seconds * 1.002;
    assert.ok(queries.length >= 2 && queries.length <= mostQueries, `${queries.length} queries in ${seconds} s`);
  });

  it('decrypt finds a key that was added after the last query for keys, even if 20 calls of decrypt with an unknown key came just before', async () => {
    const fakeCiphertext = Buffer.concat([versionBytes(2), randomBytes(40)]);
    await assert.rejects(other.decrypt(fakeCiphertext, 'location'), SecretDecryptionError);
    await rotate(keyring);
    const unknownKey = Buffer.concat([versionBytes(9), fakeCiphertext]);
    const failing = Array.from({ length: 20 }, () => other.decrypt(unknownKey, 'location'));
    const decrypted = other.decrypt(await encrypt(keyring), 'location');
    assert.equal(await decrypted, 'a secret');
    const ends = await Promise.allSettled(failing);
    assert.ok(ends.every(({ status }) => status === 'rejected'));
  });

  it('if a query began before the new key was added, decrypt does not use its result, but queries again', async () => {
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
    let results = 0;
    // Delays the result of the second query for keys, as a slow network would. The database runs this query before the test adds the new
    // key, so the result lacks the new key. But the result arrives only after the key was added.
    const slow = elsewhere.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        results += 1;
        await (results === 2 ? gate : null);
        return result;
      },
    });
    const slowKeyring = await openKeyring(slow, masterKey);
    const miss = slowKeyring.decrypt(Buffer.concat([versionBytes(9), randomBytes(40)]), 'location');
    await eventually(() => results === 2, 'a query that is under way');
    await rotate(keyring);
    const decrypted = slowKeyring.decrypt(await encrypt(keyring), 'location');
    openGate();
    await assert.rejects(miss, SecretDecryptionError);
    assert.equal(await decrypted, 'a secret');
    assert.equal(results, 3);
  });

  it('if a query for a key fails, the next call of decrypt queries again', async () => {
    await rotate(keyring);
    const ciphertext = await encrypt(keyring);
    const rename = (from: string, to: string) => database.db.schema.alterTable(from).renameTo(to).execute();
    await rename('service_key', 'elsewhere');
    await assert.rejects(other.decrypt(ciphertext, 'location'), /service_key/);
    await rename('elsewhere', 'service_key');
    assert.equal(await other.decrypt(ciphertext, 'location'), 'a secret');
  });

  it('if the master key was replaced, a process with only the old master key gets an error that says to restart the process', async () => {
    const current = await replaceMasterKey();
    await rotate(current);
    const ciphertext = await encrypt(current);
    const isClear = (error: unknown) =>
      error instanceof OperatorError && /^MASTER_KEY of this process .* Restart/.test(error.message);
    await assert.rejects(other.decrypt(ciphertext, 'location'), isClear);
    await assert.rejects(encrypt(other), isClear);
  });

  it('a process that has the new and the previous master key can use a key that the previous master key wraps', async () => {
    const current = await openKeyring(database.db, randomBytes(32), masterKey);
    await rotate(other);
    assert.equal(await current.decrypt(await encrypt(other), 'location'), 'a secret');
    assert.equal(versionOf(await encrypt(current)), 2);
  });
});
