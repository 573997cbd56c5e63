import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from '../db/database.ts';
import { withRetries } from '../db/failures.ts';
import { inTransaction } from '../db/transaction.ts';
import { OperatorError } from '../errors.ts';
import { decryptBound, encryptBound } from './sealing.ts';
import * as store from './store.ts';
import { KEY_BYTES, type MasterKeys, nameOf, unwrapKey, unwrapWithEither, wrapKey } from './wrapping.ts';

/** Number of bytes at the start of a ciphertext that hold the version of its key, big-endian. */
const VERSION_BYTES = 4;
/** Shortest time in milliseconds between two queries for new keys, even if many ciphertexts name unknown keys. */
const READ_EVERY_MS = 1_000;

/** Error for a stored secret that was changed, that was moved to another location, or whose key was removed. */
export class SecretDecryptionError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'SecretDecryptionError';
  }
}

interface KeyringOptions {
  db: Database;
  masterKeys: MasterKeys;
  /** Unwrapped keys that existed at the start, by name. */
  unwrapped: ReadonlyMap<string, Buffer>;
}

/**
 * The service's own keys, unwrapped. The database stores each key wrapped by `MASTER_KEY`. `roomservice keys rotate` replaces the
 * encryption key while processes run. So a process reads the newest key from the database each time it encrypts. When it decrypts a
 * ciphertext of an unknown key, it reads the new keys.
 */
export class OpenKeyring {
  /** Key for the hashes of API secrets. It is never replaced, because a hash cannot be made again without the secret. */
  readonly pepper: Buffer;
  /** Key that signs the access tokens of users. */
  readonly token: Buffer;
  readonly #db: Database;
  readonly #masterKeys: MasterKeys;
  /**
   * Encryption keys by version. Old keys stay until the process ends, because ciphertexts that it has read may still need them. With a key
   * object, a decryption takes a third of the time that it takes with plain bytes, which are checked again at each use.
   */
  readonly #keys = new Map<number, KeyObject>();
  /** Query for new keys that began last. This promise never rejects. */
  #reading: Promise<void> = Promise.resolve();
  #readAtMs = -READ_EVERY_MS;
  /** Query for new keys that has not begun yet, or null. */
  #nextReading: Promise<void> | null = null;

  constructor({ db, masterKeys, unwrapped }: KeyringOptions) {
    this.#db = db;
    this.#masterKeys = masterKeys;
    this.pepper = keyNamed(unwrapped, 'pepper 1');
    this.token = keyNamed(unwrapped, 'token 1');
    for (const [name, key] of unwrapped) {
      const version = /^encryption (\d+)$/.exec(name)?.[1];
      if (version !== undefined) {
        this.#keys.set(Number(version), createSecretKey(key));
      }
    }
  }

  /**
   * Encrypts a secret with the newest key. No newer key can be added until the transaction ends. The caller must store the ciphertext in
   * the same transaction, so that a rotation that begins later finds it.
   * @param boundTo name of the secret's location. The ciphertext can be decrypted only with the same name.
   * @throws OperatorError if the master key was replaced, and this process does not know the new master key
   */
  async encrypt(tx: Tx, secret: string, boundTo: string): Promise<Buffer> {
    await store.blockNewKeys(tx);
    // This is a separate statement, because it must see a key that was added while the lock waited.
    const newest = await store.readNewestEncryptionKey(tx);
    return Buffer.concat([
      versionBytes(newest.version),
      encryptBound(this.#unwrap(newest), Buffer.from(secret), boundTo),
    ]);
  }

  /**
   * Decrypts a secret. Reads new keys from the database if the key of the ciphertext is unknown.
   * @throws SecretDecryptionError if the ciphertext was changed or moved to another location, or if its key was removed
   * @throws OperatorError if the master key was replaced, and this process does not know the new master key
   */
  async decrypt(ciphertext: Buffer, boundTo: string): Promise<string> {
    if (ciphertext.length < VERSION_BYTES) {
      throw new SecretDecryptionError('The encrypted secret is too short.');
    }
    const version = ciphertext.readUInt32BE(0);
    const key = this.#keys.get(version) ?? (await this.#findKey(version));
    try {
      return decryptBound(key, ciphertext.subarray(VERSION_BYTES), boundTo).toString();
    } catch {
      throw new SecretDecryptionError(`Encryption key ${version} cannot decrypt the secret at this location.`);
    }
  }

  /**
   * Makes a new encryption key, which encrypts all secrets that are stored later. Makes no new key if older keys remain from a rotation
   * that was interrupted or is still under way. The rotation then continues with the newest key.
   * @returns the newest version, and the older versions with which secrets may still be encrypted
   */
  async beginRotation(): Promise<{ version: number; older: number[]; isResumed: boolean }> {
    // The key is made before the transaction. If the response to the first COMMIT is lost, the second run finds the same key in the
    // database and recognises it as its own.
    const made = randomBytes(KEY_BYTES);
    const { newest, older } = await inTransaction(this.#db, async (tx) => {
      await store.lockForNewKey(tx);
      const last = await store.readNewestEncryptionKey(tx);
      const left = (await store.readEncryptionKeys(tx)).filter(({ version }) => version < last.version);
      if (left.length > 0) {
        return { newest: last, older: left };
      }
      const added = wrapKey({ purpose: 'encryption', version: last.version + 1 }, made, this.#masterKeys.current);
      await store.insertWrappedKeys(tx, [added]);
      return { newest: added, older: [last] };
    });
    const isResumed = !this.#unwrap(newest).equals(createSecretKey(made));
    return { version: newest.version, older: older.map(({ version }) => version), isResumed };
  }

  /** Deletes all keys below this version. No stored secret may need them any more. */
  async endRotation(version: number): Promise<void> {
    await withRetries(() => store.deleteEncryptionKeysBelow(this.#db, version));
  }

  /**
   * Wraps with MASTER_KEY all keys that only MASTER_KEY_PREVIOUS can unwrap. Then MASTER_KEY_PREVIOUS is no longer needed.
   * @returns the number of keys that were wrapped again
   */
  async rewrap(): Promise<number> {
    const { current } = this.#masterKeys;
    return await inTransaction(this.#db, async (tx) => {
      const old = (await store.readWrappedKeys(tx)).filter((wrapped) => unwrapKey(wrapped, current) === null);
      for (const wrapped of old) {
        const key = unwrapWithEither(wrapped, this.#masterKeys);
        if (key === null) {
          throw new OperatorError(
            `Neither MASTER_KEY nor MASTER_KEY_PREVIOUS can decrypt the key "${nameOf(wrapped)}".`,
          );
        }
        await store.updateWrappedKey(tx, wrapKey(wrapped, key, current));
      }
      return old.length;
    });
  }

  /** Returns the key of a version. If the key is unknown, reads the new keys from the database first. */
  async #findKey(version: number): Promise<KeyObject> {
    await this.#reading;
    if (!this.#keys.has(version)) {
      await (this.#nextReading ??= this.#readWhenDue());
    }
    const key = this.#keys.get(version);
    if (key === undefined) {
      throw new SecretDecryptionError(`There is no encryption key ${version}.`);
    }
    return key;
  }

  /**
   * Reads the new keys, at least `READ_EVERY_MS` after the previous query. One query serves all calls that arrive before it begins. A later
   * call needs a later query, because its key may be newer than the result. So missing keys need not be cached, and all ciphertexts with
   * keys that do not exist together cause only one query in each second.
   */
  async #readWhenDue(): Promise<void> {
    await sleep(Math.max(0, this.#readAtMs + READ_EVERY_MS - performance.now()));
    this.#nextReading = null;
    this.#readAtMs = performance.now();
    const reading = this.#readNew();
    this.#reading = reading.catch(() => {});
    await reading;
  }

  async #readNew(): Promise<void> {
    for (const wrapped of await withRetries(() => store.readEncryptionKeys(this.#db))) {
      if (!this.#keys.has(wrapped.version)) {
        this.#unwrap(wrapped);
      }
    }
  }

  /**
   * Unwraps a key and keeps it. If no master key of this process can unwrap it, uses the key that the process knows already. So a process
   * that was not restarted yet continues to work while the master key is being replaced.
   */
  #unwrap(wrapped: store.WrappedKey): KeyObject {
    const unwrapped = unwrapWithEither(wrapped, this.#masterKeys);
    const key = unwrapped === null ? this.#keys.get(wrapped.version) : createSecretKey(unwrapped);
    if (key === undefined) {
      throw new OperatorError(
        `MASTER_KEY of this process cannot decrypt the key "${nameOf(wrapped)}", because it was replaced after the start. ` +
          'Restart this process with the current MASTER_KEY.',
      );
    }
    this.#keys.set(wrapped.version, key);
    return key;
  }
}

/** Returns the bytes at the start of a ciphertext of this version. Ciphertexts of older versions sort before these bytes. */
export function versionBytes(version: number): Buffer {
  const bytes = Buffer.alloc(VERSION_BYTES);
  bytes.writeUInt32BE(version);
  return bytes;
}

function keyNamed(keys: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const key = keys.get(name);
  if (key === undefined) {
    throw new Error(`There is no key "${name}".`);
  }
  return key;
}
