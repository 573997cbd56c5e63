import type { Database } from '../db/database.ts';
import { type Keyring, SecretDecryptionError } from './keyring.ts';

/** Encrypted secret, as it is stored. */
export interface StoredSecret {
  /** Name of the place where the secret is stored. The ciphertext can be decrypted only with this name. */
  location: string;
  ciphertext: Buffer;
}

/** Function that reads all encrypted secrets of a tenant in one column of a table. It is part of the module that owns the table. */
export type SecretColumn = (db: Database, tenantId: number) => Promise<StoredSecret[]>;

/**
 * Tries to decrypt each stored secret of the tenants. Changes nothing.
 * @returns the number of checked secrets, and the locations of those that cannot be decrypted
 */
export async function checkSecrets(
  { db, keyring, columns }: { db: Database; keyring: Keyring; columns: SecretColumn[] },
  tenantIds: number[],
): Promise<{ secrets: number; unopened: string[] }> {
  const checked = { secrets: 0, unopened: [] as string[] };
  for (const read of columns) {
    for (const tenantId of tenantIds) {
      const secrets = await read(db, tenantId);
      checked.secrets += secrets.length;
      checked.unopened.push(...secrets.filter((secret) => !opens(keyring, secret)).map(({ location }) => location));
    }
  }
  return checked;
}

function opens(keyring: Keyring, { ciphertext, location }: StoredSecret): boolean {
  try {
    keyring.decrypt(ciphertext, location);
    return true;
  } catch (error) {
    if (error instanceof SecretDecryptionError) {
      return false;
    }
    throw error;
  }
}
