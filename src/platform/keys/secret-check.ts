import type { Database } from '../db/database.ts';
import { type Keyring, SecretDecryptionError } from './keyring.ts';

/** Maximum number of secrets that one query reads. */
const BATCH_SIZE = 200;

/** Encrypted secret, as it is stored. */
export interface StoredSecret {
  id: string;
  /**
   * Name of the place where the secret is stored. The ciphertext can be decrypted only with this name. Messages for the operator contain
   * this name.
   */
  location: string;
  ciphertext: Buffer;
}

/** Function that reads the encrypted secrets in one column of a table. It is part of the module that owns the table. */
export interface SecretColumn {
  /**
   * Reads at most `limit` encrypted secrets of the tenant, in the order of their ids. Begins after the id `afterId`, or with the first id
   * if `afterId` is null.
   */
  read(db: Database, tenantId: number, afterId: string | null, limit: number): Promise<StoredSecret[]>;
}

interface Checked {
  /** Number of stored secrets that were checked. */
  secrets: number;
  /** Locations of the secrets that the keyring cannot decrypt. */
  unopened: string[];
}

/**
 * Tries to decrypt each stored secret of the tenants. Changes nothing.
 * @returns the number of checked secrets, and the locations of those that cannot be decrypted
 */
export async function checkSecrets(
  { db, keyring, columns }: { db: Database; keyring: Keyring; columns: SecretColumn[] },
  tenantIds: number[],
): Promise<Checked> {
  const checked: Checked = { secrets: 0, unopened: [] };
  for (const column of columns) {
    for (const tenantId of tenantIds) {
      for await (const { location, ciphertext } of readAll(db, column, tenantId)) {
        checked.secrets += 1;
        if (!opens(keyring, ciphertext, location)) {
          checked.unopened.push(location);
        }
      }
    }
  }
  return checked;
}

async function* readAll(db: Database, column: SecretColumn, tenantId: number): AsyncGenerator<StoredSecret> {
  let batch: StoredSecret[] = [];
  do {
    batch = await column.read(db, tenantId, batch.at(-1)?.id ?? null, BATCH_SIZE);
    yield* batch;
  } while (batch.length === BATCH_SIZE);
}

function opens(keyring: Keyring, ciphertext: Buffer, location: string): boolean {
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
