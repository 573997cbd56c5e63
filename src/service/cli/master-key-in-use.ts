import { resolve } from 'node:path';
import type { Config } from '#platform/config.ts';
import { openDatabase } from '#platform/db/database.ts';
import { OperatorError } from '#platform/errors.ts';
import { findMasterKey, masterKeyPath, unwrapsAllKeys } from '#platform/keys/keys.ts';

/**
 * Returns the master key from the settings or from its file in DATA_DIR, after a check that this key decrypts all keys of the database.
 * @param url URL of the database
 * @throws OperatorError if there is no master key, or if it does not decrypt all keys of the database
 */
export async function masterKeyInUse(config: Config, url: string): Promise<Buffer> {
  const masterKey = await findMasterKey(config);
  const place = config.masterKey === null ? masterKeyPath(resolve(config.dataDir)) : 'MASTER_KEY';
  if (masterKey === null) {
    throw new OperatorError(
      `There is no master key in ${place}. Set MASTER_KEY or MASTER_KEY_FILE. Nothing was changed.`,
    );
  }
  const db = openDatabase({ url, poolSize: 1, hasNoTimeLimit: false });
  try {
    if (!(await unwrapsAllKeys(db, masterKey))) {
      throw new OperatorError(
        `The master key in ${place} cannot decrypt all keys in the database. Set the master key that the service uses. ` +
          'If you are replacing the master key, first run "roomservice keys rewrap". Nothing was changed.',
      );
    }
  } finally {
    await db.destroy();
  }
  return masterKey;
}
