import { readdir } from 'node:fs/promises';
import { openSealedKey, readPassphrase } from '#platform/backup/passphrase.ts';
import { type Backup, readBackup } from '#platform/backup/read-backup.ts';
import type { Config } from '#platform/config.ts';
import { type Database, openDatabase } from '#platform/db/database.ts';
import { hasPassword } from '#platform/db/embedded/cluster.ts';
import { migrateToLatest } from '#platform/db/migrate.ts';
import { loadDatabase, type RowCounts } from '#platform/db/transfer-target.ts';
import { OperatorError } from '#platform/errors.ts';
import { findMasterKey, masterKeyPath, rewrapAllKeys, storeMasterKey, unwrapsAllKeys } from '#platform/keys/keys.ts';
import { raiseFeedEra } from '#webhooks/events/feed.ts';
import { tellDatabase } from './faults.ts';
import { openServer } from './runtime.ts';
import { print, printJson, showProgress } from './terminal.ts';

export interface RestoreFlags {
  /** Path of a file with the passphrase that decrypts the master key in the backup. */
  passphraseFile?: string;
  json?: boolean;
}

/**
 * State of this installation's master key after the restore: it decrypts the restored service keys, it is missing, or it is another key.
 */
type KeyState = 'opens' | 'missing' | 'wrong';

/**
 * Runs `roomservice restore FILE`. Loads a backup into an empty DATA_DIR, or into the database of DATABASE_URL if this database is empty.
 * If the command fails or is killed before all rows are committed, the database stays empty. Then the operator may run the command again.
 */
export async function restore(config: Config, file: string, { passphraseFile, json }: RestoreFlags): Promise<void> {
  showProgress(`Checking ${file} …`);
  const backup = await readBackup(file);
  const backupKey = await openBackupKey(backup, passphraseFile);
  await refuseOtherFiles(config);
  await refuseOtherKey(config, backupKey);
  const server = await openServer(config, {
    role: 'serve',
    mayCreate: true,
    closesOnSignal: true,
    progress: showProgress,
  });
  try {
    let keyState: KeyState = 'missing';
    const counts = await loadDatabase(server.url, {
      contents: backup.contents,
      open: ({ name }) => backup.open(name),
      onTable: ({ name }) => showProgress(`Loading ${name} …`),
      beforeCommit: async (db, loaded) => {
        refuseOtherCounts(loaded, backup.counts);
        keyState = await handOverKeys(config, db, backupKey);
        await raiseFeedEra(db);
      },
    });
    tellDatabase(config);
    await migrate(server.url);
    if (json) {
      printJson({ file, created_at: backup.createdAt, master_key: keyState, rows: counts });
    } else {
      print(describe(config, backup, counts, keyState));
    }
  } finally {
    await server.close();
  }
}

/**
 * Decrypts the master key of a backup with the passphrase. @returns null if there is no passphrase
 * @throws OperatorError if the passphrase is wrong, or if the backup has no master key
 */
export async function openBackupKey(backup: Backup, passphraseFile: string | undefined): Promise<Buffer | null> {
  if (passphraseFile === undefined) {
    return null;
  }
  const passphrase = await readPassphrase(passphraseFile);
  if (backup.sealedKey === null) {
    throw new OperatorError(
      'This backup contains no master key, because it was made without --passphrase-file. Run the command without that option.',
    );
  }
  return await openSealedKey(backup.sealedKey, passphrase);
}

/**
 * Compares the number of restored rows of each table with the number in the backup.
 * @throws OperatorError if the numbers differ for a table
 */
export function refuseOtherCounts(counts: RowCounts, expected: RowCounts): void {
  const table = Object.keys(expected).find((name) => counts[name] !== expected[name]);
  if (table !== undefined) {
    throw new OperatorError(
      `The table ${table} was restored with ${counts[table] ?? 0} rows, but the backup must contain ${expected[table]} rows of it. ` +
        'Nothing was changed. Use another backup.',
    );
  }
}

/** Refuses a DATA_DIR that contains other files but no database of the service, because it is probably the wrong folder. */
async function refuseOtherFiles({ databaseUrl, dataDir }: Config): Promise<void> {
  if (databaseUrl !== null || (await hasPassword(dataDir))) {
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

/** Refuses the restore if DATA_DIR already has a master key that differs from the master key of the backup. */
async function refuseOtherKey(config: Config, backupKey: Buffer | null): Promise<void> {
  const existing = config.masterKey === null ? await findMasterKey(config) : null;
  if (backupKey !== null && existing !== null && !existing.equals(backupKey)) {
    throw new OperatorError(
      `${masterKeyPath(config.dataDir)} is not the master key of this backup. Move the file away, and run the command again. Nothing was changed.`,
    );
  }
}

/**
 * Makes the restored service keys usable if the master key of the backup is known. If MASTER_KEY is set, wraps the service keys with
 * MASTER_KEY. Otherwise stores the master key of the backup in DATA_DIR. Runs in the transaction that loads the rows, so the database stays
 * empty if this function fails.
 * @returns the state of this installation's master key
 */
async function handOverKeys(config: Config, db: Database, backupKey: Buffer | null): Promise<KeyState> {
  if (backupKey !== null && config.masterKey === null) {
    await storeMasterKey(config.dataDir, backupKey);
  } else if (backupKey !== null && config.masterKey !== null) {
    await rewrapAllKeys(db, backupKey, config.masterKey);
  }
  const key = await findMasterKey(config);
  if (key === null) {
    return 'missing';
  }
  return (await unwrapsAllKeys(db, key)) ? 'opens' : 'wrong';
}

/**
 * Applies the missing migrations to a database, for example to a restored one. The statements have no time limit, because a migration may
 * take long.
 */
export async function migrate(url: string): Promise<void> {
  const db = openDatabase({ url, poolSize: 2 });
  try {
    await migrateToLatest(db);
  } finally {
    await db.destroy();
  }
}

function describe(config: Config, backup: Backup, counts: RowCounts, keyState: KeyState): string {
  const sum = Object.values(counts).reduce((total, count) => total + count, 0);
  const of = (table: string) => counts[table] ?? 0;
  return [
    `Restored the backup of ${backup.createdAt} (rows: ${sum}, tenants: ${of('tenant')}, orders: ${of('restaurant_order')}, reservations: ${of('reservation')}).`,
    describeKey(config, keyState),
    'Partners who read the event feed get 400 for a cursor from before the restore. The error message tells them how to continue.',
  ].join('\n');
}

function describeKey({ databaseUrl, dataDir }: Config, keyState: KeyState): string {
  const place =
    databaseUrl === null
      ? `write it to ${masterKeyPath(dataDir)}, or set MASTER_KEY`
      : 'set MASTER_KEY to it, or set it as MASTER_KEY_PREVIOUS beside the new one';
  return {
    opens:
      'The master key decrypts the restored keys. All credentials, webhook secrets and users work as before. Start the service.',
    missing: `This installation does not have the master key yet. Before you start the service, ${place}. It is the master key with which the backup was made.`,
    wrong: `The master key of this installation does not decrypt the restored keys. Before you start the service, ${place}. It must be the master key with which the backup was made.`,
  }[keyState];
}
