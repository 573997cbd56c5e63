import { readdir } from 'node:fs/promises';
import type { Config } from '#platform/config.ts';
import { type Backup, checkBackup, openBackup } from '#platform/copy/backup-file.ts';
import { copyDatabase, countsOf, describeRows } from '#platform/copy/copy.ts';
import { emptyDatabase } from '#platform/copy/database-target.ts';
import type { Database } from '#platform/db/database.ts';
import { readPassword } from '#platform/db/embedded/cluster.ts';
import { OperatorError } from '#platform/errors.ts';
import { findMasterKey, masterKeyPath, rewrapPepper, storeMasterKey, unwrapsPepper } from '#platform/keys/keys.ts';
import { raiseFeedEra } from '#webhooks/events/feed.ts';
import { type BackupFlags, openBackupKey } from './backup.ts';
import { type Context, openServer, tellDatabase } from './runtime.ts';

type KeyState = 'opens' | 'missing' | 'wrong';

/** Runs `roomservice restore FILE`. If the command fails or is killed before all rows are committed, the database stays empty. */
export async function restore(context: Context, file: string, flags: BackupFlags): Promise<void> {
  const { config, terminal } = context;
  const backup = await openBackup(file);
  try {
    const backupKey = await openBackupKey(backup, flags.passphraseFile);
    await refuseOtherFiles(config);
    await refuseOtherKey(config, backup, backupKey);
    await checkBackup(file, terminal.showProgress);
    const { keyState, rows } = await load(context, backup, backupKey);
    const result = { file, created_at: backup.createdAt, master_key: keyState, rows };
    terminal.printResult(flags, result, describe(config, backup, rows, keyState));
  } finally {
    backup.close();
  }
}

async function load(context: Context, backup: Backup, backupKey: Buffer | null) {
  const { config, terminal } = context;
  const server = await openServer(context, { role: 'exclusive', mayCreate: true });
  try {
    let keyState: KeyState = 'missing';
    const target = emptyDatabase(server.url, async (db) => {
      keyState = await handOverKeys(config, db, backup, backupKey);
      await raiseFeedEra(db);
    });
    const rows = countsOf(await copyDatabase(backup, target, terminal.showProgress));
    tellDatabase(config, terminal.notify);
    return { keyState, rows };
  } finally {
    await server.close();
  }
}

/** Refuses a DATA_DIR that contains other files but no database of the service, because it is probably the wrong folder. */
async function refuseOtherFiles({ databaseUrl, dataDir }: Config): Promise<void> {
  if (databaseUrl !== null || (await readPassword(dataDir)) !== undefined) {
    return;
  }
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') {
      return [];
    }
    throw new OperatorError(`DATA_DIR ${dataDir} cannot be read (${error.code}). Choose an empty folder.`);
  });
  const other = names.find((name) => !name.startsWith('master-key') && !name.startsWith('postgres-password.'));
  if (other !== undefined) {
    throw new OperatorError(
      `DATA_DIR ${dataDir} is not empty: it has ${JSON.stringify(other)}. Choose an empty folder. Nothing was changed.`,
    );
  }
}

/**
 * Refuses the restore before anything is loaded, if DATA_DIR already has a master key that differs from the master key of the backup, or if
 * the only master key would be the encrypted one in the backup.
 */
async function refuseOtherKey(config: Config, { sealedKey }: Backup, backupKey: Buffer | null): Promise<void> {
  const own = await findMasterKey(config);
  if (own === null && backupKey === null && sealedKey !== null) {
    throw needsPassphrase();
  }
  if (config.masterKey === null && backupKey !== null && own !== null && !own.equals(backupKey)) {
    throw new OperatorError(
      `${masterKeyPath(config.dataDir)} is the master key of another installation. Choose another DATA_DIR. Nothing was changed.`,
    );
  }
}

function needsPassphrase(): OperatorError {
  return new OperatorError(
    'This installation does not have the master key of the backup, but the backup contains it. ' +
      'Run the command with --passphrase-file, or set MASTER_KEY to the master key with which the backup was made. Nothing was restored.',
  );
}

/** Runs in the transaction that loads the rows, so the database stays empty if this function fails. */
async function handOverKeys(
  config: Config,
  db: Database,
  { sealedKey }: Backup,
  backupKey: Buffer | null,
): Promise<KeyState> {
  if (backupKey !== null && config.masterKey === null) {
    await storeMasterKey(config.dataDir, backupKey);
  } else if (backupKey !== null && config.masterKey !== null) {
    await rewrapPepper(db, backupKey, config.masterKey);
  }
  const key = await findMasterKey(config);
  if (key === null) {
    return 'missing';
  }
  if (await unwrapsPepper(db, key)) {
    return 'opens';
  }
  if (sealedKey !== null) {
    throw needsPassphrase();
  }
  return 'wrong';
}

function describe(config: Config, backup: Backup, rows: Record<string, number>, keyState: KeyState): string {
  return [
    `Restored the backup of ${backup.createdAt} (${describeRows(rows)}). Each row was compared with the backup.`,
    describeKey(config, keyState),
    'Partners who read the event feed get 400 for a cursor from before the restore. The error message tells them how to continue.',
  ].join('\n');
}

function describeKey({ databaseUrl, dataDir }: Config, keyState: KeyState): string {
  const remedy =
    databaseUrl === null
      ? `Before you start the service, write the master key with which the backup was made to ${masterKeyPath(dataDir)}, or set MASTER_KEY.`
      : 'Before you start the service, set MASTER_KEY to the master key with which the backup was made, or set that key as MASTER_KEY_PREVIOUS beside the new one.';
  return {
    opens:
      'The master key decrypts the restored keys. All credentials, webhook secrets and users work as before. Start the service.',
    missing: `This installation does not have the master key yet. ${remedy}`,
    wrong: `The master key of this installation does not decrypt the restored keys. ${remedy}`,
  }[keyState];
}
