import { randomBytes } from 'node:crypto';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { OperatorError } from '../errors.ts';
import { OpenKeyring } from './keyring.ts';
import { makeMasterKey, masterKeyPath, readMasterKey, writeMasterKey } from './master-key.ts';
import { insertWrappedKeys, type KeyPurpose, readWrappedKeys, readWrappedKeysIfAny, type WrappedKey } from './store.ts';
import { KEY_BYTES, type MasterKeys, nameOf, unwrapWithEither, wrapKey } from './wrapping.ts';

export { discardKeys, rewrapAllKeys, unwrapsAllKeys } from './handover.ts';
export { SecretDecryptionError } from './keyring.ts';
export { masterKeyPath } from './master-key.ts';
export { checkSecrets } from './secret-check.ts';
export type { SecretColumn, StoredSecret } from './rotation.ts';
export { readSettledKeys } from './store.ts';

/** Settings that say where the master key is. */
type KeySettings = Pick<Config, 'masterKey' | 'databaseUrl' | 'dataDir'>;

const PURPOSES: KeyPurpose[] = ['pepper', 'token', 'encryption'];

/** Keyring for code that uses the service's own keys to hash, sign, encrypt and decrypt. It cannot rotate or rewrap the keys. */
export type Keyring = Pick<OpenKeyring, 'pepper' | 'token' | 'encrypt' | 'decrypt'>;

/**
 * Returns the master key from the settings. If the settings have no master key and the database is embedded, reads the key from its file in
 * DATA_DIR. Makes no new key.
 * @returns null if there is no master key
 */
export async function findMasterKey({ masterKey, databaseUrl, dataDir }: KeySettings): Promise<Buffer | null> {
  return masterKey ?? (databaseUrl === null ? await readMasterKey(dataDir) : null);
}

/**
 * Stores a master key in the key file in DATA_DIR.
 * @throws OperatorError if the file already has a different key
 */
export async function storeMasterKey(dataDir: string, key: Buffer): Promise<void> {
  if (!(await writeMasterKey(dataDir, key)).equals(key)) {
    throw new OperatorError(
      `${masterKeyPath(dataDir)} has another master key already. Move the file away, and run the command again. Nothing was changed.`,
    );
  }
}

/**
 * Reads the master key from its file in DATA_DIR. If this is the first start of the service, makes a key and this file.
 * @param db database, which need not be migrated yet
 * @throws OperatorError if the file is invalid, or if the file is missing but the database has keys. No new master key is made then.
 */
export async function openMasterKey(db: Database, dataDir: string): Promise<Buffer> {
  return (await readMasterKeyOf(db, dataDir)) ?? (await makeMasterKey(dataDir));
}

/**
 * Reads the master key from its file in DATA_DIR. Changes nothing.
 * @param db database, which need not be migrated yet
 * @returns null if there is no file yet, because the service was never started
 * @throws OperatorError if the file is invalid. Also thrown if the file is missing but the database has keys, because only the missing
 * master key can decrypt them.
 */
export async function readMasterKeyOf(db: Database, dataDir: string): Promise<Buffer | null> {
  // The database must be read before the file, because another process may be at its first start at the same time. That process writes the
  // file before it stores keys. So if the database has keys, the file is there too.
  const hasKeys = (await readWrappedKeysIfAny(db)).length > 0;
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
 * Checks that each service key of the database can be unwrapped with the current or the previous master key. Changes nothing, so a caller
 * can run this check before it migrates the database.
 * @param db database, which need not be migrated yet
 * @returns the number of service keys, which is 0 before the first start
 * @throws OperatorError if there is a service key that neither of these two master keys can unwrap
 */
export async function checkMasterKeys(db: Database, masterKeys: MasterKeys): Promise<number> {
  const wrapped = await readWrappedKeysIfAny(db);
  wrapped.forEach((key) => unwrapKnown(key, masterKeys));
  return wrapped.length;
}

/**
 * Reads and unwraps the service keys. Makes them at the first start of the service. Never changes existing keys, because only
 * `OpenKeyring.rewrap` does that.
 * @param previousMasterKey old master key, while the master key is being replaced. It unwraps the keys that `masterKey` does not wrap yet.
 * @throws OperatorError if there is a service key that neither master key can unwrap
 */
export async function openKeyring(
  db: Database,
  masterKey: Buffer,
  previousMasterKey: Buffer | null = null,
): Promise<OpenKeyring> {
  let wrapped = await readWrappedKeys(db);
  if (PURPOSES.some((purpose) => !wrapped.some((key) => key.purpose === purpose))) {
    await insertWrappedKeys(
      db,
      PURPOSES.map((purpose) => wrapKey({ purpose, version: 1 }, randomBytes(KEY_BYTES), masterKey)),
    );
    wrapped = await readWrappedKeys(db);
  }
  const masterKeys = { current: masterKey, previous: previousMasterKey };
  const unwrapped = new Map(wrapped.map((key) => [nameOf(key), unwrapKnown(key, masterKeys)]));
  return new OpenKeyring({ db, masterKeys, unwrapped });
}

function unwrapKnown(wrapped: WrappedKey, masterKeys: MasterKeys): Buffer {
  const key = unwrapWithEither(wrapped, masterKeys);
  if (key === null) {
    throw new OperatorError(
      'MASTER_KEY cannot decrypt the keys in this database. Set MASTER_KEY to the master key that the service used before. ' +
        'While you replace the master key, set the old one as MASTER_KEY_PREVIOUS.',
    );
  }
  return key;
}
