import { randomBytes } from 'node:crypto';
import type { Database } from '../db/database.ts';
import { OperatorError } from '../errors.ts';
import { OpenKeyring } from './keyring.ts';
import { insertWrappedKeys, type KeyPurpose, readWrappedKeys, updateWrappedKey, type WrappedKey } from './store.ts';
import { KEY_BYTES, type MasterKeys, nameOf, unwrapKey, wrapKey } from './wrapping.ts';

export type { SecretColumn, StoredSecret } from './rotation.ts';

const PURPOSES: KeyPurpose[] = ['pepper', 'token', 'encryption'];

/** The service's own keys, as those see them who hash, sign and encrypt with them. */
export type Keyring = Pick<OpenKeyring, 'pepper' | 'token' | 'encrypt' | 'decrypt'>;

/**
 * Opens the keys, makes them at the very first start, and wraps them anew where the master key is being replaced.
 * @param previousMasterKey still opens keys that `masterKey` does not open yet
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
  const opened = new Map<string, Buffer>();
  for (const key of wrapped) {
    opened.set(nameOf(key), await open(db, key, masterKeys));
  }
  return new OpenKeyring({ db, masterKeys, opened });
}

async function open(db: Database, wrapped: WrappedKey, { current, previous }: MasterKeys): Promise<Buffer> {
  const key = unwrapKey(wrapped, current);
  if (key !== null) {
    return key;
  }
  const old = previous === null ? null : unwrapKey(wrapped, previous);
  if (old === null) {
    throw new OperatorError(
      'MASTER_KEY does not open the keys in this database. Set the key it was first started with; while it is being replaced, set the old one as MASTER_KEY_PREVIOUS.',
    );
  }
  await updateWrappedKey(db, wrapKey(wrapped, old, current));
  return old;
}
