import type { Database } from '../db/database.ts';
import { type OpenKeyring, SecretDecryptionError, versionBytes } from './keyring.ts';
import type { SecretColumn } from './rotation.ts';

/** Maximum number of secrets that one query reads. */
const BATCH_SIZE = 200;
/**
 * Bytes that sort after every ciphertext, so that `readBefore` reads all secrets. A ciphertext begins with the version of its key, and
 * these bytes are the largest possible version.
 */
const AFTER_ALL = versionBytes(0xff_ff_ff_ff);

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
  { db, keyring, columns }: { db: Database; keyring: OpenKeyring; columns: SecretColumn[] },
  tenantIds: number[],
): Promise<Checked> {
  const checked: Checked = { secrets: 0, unopened: [] };
  for (const column of columns) {
    for (const tenantId of tenantIds) {
      await checkColumn({ db, keyring, column }, tenantId, checked);
    }
  }
  return checked;
}

async function checkColumn(
  { db, keyring, column }: { db: Database; keyring: OpenKeyring; column: SecretColumn },
  tenantId: number,
  checked: Checked,
): Promise<void> {
  let afterId: string | null = null;
  for (;;) {
    const secrets = await column.readBefore(db, tenantId, AFTER_ALL, afterId, BATCH_SIZE);
    for (const { location, ciphertext } of secrets) {
      checked.secrets += 1;
      await keyring.decrypt(ciphertext, location).catch((error: unknown) => {
        if (!(error instanceof SecretDecryptionError)) {
          throw error;
        }
        checked.unopened.push(location);
      });
    }
    if (secrets.length < BATCH_SIZE) {
      return;
    }
    afterId = secrets.at(-1)?.id ?? null;
  }
}
