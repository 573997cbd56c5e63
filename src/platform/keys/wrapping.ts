import { decryptBound, encryptBound } from './sealing.ts';
import type { WrappedKey } from './store.ts';

/** Master keys that wrap the service keys. */
export interface MasterKeys {
  current: Buffer;
  /** Master key that unwraps keys that `current` does not wrap yet. Null if the master key is not being replaced. */
  previous: Buffer | null;
}

export const KEY_BYTES = 32;

export type KeyId = Pick<WrappedKey, 'purpose' | 'version'>;

export function nameOf({ purpose, version }: KeyId): string {
  return `${purpose} ${version}`;
}

/** Wraps a key with the master key, bound to its name. So no wrapped key in the database can replace another one. */
export function wrapKey(id: KeyId, key: Buffer, masterKey: Buffer): WrappedKey {
  return { purpose: id.purpose, version: id.version, wrapped_key: encryptBound(masterKey, key, nameOf(id)) };
}

/** Unwraps a key. @returns null if this master key cannot unwrap it */
export function unwrapKey(wrapped: WrappedKey, masterKey: Buffer): Buffer | null {
  try {
    return decryptBound(masterKey, wrapped.wrapped_key, nameOf(wrapped));
  } catch {
    return null;
  }
}

/** Unwraps a key with the current or the previous master key. @returns null if neither of them can unwrap it */
export function unwrapWithEither(wrapped: WrappedKey, { current, previous }: MasterKeys): Buffer | null {
  return unwrapKey(wrapped, current) ?? (previous === null ? null : unwrapKey(wrapped, previous));
}
