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
import { type OpenKeyring, SecretDoesNotOpenError, versionBytes } from './keyring.ts';
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

/** As another process does that knows both master keys. */
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

/** A transaction that stays open until it is told to end. */
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

/** Whether it is still waiting after so long. */
const isWaiting = (promise: Promise<unknown>, afterMs = 150) =>
  Promise.race([
    promise.then(
      () => false,
      () => false,
    ),
    sleep(afterMs, true, { ref: false }),
  ]);

describe('an encrypted secret', () => {
  it('opens for the credential and tenant it belongs to, and for no other', async () => {
    const id = randomUUID();
    const ciphertext = await encrypt(keyring, 'a secret', webhookSecretLocation(7, id));
    assert.equal(await keyring.decrypt(ciphertext, webhookSecretLocation(7, id)), 'a secret');
    await assert.rejects(keyring.decrypt(ciphertext, webhookSecretLocation(8, id)), SecretDoesNotOpenError);
    await assert.rejects(keyring.decrypt(ciphertext, webhookSecretLocation(7, randomUUID())), SecretDoesNotOpenError);
  });

  it('opens with the keys of another installation never', async () => {
    const ciphertext = await encrypt(keyring);
    await database.db.deleteFrom('service_key').execute();
    const other = await openKeyring(database.db, randomBytes(32));
    await assert.rejects(other.decrypt(ciphertext, 'location'), SecretDoesNotOpenError);
  });

  it('is different each time, so that equal secrets do not show', async () => {
    assert.notDeepEqual(await encrypt(keyring), await encrypt(keyring));
  });

  it('does not open with a single bit turned, cut short or empty', async () => {
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
    const opened = await Promise.allSettled(spoiled.map((changed) => keyring.decrypt(changed, 'location')));
    assert.ok(opened.every(({ status }) => status === 'rejected'));
    assert.equal(await keyring.decrypt(ciphertext, 'location'), 'a secret');
  });
});

describe('encrypting beside a rotation', () => {
  it('uses the new key from the moment it is there, in processes that never heard of it', async () => {
    const other = await openKeyring(database.db, masterKey);
    assert.equal(versionOf(await encrypt(other)), 1);
    await keyring.beginRotation();
    assert.equal(versionOf(await encrypt(other)), 2);
  });

  it('keeps a new key from coming until the secret is stored, so that the rotation finds it', async () => {
    const storing = await hold((tx) => keyring.encrypt(tx, 'a secret', 'location'));
    const rotation = keyring.beginRotation();
    assert.equal(await isWaiting(rotation), true);
    await storing.end();
    assert.deepEqual(await rotation, { version: 2, older: [1], isResumed: false });
  });

  it('waits for a new key that is coming, and then uses it', async () => {
    const coming = await hold(async (tx) => {
      await tx.selectFrom('service_key').select('version').where('purpose', '=', 'pepper').forUpdate().execute();
      const added = wrapKey({ purpose: 'encryption', version: 2 }, randomBytes(32), masterKey);
      await tx.insertInto('service_key').values(added).execute();
    });
    const encrypting = encrypt(keyring);
    assert.equal(await isWaiting(encrypting), true);
    await coming.end();
    assert.equal(versionOf(await encrypting), 2);
  });

  it('waits for nobody who encrypts, nor behind a rotation that waits for one: there is no way to a deadlock', async () => {
    const storing = await hold((tx) => keyring.encrypt(tx, 'a secret', 'location'));
    const rotation = keyring.beginRotation();
    assert.equal(await isWaiting(rotation), true);
    assert.equal(versionOf(await encrypt(keyring)), 1);
    await storing.end();
    assert.equal((await rotation).version, 2);
  });

  it('goes on while the master key is being replaced: neither waits for the other', async () => {
    const storing = await hold((tx) => keyring.encrypt(tx, 'a secret', 'location'));
    const replaced = replaceMasterKey();
    assert.equal(await isWaiting(replaced, 10_000), false);
    await storing.end();
    const ciphertext = await encrypt(keyring);
    assert.equal(await (await replaced).decrypt(ciphertext, 'location'), 'a secret');
  });
});

describe('decrypting beside a rotation', () => {
  /** Every statement that another process of the service sends. */
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

  it('finds a key that came after the start, with one query for all who need it at the moment', async () => {
    await rotate(keyring);
    const ciphertexts = await Promise.all(Array.from({ length: 50 }, () => encrypt(keyring)));
    const opened = await Promise.all(ciphertexts.map((ciphertext) => other.decrypt(ciphertext, 'location')));
    assert.deepEqual(new Set(opened), new Set(['a secret']));
    assert.equal(queries.length, 1);
    await other.decrypt(await encrypt(keyring), 'location');
    assert.equal(queries.length, 1, 'a key that is known is not looked for');
  });

  it('still opens what was read before the old key was removed', async () => {
    const early = await encrypt(keyring);
    await rotate(keyring);
    assert.equal(await other.decrypt(early, 'location'), 'a secret');
    assert.deepEqual(queries, []);
    const late = await openKeyring(database.db, masterKey);
    await assert.rejects(late.decrypt(early, 'location'), SecretDoesNotOpenError);
  });

  it('asks the database once a second at most, however many ciphertexts name keys that never were', async () => {
    const poison = (version: number) => Buffer.concat([versionBytes(version), randomBytes(40)]);
    const startedMs = performance.now();
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, async (_, index) => {
        await sleep(index * 10);
        await other.decrypt(poison(1_000_000 + index), 'location');
      }),
    );
    const seconds = (performance.now() - startedMs) / 1_000;
    assert.ok(results.every((result) => result.status === 'rejected'));
    assert.ok(queries.length >= 2 && queries.length <= 1 + seconds, `${queries.length} queries in ${seconds} s`);
  });

  it('opens a secret of a new key amid such a storm, and even where a miss of that very version came first', async () => {
    const poison = Buffer.concat([versionBytes(2), randomBytes(40)]);
    await assert.rejects(other.decrypt(poison, 'location'), SecretDoesNotOpenError);
    await rotate(keyring);
    const storm = Array.from({ length: 20 }, () => other.decrypt(Buffer.concat([versionBytes(9), poison]), 'location'));
    const opened = other.decrypt(await encrypt(keyring), 'location');
    assert.equal(await opened, 'a secret');
    const ends = await Promise.allSettled(storm);
    assert.ok(ends.every(({ status }) => status === 'rejected'));
  });

  it('is not served by a look that began before the key was there', async () => {
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
    let answers = 0;
    // As on a slow network: what the look has read is old by the time it comes.
    const slow = elsewhere.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        answers += 1;
        await (answers === 2 ? gate : null);
        return result;
      },
    });
    const slowOne = await openKeyring(slow, masterKey);
    const miss = slowOne.decrypt(Buffer.concat([versionBytes(9), randomBytes(40)]), 'location');
    await eventually(() => answers === 2, 'a look under way');
    await rotate(keyring);
    const opened = slowOne.decrypt(await encrypt(keyring), 'location');
    openGate();
    await assert.rejects(miss, SecretDoesNotOpenError);
    assert.equal(await opened, 'a secret');
    assert.equal(answers, 3);
  });

  it('looks again after a look that failed', async () => {
    await rotate(keyring);
    const ciphertext = await encrypt(keyring);
    const rename = (from: string, to: string) => database.db.schema.alterTable(from).renameTo(to).execute();
    await rename('service_key', 'elsewhere');
    await assert.rejects(other.decrypt(ciphertext, 'location'), /service_key/);
    await rename('elsewhere', 'service_key');
    assert.equal(await other.decrypt(ciphertext, 'location'), 'a secret');
  });

  it('says what to do in a process whose master key was replaced under it', async () => {
    const present = await replaceMasterKey();
    await rotate(present);
    const ciphertext = await encrypt(present);
    const isClear = (error: unknown) =>
      error instanceof OperatorError && /^MASTER_KEY of this process .* Restart/.test(error.message);
    await assert.rejects(other.decrypt(ciphertext, 'location'), isClear);
    await assert.rejects(encrypt(other), isClear);
  });

  it('opens a key that came under the old master key, where that one is known as the previous', async () => {
    const present = await openKeyring(database.db, randomBytes(32), masterKey);
    await rotate(other);
    assert.equal(await present.decrypt(await encrypt(other), 'location'), 'a secret');
    assert.equal(versionOf(await encrypt(present)), 2);
  });
});
