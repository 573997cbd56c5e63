import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from '../db/database.ts';
import { withRetries } from '../db/failures.ts';
import { inTransaction } from '../db/transaction.ts';
import { OperatorError } from '../errors.ts';
import { decryptBound, encryptBound } from './sealing.ts';
import * as store from './store.ts';
import { KEY_BYTES, type MasterKeys, nameOf, unwrapKey, unwrapWithEither, wrapKey } from './wrapping.ts';

/** Length in bytes of the key version with which each ciphertext begins. The version is a big-endian number. */
const VERSION_BYTES = 4;
/**
 * Minimum time in milliseconds between two queries for new keys. It applies even if many ciphertexts need keys that this process does not
 * know.
 */
const READ_EVERY_MS = 1_000;

/** Error for a stored secret that cannot be decrypted. The secret was changed or moved to another location, or its key was removed. */
export class SecretDecryptionError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'SecretDecryptionError';
  }
}

interface KeyringOptions {
  db: Database;
  masterKeys: MasterKeys;
  /** Keys that the process has read from the database at its start and then unwrapped (decrypted), by name. */
  unwrapped: ReadonlyMap<string, Buffer>;
}

/**
 * The service's own keys, unwrapped (decrypted). The database stores each key wrapped with `MASTER_KEY`.
 *
 * `roomservice keys rotate` replaces the encryption key while other processes run. So a process reads the newest key from the database each
 * time it encrypts. Before it decrypts a ciphertext whose key it does not know, it reads the new keys.
 */
export class OpenKeyring {
  /**
   * Key for the hashes of API secrets. It is never replaced. A new key would need new hashes, and the service cannot make them, because it
   * does not store the secrets.
   */
  readonly pepper: Buffer;
  /** Key that signs the access tokens of users. */
  readonly token: Buffer;
  readonly #db: Database;
  readonly #masterKeys: MasterKeys;
  /**
   * Encryption keys by version. A key stays here until the process ends, even if it is deleted from the database, because the process may
   * still have ciphertexts that need this key. Each key is a `KeyObject`. With plain bytes, a decryption would take three times as long,
   * because Node would check the bytes at each use.
   */
  readonly #keys = new Map<number, KeyObject>();
  /** Latest query for new keys that has begun. The promise never rejects. */
  #reading: Promise<void> = Promise.resolve();
  #readAtMs = -READ_EVERY_MS;
  /** Planned query for new keys that has not begun yet, or null if no query is planned. */
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
   * Encrypts a secret with the newest key. No process can add a newer key until the transaction ends. The caller must store the ciphertext
   * in the same transaction, so that a rotation that begins later finds it.
   * @param boundTo name of the place where the secret is stored. The ciphertext can be decrypted only with the same name.
   * @throws OperatorError if the master key was replaced, and this process does not know the new master key
   */
  async encrypt(tx: Tx, secret: string, boundTo: string): Promise<Buffer> {
    await store.blockNewKeys(tx);
    // `blockNewKeys` may wait until another transaction has added a key. This key is visible only to a statement that begins afterwards.
    const newest = await store.readNewestEncryptionKey(tx);
    return Buffer.concat([
      versionBytes(newest.version),
      encryptBound(this.#unwrap(newest), Buffer.from(secret), boundTo),
    ]);
  }

  /**
   * Decrypts a secret. If this process does not know the key of the ciphertext, it first reads the new keys from the database.
   * @throws SecretDecryptionError if the ciphertext was changed or moved to another location, or if its key was removed
   * @throws OperatorError if the master key was replaced, and this process does not know the new master key
   */
  async decrypt(ciphertext: Buffer, boundTo: string): Promise<string> {
    if (ciphertext.length < VERSION_BYTES) {
      throw new SecretDecryptionError(
        `The stored ciphertext of "${boundTo}" is too short, so the ciphertext was changed or cut off. Replace this secret.`,
      );
    }
    const version = ciphertext.readUInt32BE(0);
    const key = this.#keys.get(version) ?? (await this.#findKey(version, boundTo));
    try {
      return decryptBound(key, ciphertext.subarray(VERSION_BYTES), boundTo).toString();
    } catch {
      throw new SecretDecryptionError(
        `Encryption key ${version} cannot decrypt the stored ciphertext of "${boundTo}". ` +
          'The ciphertext was changed or moved to another row. Replace this secret.',
      );
    }
  }

  /**
   * Makes a new encryption key. From then on, all secrets are encrypted with this key.
   *
   * If the database still has an older key, an earlier rotation was interrupted or is still running. In this case, makes no new key, and
   * continues the earlier rotation with the newest key.
   * @returns the newest version, and the older versions with which stored secrets may still be encrypted
   */
  async beginRotation(): Promise<{ version: number; older: number[]; isResumed: boolean }> {
    // The key is made before the transaction. If the response to the COMMIT is lost, the transaction runs a second time, and finds this key
    // in the database. The comparison with `made` below then shows that this call has made the key.
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

  /** Deletes all encryption keys with a version below this one. The caller must make sure that no stored secret needs these keys. */
  async endRotation(version: number): Promise<void> {
    await withRetries(() => store.deleteEncryptionKeysBelow(this.#db, version));
  }

  /**
   * Wraps all keys with MASTER_KEY that are still wrapped with MASTER_KEY_PREVIOUS. After this, MASTER_KEY_PREVIOUS is not needed any more.
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
            `Neither MASTER_KEY nor MASTER_KEY_PREVIOUS can decrypt the key "${nameOf(wrapped)}". ` +
              'Set one of these variables to the master key that encrypts this key.',
          );
        }
        await store.updateWrappedKey(tx, wrapKey(wrapped, key, current));
      }
      return old.length;
    });
  }

  /** Returns the encryption key of a version. If this process does not know the key, it first reads the new keys from the database. */
  async #findKey(version: number, boundTo: string): Promise<KeyObject> {
    await this.#reading;
    if (!this.#keys.has(version)) {
      await (this.#nextReading ??= this.#readWhenDue());
    }
    const key = this.#keys.get(version);
    if (key === undefined) {
      throw new SecretDecryptionError(
        `The stored ciphertext of "${boundTo}" needs encryption key ${version}, which is not in the database. Replace this secret.`,
      );
    }
    return key;
  }

  /**
   * Reads the new keys, but not earlier than `READ_EVERY_MS` after the previous query began. So all calls together cause at most one query
   * a second, even if their keys do not exist. For this reason, no cache of missing keys is needed.
   *
   * All calls that arrive before the query begins share its result. A later call needs another query, because its key may have been added
   * after the first query began.
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
   * Unwraps a key, and keeps it in `#keys`. If no master key of this process can unwrap the key, returns the key of the same version from
   * `#keys`. So a process that has not been restarted continues to work while the master key is being replaced.
   * @throws OperatorError if no master key can unwrap the key, and `#keys` has no key of this version
   */
  #unwrap(wrapped: store.WrappedKey): KeyObject {
    const unwrapped = unwrapWithEither(wrapped, this.#masterKeys);
    const key = unwrapped === null ? this.#keys.get(wrapped.version) : createSecretKey(unwrapped);
    if (key === undefined) {
      throw new OperatorError(
        `MASTER_KEY of this process cannot decrypt the key "${nameOf(wrapped)}", because the master key was replaced after the start. ` +
          'Restart this process with the current MASTER_KEY.',
      );
    }
    this.#keys.set(wrapped.version, key);
    return key;
  }
}

/** Returns the bytes with which every ciphertext of this key version begins. Ciphertexts of older versions sort before these bytes. */
export function versionBytes(version: number): Buffer {
  const bytes = Buffer.alloc(VERSION_BYTES);
  bytes.writeUInt32BE(version);
  return bytes;
}

function keyNamed(keys: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const key = keys.get(name);
  if (key === undefined) {
    throw new Error(
      `The service key "${name}" is not in the database. Each start makes the missing service keys, so this is a fault of the program.`,
    );
  }
  return key;
}
