/** The pepper, which the master key wraps, and the keys that are derived from it. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../config.ts';
import type { Db } from '../db/database.ts';
import { OperatorError } from '../errors.ts';
import { Keyring } from './keyring.ts';
import { findMasterKey, masterKeyPath } from './master-key.ts';
import { decryptBound, encryptBound } from './sealing.ts';
import { deleteWrappedPepper, insertWrappedPepper, readWrappedPepper, updateWrappedPepper } from './store.ts';

export { Keyring, SecretDecryptionError } from './keyring.ts';
export { findMasterKey, makeMasterKey, masterKeyPath, storeMasterKey } from './master-key.ts';
export { decryptBound, encryptBound } from './sealing.ts';
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
