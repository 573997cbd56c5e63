import { randomBytes } from 'node:crypto';
import type { Database } from '../db/database.ts';
import { OperatorError } from '../errors.ts';
import { seal, unseal } from './sealing.ts';
import { insertWrappedKeys, type KeyPurpose, readWrappedKeys, updateWrappedKey, type WrappedKey } from './store.ts';

const PURPOSES: KeyPurpose[] = ['pepper', 'token', 'encryption'];
const KEY_BYTES = 32;
const VERSION_BYTES = 4;

/** The service's own keys, opened. They live in the database, each wrapped by `MASTER_KEY`. */
export interface Keyring {
  /** Keys the hashes of API secrets. Never replaced: a hash cannot be made again without the secret. */
  pepper: Buffer;
  /** Signs the access tokens of people. */
  token: Buffer;
  /** Encrypts a secret we must be able to read again. `boundTo` names its place, so that it opens nowhere else. */
  encrypt(secret: string, boundTo: string): Buffer;
  /** @throws Error where the ciphertext was changed, moved or made with a key that is not here */
  decrypt(ciphertext: Buffer, boundTo: string): string;
}

/**
 * Opens the keys, makes them at the very first start, and wraps them anew where the master key is being replaced.
 * @param previousMasterKey still opens keys that `masterKey` does not open yet
 * @throws OperatorError when neither master key opens them
 */
export async function openKeyring(
  db: Database,
  masterKey: Buffer,
  previousMasterKey: Buffer | null = null,
): Promise<Keyring> {
  let wrapped = await readWrappedKeys(db);
  if (PURPOSES.some((purpose) => !wrapped.some((key) => key.purpose === purpose))) {
    await insertWrappedKeys(
      db,
      PURPOSES.map((purpose) => wrap({ purpose, version: 1 }, randomBytes(KEY_BYTES), masterKey)),
    );
    wrapped = await readWrappedKeys(db);
  }
  const opened = new Map<string, Buffer>();
  for (const key of wrapped) {
    opened.set(nameOf(key), await unwrap(db, key, masterKey, previousMasterKey));
  }
  return keyringOf(
    opened,
    Math.max(...wrapped.filter((key) => key.purpose === 'encryption').map((key) => key.version)),
  );
}

function keyringOf(keys: Map<string, Buffer>, encryptionVersion: number): Keyring {
  const key = (purpose: KeyPurpose, version: number) => {
    const found = keys.get(nameOf({ purpose, version }));
    if (found === undefined) {
      throw new Error(`there is no ${purpose} key of version ${version}`);
    }
    return found;
  };
  return {
    pepper: key('pepper', 1),
    token: key('token', 1),
    encrypt(secret, boundTo) {
      const version = Buffer.alloc(VERSION_BYTES);
      version.writeUInt32BE(encryptionVersion);
      return Buffer.concat([version, seal(key('encryption', encryptionVersion), Buffer.from(secret), boundTo)]);
    },
    decrypt(ciphertext, boundTo) {
      const version = ciphertext.readUInt32BE(0);
      return unseal(key('encryption', version), ciphertext.subarray(VERSION_BYTES), boundTo).toString();
    },
  };
}

function nameOf({ purpose, version }: Pick<WrappedKey, 'purpose' | 'version'>): string {
  return `${purpose} ${version}`;
}

function wrap(id: Pick<WrappedKey, 'purpose' | 'version'>, key: Buffer, masterKey: Buffer): WrappedKey {
  return { ...id, wrapped_key: seal(masterKey, key, nameOf(id)) };
}

async function unwrap(db: Database, wrapped: WrappedKey, masterKey: Buffer, previous: Buffer | null): Promise<Buffer> {
  const open = (key: Buffer) => {
    try {
      return unseal(key, wrapped.wrapped_key, nameOf(wrapped));
    } catch {
      return null;
    }
  };
  const current = open(masterKey);
  if (current !== null) {
    return current;
  }
  const old = previous === null ? null : open(previous);
  if (old === null) {
    throw new OperatorError(
      'MASTER_KEY does not open the keys in this database. Set the key it was first started with; while it is being replaced, set the old one as MASTER_KEY_PREVIOUS.',
    );
  }
  await updateWrappedKey(db, wrap(wrapped, old, masterKey));
  return old;
}
