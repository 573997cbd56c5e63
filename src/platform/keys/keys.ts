import { randomBytes } from 'node:crypto';
import type { Database, Db } from '../db/database.ts';
import { OperatorError } from '../errors.ts';
import { Keyring } from './keyring.ts';
import { makeMasterKey, masterKeyPath, readMasterKey } from './master-key.ts';
import { decryptBound, encryptBound } from './sealing.ts';
import { deleteAllKeys, insertWrappedKey, readWrappedKeys, updateWrappedKey, type WrappedKey } from './store.ts';

export { Keyring, SecretDecryptionError } from './keyring.ts';
export { findMasterKey, masterKeyPath, storeMasterKey } from './master-key.ts';
export { decryptBound, encryptBound } from './sealing.ts';
export { checkSecrets, type SecretColumn } from './secret-check.ts';
export { readSettledKeys } from './store.ts';

interface MasterKeys {
  current: Buffer;
  /** Old master key, while the master key is being replaced. It unwraps the keys that are not yet wrapped with `current`. */
  previous: Buffer | null;
}

type KeyName = Omit<WrappedKey, 'wrapped_key'>;

const PEPPER: KeyName = { purpose: 'pepper', version: 1 };
const KEY_BYTES = 32;

/** Reads the master key as `readMasterKeyOf` does. If this is the first start of the service, makes a key and its file. */
export async function openMasterKey(db: Database, dataDir: string): Promise<Buffer> {
  return (await readMasterKeyOf(db, dataDir)) ?? (await makeMasterKey(dataDir));
}

/**
 * Reads the master key from its file in DATA_DIR. Changes nothing. The database need not be migrated yet.
 * @returns null if there is no file yet, because the service was never started
 * @throws OperatorError if the file is invalid, or if it is missing but the database has keys
 */
export async function readMasterKeyOf(db: Database, dataDir: string): Promise<Buffer | null> {
  // The database must be read before the file, because a process at its first start writes the file before it stores keys.
  const hasKeys = (await readWrappedKeys(db)).length > 0;
  const key = await readMasterKey(dataDir);
  if (key === null && hasKeys) {
    throw new OperatorError(
      `${masterKeyPath(dataDir)} is missing, and only the master key in that file can decrypt the keys in the database. ` +
        'Restore the file from your copy, or set MASTER_KEY to its content. If there is no copy, see docs/operating/keys.md. Nothing was changed.',
    );
  }
  return key;
}

/**
 * Checks that the master keys unwrap each service key of the database, which need not be migrated yet. Changes nothing.
 * @returns the number of service keys, which is 0 before the first start
 * @throws OperatorError if neither master key unwraps a service key
 */
export async function checkMasterKeys(db: Database, masterKeys: MasterKeys): Promise<number> {
  const wrapped = await readWrappedKeys(db);
  wrapped.forEach((key) => unwrapWithEither(key, masterKeys));
  return wrapped.length;
}

/** Returns true if the master key unwraps (decrypts) all service keys of the database, or if the database has no service keys. */
export async function unwrapsAllKeys(db: Db, masterKey: Buffer): Promise<boolean> {
  return (await readWrappedKeys(db)).every((wrapped) => unwrapKey(wrapped, masterKey) !== null);
}

/**
 * Unwraps the pepper, and derives the keys of the service from it. Makes the pepper at the first start. Never changes an existing key.
 * @param previous old master key, while the master key is being replaced
 * @throws OperatorError if neither master key unwraps a service key
 */
export async function openKeyring(db: Database, current: Buffer, previous: Buffer | null = null): Promise<Keyring> {
  const masterKeys = { current, previous };
  let wrapped = await readWrappedKeys(db);
  if (!wrapped.some(isPepper)) {
    await insertWrappedKey(db, wrapKey(PEPPER, randomBytes(KEY_BYTES), current));
    wrapped = await readWrappedKeys(db);
  }
  const pepper = unwrapWithEither(wrapped.find(isPepper) as WrappedKey, masterKeys);
  const older = wrapped.filter(({ purpose }) => purpose === 'encryption');
  return new Keyring(pepper, new Map(older.map((key) => [key.version, unwrapWithEither(key, masterKeys)])));
}

function isPepper({ purpose }: KeyName): boolean {
  return purpose === PEPPER.purpose;
}

/**
 * Wraps all service keys of the database with the master key `to`, in a transaction of the caller. Two processes may do this at once.
 * @returns the number of keys that were wrapped again
 * @throws OperatorError if neither `from` nor `to` unwraps one of the keys
 */
export async function rewrapAllKeys(db: Db, from: Buffer | null, to: Buffer): Promise<number> {
  const old = (await readWrappedKeys(db)).filter((wrapped) => unwrapKey(wrapped, to) === null);
  for (const wrapped of old) {
    await updateWrappedKey(db, wrapKey(wrapped, unwrapWithEither(wrapped, { current: to, previous: from }), to));
  }
  return old.length;
}

/**
 * Deletes all service keys, because the master key that wraps them is lost. The next start of the service makes new keys.
 * @returns the number of deleted keys
 * @throws OperatorError if one of `masterKeys` still unwraps a service key, because the master key is then not lost
 */
export async function discardKeys(db: Db, masterKeys: Buffer[]): Promise<number> {
  for (const wrapped of await readWrappedKeys(db)) {
    if (masterKeys.some((key) => unwrapKey(wrapped, key) !== null)) {
      throw new OperatorError(
        `No key was deleted, because a master key in the settings or in DATA_DIR still decrypts the key "${nameOf(wrapped)}". ` +
          'So the master key is not lost. Start the service with the same settings.',
      );
    }
  }
  return await deleteAllKeys(db);
}

function nameOf({ purpose, version }: KeyName): string {
  return `${purpose} ${version}`;
}

/** Encrypts a key, bound to its name. So two wrapped keys that were exchanged in the database cannot be decrypted. */
function wrapKey(name: KeyName, key: Buffer, masterKey: Buffer): WrappedKey {
  return { ...name, wrapped_key: encryptBound(masterKey, key, nameOf(name)) };
}

function unwrapKey(wrapped: WrappedKey, masterKey: Buffer): Buffer | null {
  try {
    return decryptBound(masterKey, wrapped.wrapped_key, nameOf(wrapped));
  } catch {
    return null;
  }
}

function unwrapWithEither(wrapped: WrappedKey, { current, previous }: MasterKeys): Buffer {
  const key = unwrapKey(wrapped, current) ?? (previous && unwrapKey(wrapped, previous));
  if (key === null) {
    throw new OperatorError(
      'The master key cannot decrypt the keys in this database. Set MASTER_KEY to the master key that the service used before. ' +
        'While you replace the master key, set the old one as MASTER_KEY_PREVIOUS.',
    );
  }
  return key;
}
