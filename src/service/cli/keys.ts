import { resolve } from 'node:path';
import type { Config } from '#platform/config.ts';
import { withDatabase } from '#platform/db/database.ts';
import { OperatorError } from '#platform/errors.ts';
import { checkMasterKey, discardKeys, findMasterKey, masterKeyPath } from '#platform/keys/keys.ts';
import { type Context, withRuntime, withTables } from './runtime.ts';
import type { OutputOptions } from './terminal.ts';

export async function rewrapKeys(context: Context, options: OutputOptions): Promise<void> {
  await withRuntime(context, async (runtime) => {
    const isRewrapped = await runtime.rewrapKeys();
    const text = isRewrapped
      ? '1 key wrapped again. Only MASTER_KEY unwraps it now. ' +
        'Restart every process that was started with only the old key, then remove MASTER_KEY_PREVIOUS.'
      : 'MASTER_KEY already unwraps all keys.';
    context.terminal.printResult(options, { rewrapped: isRewrapped ? 1 : 0 }, text);
  });
}

export async function discardStoredKeys(context: Context, options: OutputOptions & { yes?: boolean }): Promise<void> {
  const { config, terminal } = context;
  if (!options.yes) {
    throw new OperatorError(
      'This command makes all API secrets, webhook secrets and channel secrets invalid forever, and all users must sign in again. ' +
        'New credentials do not see the orders and stays of the old ones. Run it only if the master key is lost and there is no copy. In this case, stop all processes, and run the command with --yes. ' +
        'Nothing was changed.',
    );
  }
  // Another process may have the old keys in memory, so it must have ended.
  await withTables(context, 'exclusive', async (db) => {
    const masterKeys = [await findMasterKey(config), config.masterKeyPrevious].filter((key) => key !== null);
    const discarded = await discardKeys(db, masterKeys);
    const text =
      discarded === 0
        ? 'The database has no keys. Start the service, which makes new ones.'
        : `Deleted keys: ${discarded}. Start the service, which makes new ones. Owners then sign in, make new credentials and rotate the channels (docs/operating/keys.md).`;
    terminal.printResult(options, { discarded }, text);
  });
}

/** Returns the master key from the settings or from its file in DATA_DIR, after a check that this key decrypts the keys of the database. */
export async function masterKeyInUse(config: Config, url: string): Promise<Buffer> {
  const checked = { ...config, masterKeyPrevious: null };
  const masterKey = await withDatabase({ url, poolSize: 1 }, (db) => checkMasterKey(db, checked));
  if (masterKey === null) {
    throw new OperatorError(
      `There is no master key in ${masterKeyPath(resolve(config.dataDir))}, and no key in the database.`,
    );
  }
  return masterKey;
}
