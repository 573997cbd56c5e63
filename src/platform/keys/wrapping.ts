import { seal, unseal } from './sealing.ts';
import type { WrappedKey } from './store.ts';

/** What the service's keys are wrapped by. */
export interface MasterKeys {
  current: Buffer;
  /** Still opens keys that `current` does not open yet; null where the master key is not being replaced. */
  previous: Buffer | null;
}

export const KEY_BYTES = 32;

export type KeyId = Pick<WrappedKey, 'purpose' | 'version'>;

export function nameOf({ purpose, version }: KeyId): string {
  return `${purpose} ${version}`;
}

/** Bound to its name: wrapped keys cannot be swapped for one another in the database. */
export function wrapKey(id: KeyId, key: Buffer, masterKey: Buffer): WrappedKey {
  return { purpose: id.purpose, version: id.version, wrapped_key: seal(masterKey, key, nameOf(id)) };
}

/** @returns null where this master key does not open it */
export function unwrapKey(wrapped: WrappedKey, masterKey: Buffer): Buffer | null {
  try {
    return unseal(masterKey, wrapped.wrapped_key, nameOf(wrapped));
  } catch {
    return null;
  }
}

/** @returns null where neither master key opens it */
export function unwrapWithEither(wrapped: WrappedKey, { current, previous }: MasterKeys): Buffer | null {
  return unwrapKey(wrapped, current) ?? (previous === null ? null : unwrapKey(wrapped, previous));
}
