import type { Config } from '#platform/config.ts';
import { openDatabase } from '#platform/db/database.ts';
import { refuseUnfit } from '#platform/db/requirements.ts';
import { OperatorError } from '#platform/errors.ts';
import { discardKeys, findMasterKey } from '#platform/keys/keys.ts';
import { tellDatabase } from './faults.ts';
import { openRuntime, openServer } from './runtime.ts';
import { print, printJson, showProgress } from './terminal.ts';

/**
 * Runs `roomservice keys rewrap`, which wraps the service keys with the current master key. If they are wrapped with it already, changes
 * nothing. Exits 1 if neither the current nor the previous master key unwraps the service keys.
 */
export async function rewrapKeys(config: Config, options: { json?: boolean }): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', progress: showProgress });
  try {
    const rewrapped = await runtime.rewrapKeys();
    if (options.json) {
      printJson({ rewrapped });
    } else {
      print(rewrapped === 0 ? 'MASTER_KEY already unwraps all keys.' : describeRewrapped(rewrapped));
    }
  } finally {
    await runtime.close();
  }
}
/**
 * Runs `roomservice keys discard`, which deletes the service keys, so that the service can begin with new keys. The operator runs it after
 * the master key is lost, because no other key can decrypt the service keys. Refuses to run if the master key in the settings or in
 * DATA_DIR decrypts a service key.
 */
export async function discardStoredKeys(config: Config, options: { yes?: boolean; json?: boolean }): Promise<void> {
  if (!options.yes) {
    throw new OperatorError(
      'This command makes all API secrets, webhook secrets and channel secrets invalid forever, and all users must sign in again. ' +
        'New credentials do not see the orders and stays of the old ones. Run it only if the master key is lost and there is no copy. In this case, stop all processes, and run the command with --yes. ' +
        'Nothing was changed.',
    );
  }
  const server = await openServer(config, {
    role: 'exclusive', // Another process may have the old keys in memory, so it must have ended.
    closesOnSignal: true,
    progress: showProgress,
  });
  try {
    const masterKeys = [await findMasterKey(config), config.masterKeyPrevious].filter((key) => key !== null);
    const discarded = await discardIn(server.url, masterKeys);
    tellDatabase(config);
    if (options.json) {
      printJson({ discarded });
    } else {
      print(
        discarded === 0
          ? 'The database has no keys. Start the service, which makes new ones.'
          : `Deleted keys: ${discarded}. Start the service, which makes new ones. Owners then sign in and issue new credentials and channels.`,
      );
    }
  } finally {
    await server.close();
  }
}

async function discardIn(url: string, masterKeys: Buffer[]): Promise<number> {
  const db = openDatabase({ url, poolSize: 1, hasNoTimeLimit: false });
  try {
    await refuseUnfit(db);
    return await discardKeys(db, masterKeys);
  } finally {
    await db.destroy();
  }
}

function describeRewrapped(count: number): string {
  return (
    `${count} ${count === 1 ? 'key' : 'keys'} wrapped again. Only MASTER_KEY unwraps them now. ` +
    'Restart every process that was started with only the old key, then remove MASTER_KEY_PREVIOUS.'
  );
}
