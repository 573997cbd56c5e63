/** The pepper, which the master key wraps, and the keys that are derived from it. */
import {
  type CipherKey,
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Db } from '../db/database.ts';
import { ifAbsent } from '../db/failures.ts';
import { OperatorError } from '../errors.ts';
import { writeNewFile } from '../lib/new-file.ts';
import { decodeText } from '../lib/text-file.ts';
import { deleteWrappedPepper, insertWrappedPepper, readWrappedPepper, updateWrappedPepper } from './store.ts';

export { readWrappedPepper } from './store.ts';

const PEPPER_NAME = 'pepper 1';
const KEY_BYTES = 32;

/** Finds the master key, or null before the first start, and checks that it unwraps the pepper. @throws OperatorError if it does not */
export async function checkMasterKey(
  db: Db,
  config: Pick<Config, 'masterKey' | 'masterKeyPrevious' | 'databaseUrl' | 'dataDir'>,
): Promise<Buffer | null> {
  // The database must be read before the file, because a process at its first start writes the file before it stores the pepper.
  const wrapped = await readWrappedPepper(db);
  const masterKey = await findMasterKey(config);
  if (wrapped !== null && masterKey === null) {
    throw new OperatorError(
      `${masterKeyPath(config.dataDir)} is missing, and only the master key in that file can decrypt the keys in the database. ` +
        'Restore the file from your copy, or set MASTER_KEY to its content. If there is no copy, see docs/operating/keys.md. Nothing was changed.',
    );
  }
  if (wrapped !== null && masterKey !== null) {
    unwrapWithEither(wrapped, masterKey, config.masterKeyPrevious);
  }
  return masterKey;
}

/** Returns true if the master key unwraps (decrypts) the pepper of the database, or if the database has no pepper. */
export async function unwrapsPepper(db: Db, masterKey: Buffer): Promise<boolean> {
  const wrapped = await readWrappedPepper(db);
  return wrapped === null || unwrap(wrapped, masterKey) !== null;
}

/** Unwraps the pepper, or makes it at the first start, and derives the keys. @throws OperatorError if no master key unwraps it */
export async function openKeyring(db: Db, current: Buffer, previous: Buffer | null = null): Promise<Keyring> {
  const wrapped = await readWrappedPepper(db);
  if (wrapped !== null) {
    return new Keyring(unwrapWithEither(wrapped, current, previous));
  }
  await insertWrappedPepper(db, wrap(randomBytes(KEY_BYTES), current));
  return await openKeyring(db, current, previous);
}

/** Wraps the pepper with `to`. Returns false if it is wrapped so already. @throws OperatorError if neither key unwraps it */
export async function rewrapPepper(db: Db, from: Buffer | null, to: Buffer): Promise<boolean> {
  const wrapped = await readWrappedPepper(db);
  if (wrapped === null || unwrap(wrapped, to) !== null) {
    return false;
  }
  await updateWrappedPepper(db, wrap(unwrapWithEither(wrapped, to, from), to));
  return true;
}

/** Deletes the pepper of a lost master key. Returns the number of deleted keys. @throws OperatorError if a master key still unwraps it */
export async function discardKeys(db: Db, masterKeys: Buffer[]): Promise<number> {
  const wrapped = await readWrappedPepper(db);
  if (wrapped === null) {
    return 0;
  }
  if (masterKeys.some((key) => unwrap(wrapped, key) !== null)) {
    throw new OperatorError(
      'No key was deleted, because a master key in the settings or in DATA_DIR still decrypts the keys in the database. ' +
        'So the master key is not lost. Start the service with the same settings.',
    );
  }
  return await deleteWrappedPepper(db);
}

function wrap(pepper: Buffer, masterKey: Buffer): Buffer {
  return encryptBound(masterKey, pepper, PEPPER_NAME);
}

function unwrap(wrapped: Buffer, masterKey: Buffer): Buffer | null {
  try {
    return decryptBound(masterKey, wrapped, PEPPER_NAME);
  } catch {
    return null;
  }
}

function unwrapWithEither(wrapped: Buffer, current: Buffer, previous: Buffer | null): Buffer {
  const pepper = unwrap(wrapped, current) ?? (previous && unwrap(wrapped, previous));
  if (pepper === null) {
    throw new OperatorError(
      'The master key cannot decrypt the keys in this database. Set MASTER_KEY to the master key that the service used before. ' +
        'While you replace the master key, set the old one as MASTER_KEY_PREVIOUS, and run "roomservice keys rewrap".',
    );
  }
  return pepper;
}

export function masterKeyPath(dataDir: string): string {
  return join(dataDir, 'master-key');
}

/** Returns the master key from the settings or, if the database is embedded, from its file in DATA_DIR. Returns null if there is none. */
export async function findMasterKey({
  masterKey,
  databaseUrl,
  dataDir,
}: Pick<Config, 'masterKey' | 'databaseUrl' | 'dataDir'>): Promise<Buffer | null> {
  return masterKey ?? (databaseUrl === null ? await readMasterKey(dataDir) : null);
}

/** Reads the master key from its file in DATA_DIR. Returns null if the file is missing. @throws OperatorError */
export async function readMasterKey(dataDir: string): Promise<Buffer | null> {
  const path = masterKeyPath(dataDir);
  const bytes = await readFile(path).catch(ifAbsent);
  return bytes === undefined ? null : decodeKey(bytes, path);
}

/** Makes the file of the master key in DATA_DIR if it is missing. Returns the key that is in the file at the end. */
export async function makeMasterKey(dataDir: string, key: Buffer = randomBytes(KEY_BYTES)): Promise<Buffer> {
  const path = masterKeyPath(dataDir);
  await writeNewFile(path, `${key.toString('base64')}\n`);
  return decodeKey(await readFile(path), path);
}

/** Stores a master key in its file in DATA_DIR. @throws OperatorError if the file already has a different key */
export async function storeMasterKey(dataDir: string, key: Buffer): Promise<void> {
  if (!(await makeMasterKey(dataDir, key)).equals(key)) {
    throw new OperatorError(
      `${masterKeyPath(dataDir)} has another master key already. Move the file away, and run the command again. Nothing was changed.`,
    );
  }
}

function decodeKey(bytes: Buffer, path: string): Buffer {
  const key = Buffer.from(decodeText(bytes)?.trim() ?? '', 'base64');
  if (key.length !== KEY_BYTES) {
    throw new OperatorError(
      `${path} does not contain a master key (32 bytes in base64, as UTF-8 text). Restore the correct file.`,
    );
  }
  return key;
}

/** Error for a stored secret that cannot be decrypted. The secret was changed or moved to another location, or its key was discarded. */
export class SecretDecryptionError extends Error {}

/** The keys of the service. All of them are derived from the pepper, so they stay the same while the master key is replaced. */
export class Keyring {
  readonly pepper: Buffer;
  readonly token: Buffer;
  /** With plain bytes in place of a `KeyObject`, a decryption would take three times as long, because Node checks the bytes at each use. */
  readonly #key: KeyObject;

  constructor(pepper: Buffer) {
    const derive = (purpose: string, length: number) => Buffer.from(hkdfSync('sha256', pepper, '', purpose, length));
    this.pepper = pepper;
    this.token = derive('token', 32);
    this.#key = createSecretKey(derive('encryption', 32));
  }

  /** Encrypts a secret. It can be decrypted only with the same `boundTo`, the name of the place where it is stored. */
  encrypt(secret: string, boundTo: string): Buffer {
    return encryptBound(this.#key, Buffer.from(secret), boundTo);
  }

  /** Decrypts a secret. @throws SecretDecryptionError if the ciphertext was changed or moved, or if its key was discarded */
  decrypt(ciphertext: Buffer, boundTo: string): string {
    try {
      return decryptBound(this.#key, ciphertext, boundTo).toString();
    } catch {
      throw new SecretDecryptionError(
        `The stored ciphertext of "${boundTo}" cannot be decrypted. Its key was discarded, or it was changed or moved to another row. ` +
          'Replace this secret.',
      );
    }
  }
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts with AES-256-GCM, bound to the name of a place. Returns nonce, authentication tag and ciphertext. */
export function encryptBound(key: CipherKey, plain: Buffer, boundTo: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(boundTo));
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/** Decrypts the result of `encryptBound`. @throws Error if the key, `boundTo` or any byte differs */
export function decryptBound(key: CipherKey, encrypted: Buffer, boundTo: string): Buffer {
  const nonce = encrypted.subarray(0, NONCE_BYTES);
  const tag = encrypted.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(boundTo)).setAuthTag(tag);
  return Buffer.concat([decipher.update(encrypted.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
