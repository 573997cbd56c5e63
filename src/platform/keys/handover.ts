import type { Db } from '../db/database.ts';
import { OperatorError } from '../errors.ts';
import { deleteAllKeys, readWrappedKeys, updateWrappedKey } from './store.ts';
import { nameOf, unwrapKey, wrapKey } from './wrapping.ts';

/** Returns true if the master key unwraps (decrypts) all service keys of the database, or if the database has no service keys. */
export async function unwrapsAllKeys(db: Db, masterKey: Buffer): Promise<boolean> {
  return (await readWrappedKeys(db)).every((wrapped) => unwrapKey(wrapped, masterKey) !== null);
}

/**
 * Wraps (encrypts) all service keys of the database with another master key. The caller must begin a transaction first.
 * @throws OperatorError if `from` does not unwrap one of the keys
 */
export async function rewrapAllKeys(db: Db, from: Buffer, to: Buffer): Promise<void> {
  for (const wrapped of await readWrappedKeys(db)) {
    const key = unwrapKey(wrapped, from);
    if (key === null) {
      throw new OperatorError(
        `The master key of the backup cannot decrypt the key "${nameOf(wrapped)}". Use another backup.`,
      );
    }
    await updateWrappedKey(db, wrapKey(wrapped, key, to));
  }
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
