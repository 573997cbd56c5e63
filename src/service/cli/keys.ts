import { channelSecrets } from '#hotel/channels/channels.ts';
import type { Config } from '#platform/config.ts';
import { webhookSecrets } from '#access/credentials/credentials.ts';
import { OperatorError } from '#platform/errors.ts';
import { type Rotation, rotateEncryptionKey } from '#platform/keys/rotation.ts';
import { listTenants } from '#access/tenants/tenants.ts';
import { openRuntime } from './runtime.ts';
import { print, printJson, showProgress } from './terminal.ts';

/** Of the secrets that do not open, as many are named. */
const MAX_NAMED = 5;

/** `roomservice keys rotate`. Exits 1 where a secret does not open; the older keys then stay. */
export async function rotateKeys(config: Config, options: { json?: boolean }): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', mayCreate: false, progress: showProgress });
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
        `Secrets that do not open: ${unopened.length} (${unopened.slice(0, MAX_NAMED).join('; ')}). They were left as they are, and the older keys are kept. Have these webhooks registered anew, remove these channels, and run it again.`,
      );
    }
  } finally {
    await runtime.close();
  }
}

/** `roomservice keys rewrap`. Safe to run again; exits 1 where neither master key opens a key. */
export async function rewrapKeys(config: Config, options: { json?: boolean }): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', mayCreate: false, progress: showProgress });
  try {
    const rewrapped = await runtime.keyring.rewrap();
    if (options.json) {
      printJson({ rewrapped });
    } else {
      print(rewrapped === 0 ? 'MASTER_KEY opens all keys already.' : describeRewrapped(rewrapped));
    }
  } finally {
    await runtime.close();
  }
}

function describeRewrapped(count: number): string {
  return (
    `${count} ${count === 1 ? 'key' : 'keys'} wrapped anew: only MASTER_KEY opens them now. ` +
    'Restart every process that was started with the old one alone, then remove MASTER_KEY_PREVIOUS.'
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
  const resumed = 'This went on with a rotation that had begun before; run it again for another new key.';
  return `${parts.join('; ')}.${isResumed ? `\n${resumed}` : ''}`;
}
