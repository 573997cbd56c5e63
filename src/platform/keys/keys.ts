import { randomBytes } from 'node:crypto';
import type { Database } from '../db/database.ts';
import { OperatorError } from '../errors.ts';
import { OpenKeyring } from './keyring.ts';
import { makeMasterKey, masterKeyPath, readMasterKey } from './master-key.ts';
import { hasWrappedKeys, insertWrappedKeys, type KeyPurpose, readWrappedKeys, type WrappedKey } from './store.ts';
import { KEY_BYTES, type MasterKeys, nameOf, unwrapWithEither, wrapKey } from './wrapping.ts';

export type { SecretColumn, StoredSecret } from './rotation.ts';

const PURPOSES: KeyPurpose[] = ['pepper', 'token', 'encryption'];

/** The service's own keys, as those see them who hash, sign and encrypt with them. */
export type Keyring = Pick<OpenKeyring, 'pepper' | 'token' | 'encrypt' | 'decrypt'>;

/**
 * The master key that lies in DATA_DIR, made at the very first start.
 * @param db need not be migrated yet
 * @throws OperatorError if the file is missing or wrong and there are keys that only its master key opens; nothing is made then
 */
export async function openMasterKey(db: Database, dataDir: string): Promise<Buffer> {
  // Before the file: what wrapped these keys was in it by then, also where another process starts for the first time just now.
  const hasKeys = await hasWrappedKeys(db);
  const key = await readMasterKey(dataDir);
  if (key === null && hasKeys) {
    throw new OperatorError(
      `${masterKeyPath(dataDir)} is missing, and the keys in the database open only with the master key that it held. Put the file back from your copy, or set MASTER_KEY to what it held. Nothing was changed.`,
    );
  }
  return key ?? (await makeMasterKey(dataDir));
}

/**
 * Opens the keys, and makes them at the very first start. Keys that are there are not changed (`OpenKeyring.rewrap` does that).
 * @param previousMasterKey opens what `masterKey` does not open yet, while the master key is being replaced
 * @throws OperatorError when neither master key opens them
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
  const opened = new Map(wrapped.map((key) => [nameOf(key), unwrapKnown(key, masterKeys)]));
  return new OpenKeyring({ db, masterKeys, opened });
}

function unwrapKnown(wrapped: WrappedKey, masterKeys: MasterKeys): Buffer {
  const key = unwrapWithEither(wrapped, masterKeys);
  if (key === null) {
    throw new OperatorError(
      'MASTER_KEY does not open the keys in this database. Set the key it was first started with; while it is being replaced, set the old one as MASTER_KEY_PREVIOUS.',
    );
  }
  return key;
}
