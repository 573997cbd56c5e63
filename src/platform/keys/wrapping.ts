import { decryptBound, encryptBound } from './sealing.ts';
import type { WrappedKey } from './store.ts';

/** Master keys that wrap (encrypt) the service keys. */
export interface MasterKeys {
  current: Buffer;
  /** Old master key, or null if the master key is not being replaced. It unwraps the keys that are not yet wrapped with `current`. */
  previous: Buffer | null;
}

export const KEY_BYTES = 32;

export type KeyId = Pick<WrappedKey, 'purpose' | 'version'>;

export function nameOf({ purpose, version }: KeyId): string {
  return `${purpose} ${version}`;
}

/**
 * Encrypts a key with the master key and the name of the key. The result can be decrypted only with the same name. So if someone exchanges
 * two wrapped keys in the database, neither of them can be decrypted.
 */
export function wrapKey(id: KeyId, key: Buffer, masterKey: Buffer): WrappedKey {
  return { purpose: id.purpose, version: id.version, wrapped_key: encryptBound(masterKey, key, nameOf(id)) };
}

/**
 * Decrypts a wrapped key.
 * @returns the decrypted key, or null if `masterKey` cannot decrypt the wrapped key
 */
export function unwrapKey(wrapped: WrappedKey, masterKey: Buffer): Buffer | null {
  try {
    return decryptBound(masterKey, wrapped.wrapped_key, nameOf(wrapped));
  } catch {
    return null;
  }
}

/**
 * Decrypts a wrapped key with the current or the previous master key.
 * @returns the decrypted key, or null if neither master key can decrypt the wrapped key
 */
export function unwrapWithEither(wrapped: WrappedKey, { current, previous }: MasterKeys): Buffer | null {
  return unwrapKey(wrapped, current) ?? (previous === null ? null : unwrapKey(wrapped, previous));
}
