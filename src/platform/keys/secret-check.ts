import type { Database } from '../db/database.ts';
import { type Keyring, SecretDecryptionError } from './keyring.ts';

/** Function that reads all encrypted secrets of a tenant in one column of a table, each with the location to which it is bound. */
export type SecretColumn = (db: Database, tenantId: number) => Promise<{ location: string; ciphertext: Buffer }[]>;

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
      for (const { location, ciphertext } of await read(db, tenantId)) {
        checked.secrets += 1;
        try {
          keyring.decrypt(ciphertext, location);
        } catch (error) {
          if (!(error instanceof SecretDecryptionError)) {
            throw error;
          }
          checked.unopened.push(location);
        }
      }
    }
  }
  return checked;
}
