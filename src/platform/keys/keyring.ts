import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from '../db/database.ts';
import { retrying } from '../db/failures.ts';
import { inTransaction } from '../db/transaction.ts';
import { OperatorError } from '../errors.ts';
import { seal, unseal } from './sealing.ts';
import * as store from './store.ts';
import { KEY_BYTES, type MasterKeys, nameOf, unwrapKey, unwrapWithEither, wrapKey } from './wrapping.ts';

/** A ciphertext begins with the version of its key, big-endian. */
const VERSION_BYTES = 4;
/** The least time between two looks for new keys, however many ciphertexts ask for a key that is not there. */
const READ_EVERY_MS = 1_000;

/** A stored secret was changed, moved to another location, or encrypted with a key that is gone. */
export class SecretDoesNotOpenError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'SecretDoesNotOpenError';
  }
}

interface Opened {
  db: Database;
  masterKeys: MasterKeys;
  /** Every key that was there at the start, by its name. */
  opened: ReadonlyMap<string, Buffer>;
}

/**
 * The service's own keys, opened. They live in the database, each wrapped by `MASTER_KEY`. The encryption key is replaced while
 * processes run (`roomservice keys rotate`): a process asks the database which one is the newest whenever it encrypts, and looks for
 * keys it does not know yet when it meets their ciphertexts.
 */
export class OpenKeyring {
  /** Keys the hashes of API secrets. Never replaced: a hash cannot be made again without the secret. */
  readonly pepper: Buffer;
  /** Signs the access tokens of people. */
  readonly token: Buffer;
  readonly #db: Database;
  readonly #masterKeys: MasterKeys;
  /**
   * Encryption keys by version. Old ones stay until the process ends: what it has read before may still need them. Key objects open a
   * secret in a third of the time that plain bytes take, which are looked at anew at each use.
   */
  readonly #keys = new Map<number, KeyObject>();
  /** The look for new keys that began last; it never rejects. */
  #reading: Promise<void> = Promise.resolve();
  #readAtMs = -READ_EVERY_MS;
  /** The look that has not begun yet. */
  #nextReading: Promise<void> | null = null;

  constructor({ db, masterKeys, opened }: Opened) {
    this.#db = db;
    this.#masterKeys = masterKeys;
    this.pepper = keyNamed(opened, 'pepper 1');
    this.token = keyNamed(opened, 'token 1');
    for (const [name, key] of opened) {
      const version = /^encryption (\d+)$/.exec(name)?.[1];
      if (version !== undefined) {
        this.#keys.set(Number(version), createSecretKey(key));
      }
    }
  }

  /**
   * Encrypts a secret we must be able to read again, with the newest key. That stays the newest until the transaction ends, so the
   * ciphertext must be stored in it: a rotation that begins later finds it there.
   * @param boundTo names the secret's location, so that it opens nowhere else
   * @throws OperatorError where the master key was replaced and this process does not know the new one
   */
  async encrypt(tx: Tx, secret: string, boundTo: string): Promise<Buffer> {
    await store.holdOffNewKeys(tx);
    // A statement of its own, for it must see what the lock has waited for.
    const newest = await store.readNewestEncryptionKey(tx);
    return Buffer.concat([versionBytes(newest.version), seal(this.#open(newest), Buffer.from(secret), boundTo)]);
  }

  /**
   * @throws SecretDoesNotOpenError where the ciphertext was changed, moved or made with a key that is gone
   * @throws OperatorError where the master key was replaced and this process does not know the new one
   */
  async decrypt(ciphertext: Buffer, boundTo: string): Promise<string> {
    if (ciphertext.length < VERSION_BYTES) {
      throw new SecretDoesNotOpenError('the encrypted secret is cut short');
    }
    const version = ciphertext.readUInt32BE(0);
    const key = this.#keys.get(version) ?? (await this.#look(version));
    try {
      return unseal(key, ciphertext.subarray(VERSION_BYTES), boundTo).toString();
    } catch {
      throw new SecretDoesNotOpenError(`encryption key ${version} does not open the secret here`);
    }
  }

  /**
   * Makes a new encryption key, which every secret that is stored from now on is encrypted with; where older ones are left from a
   * rotation that was interrupted or is under way, the newest there is stays.
   * @returns the newest version, and the older ones that secrets may still be encrypted with
   */
  async beginRotation(): Promise<{ version: number; older: number[]; isResumed: boolean }> {
    // Made before the transaction: when its answer is lost, the second run finds this very key, and knows it for its own.
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
    const isResumed = !this.#open(newest).equals(createSecretKey(made));
    return { version: newest.version, older: older.map(({ version }) => version), isResumed };
  }

  /** Removes the keys before this version, for good. Nothing may be encrypted with them any more. */
  async endRotation(version: number): Promise<void> {
    await retrying(() => store.deleteEncryptionKeysBelow(this.#db, version));
  }

  /**
   * Wraps by MASTER_KEY what only MASTER_KEY_PREVIOUS opens; that one opens nothing any more then.
   * @returns how many keys were wrapped anew
   */
  async rewrap(): Promise<number> {
    const { current } = this.#masterKeys;
    return await inTransaction(this.#db, async (tx) => {
      const old = (await store.readWrappedKeys(tx)).filter((wrapped) => unwrapKey(wrapped, current) === null);
      for (const wrapped of old) {
        const key = unwrapWithEither(wrapped, this.#masterKeys);
        if (key === null) {
          throw new OperatorError(`Neither MASTER_KEY nor MASTER_KEY_PREVIOUS opens ${nameOf(wrapped)}.`);
        }
        await store.updateWrappedKey(tx, wrapKey(wrapped, key, current));
      }
      return old.length;
    });
  }

  /** Finds a key that came after the last look. */
  async #look(version: number): Promise<KeyObject> {
    await this.#reading;
    if (!this.#keys.has(version)) {
      await (this.#nextReading ??= this.#readWhenDue());
    }
    const key = this.#keys.get(version);
    if (key === undefined) {
      throw new SecretDoesNotOpenError(`there is no encryption key ${version}`);
    }
    return key;
  }

  /**
   * One look serves all who ask before it begins; who asks later needs a later one, for the key may be newer than its answer. So no
   * miss has to be remembered, and ciphertexts of keys that never were cost one query a second together.
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
    for (const wrapped of await retrying(() => store.readEncryptionKeys(this.#db))) {
      if (!this.#keys.has(wrapped.version)) {
        this.#open(wrapped);
      }
    }
  }

  /** While the master key is being replaced, a process that has not been restarted yet goes on with the keys it knows. */
  #open(wrapped: store.WrappedKey): KeyObject {
    const unwrapped = unwrapWithEither(wrapped, this.#masterKeys);
    const key = unwrapped === null ? this.#keys.get(wrapped.version) : createSecretKey(unwrapped);
    if (key === undefined) {
      throw new OperatorError(
        `MASTER_KEY of this process does not open ${nameOf(wrapped)}: it was replaced after the start. Restart this process with the present one.`,
      );
    }
    this.#keys.set(wrapped.version, key);
    return key;
  }
}

/** What a ciphertext of this version begins with; one of an older version sorts before it. */
export function versionBytes(version: number): Buffer {
  const bytes = Buffer.alloc(VERSION_BYTES);
  bytes.writeUInt32BE(version);
  return bytes;
}

function keyNamed(keys: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const key = keys.get(name);
  if (key === undefined) {
    throw new Error(`there is no key ${name}`);
  }
  return key;
}
