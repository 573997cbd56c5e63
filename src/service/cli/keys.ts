import { channelSecrets } from '#hotel/channels/channels.ts';
import type { Config } from '#platform/config.ts';
import { webhookSecrets } from '#access/credentials/credentials.ts';
import { openDatabase } from '#platform/db/database.ts';
import { refuseUnfit } from '#platform/db/requirements.ts';
import { OperatorError } from '#platform/errors.ts';
import { discardKeys, findMasterKey } from '#platform/keys/keys.ts';
import { type Rotation, rotateEncryptionKey } from '#platform/keys/rotation.ts';
import { listTenants } from '#access/tenants/tenants.ts';
import { tellDatabase } from './faults.ts';
import { openRuntime, openServer } from './runtime.ts';
import { print, printJson, showProgress } from './terminal.ts';

/** Maximum number of secrets that the error message lists. They are the secrets that cannot be decrypted. */
const MAX_NAMED = 5;

/**
 * Runs `roomservice keys rotate`, which encrypts all secrets again with a new key. If a secret cannot be decrypted, the command keeps the
 * older keys and exits 1.
 */
export async function rotateKeys(config: Config, options: { json?: boolean }): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', progress: showProgress });
  const { db, keyring } = runtime;
  try {
    const rotation = await rotateEncryptionKey({
      db,
      keyring,
      columns: [webhookSecrets, channelSecrets],
      listTenants: () => listTenants(db),
      progress: showProgress,
    });
    const { version, reencrypted, removed, unopened } = rotation;
    if (options.json) {
      printJson({ version, reencrypted, removed });
    } else {
      print(describe(rotation));
    }
    if (unopened.length > 0) {
      throw new OperatorError(
        `Secrets that cannot be decrypted: ${unopened.length} (${unopened.slice(0, MAX_NAMED).join('; ')}). They were not changed, ` +
          'and the older keys are kept. Ask the partners to register these webhooks again, remove these channels, and run the ' +
          'command again.',
      );
    }
  } finally {
    await runtime.close();
  }
}

/**
 * Runs `roomservice keys rewrap`, which wraps the service keys with the current master key. If they are wrapped with it already, changes
 * nothing. Exits 1 if neither the current nor the previous master key unwraps the service keys.
 */
export async function rewrapKeys(config: Config, options: { json?: boolean }): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', progress: showProgress });
  try {
    const rewrapped = await runtime.keyring.rewrap();
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

function describe({ version, reencrypted, removed, isResumed }: Rotation): string {
  const parts = [
    `Encryption key ${version} is in use`,
    `${reencrypted} ${reencrypted === 1 ? 'secret' : 'secrets'} re-encrypted`,
    removed.length === 0
      ? 'no key removed'
      : `${removed.length === 1 ? 'key' : 'keys'} ${removed.join(' and ')} removed`,
  ];
  const resumed =
    'The command continued a rotation that had begun before, and made no new key. Run the command again to make a new key.';
  return `${parts.join('; ')}.${isResumed ? `\n${resumed}` : ''}`;
}
