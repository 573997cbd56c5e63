import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readWebhookSecrets } from '#access/credentials/credentials.ts';
import { listTenants, type Tenant } from '#access/tenants/tenants.ts';
import { readChannelSecrets } from '#hotel/channels/channels.ts';
import { type Backup, newBackup, openBackup } from '#platform/copy/backup-file.ts';
import { copyDatabase, countsOf, describeRows, sumOf } from '#platform/copy/copy.ts';
import { emptyDatabase, openDatabaseSource } from '#platform/copy/database-copy.ts';
import { openSealedKey, readPassphrase, type SealedKey, sealMasterKey } from '#platform/copy/passphrase.ts';
import { type Database, withDatabase } from '#platform/db/database.ts';
import { openEmbeddedPostgres } from '#platform/db/embedded/embedded.ts';
import { explainFault } from '#platform/db/fault-messages.ts';
import { OperatorError } from '#platform/errors.ts';
import {
  findMasterKey,
  masterKeyPath,
  openKeyring,
  rewrapPepper,
  storeMasterKey,
  unwrapsPepper,
} from '#platform/keys/keys.ts';
import { masterKeyInUse } from './keys.ts';
import { countNights } from './maintenance.ts';
import { type Context, describeNewer, withServer } from './runtime.ts';
import type { OutputOptions, Terminal } from './terminal.ts';
import { readVersion } from '../version.ts';
import type { Config } from '#platform/config.ts';
import { raiseFeedEra } from '#webhooks/events/feed.ts';

const MAX_NAMED = 5;

export interface BackupFlags extends OutputOptions {
  /** Path of a file with the passphrase that encrypts the master key, or decrypts it. */
  passphraseFile?: string;
}

/** Runs `roomservice backup FILE`. Does not migrate the database, because an operator may make the backup before an upgrade. */
export async function makeBackup(context: Context, file: string, flags: BackupFlags): Promise<void> {
  const { config, terminal } = context;
  const { passphraseFile } = flags;
  const passphrase = passphraseFile === undefined ? null : await readPassphrase(passphraseFile);
  await withServer(context, { role: 'command' }, async (url) => {
    const sealedKey = passphrase === null ? null : await sealMasterKey(await masterKeyInUse(config, url), passphrase);
    const rows = await writeRows(context, url, file, sealedKey);
    const { size: bytes } = await stat(file);
    const result = { file, bytes, has_master_key: sealedKey !== null, rows };
    terminal.printResult(flags, result, describeBackup(file, bytes, rows, sealedKey !== null));
  });
}

async function writeRows({ terminal }: Context, url: string, file: string, sealedKey: SealedKey | null) {
  const source = await openDatabaseSource(url);
  try {
    if (source.newer.length > 0) {
      terminal.notify(describeNewer(source.newer));
    }
    const target = newBackup(file, { version: await readVersion(), createdAt: source.takenAt, sealedKey });
    const copying = copyDatabase(source, target, terminal.showProgress);
    terminal.whenInterrupted(async () => {
      await source.close();
      await copying; // It fails, and removes its incomplete file.
    });
    return countsOf(await copying);
  } finally {
    await source.close();
  }
}

function describeBackup(file: string, bytes: number, rows: Record<string, number>, isSealed: boolean): string {
  const key = isSealed
    ? 'It contains the master key, encrypted with the passphrase. Keep the passphrase in another place than this file.'
    : 'It does not contain the master key. A restore needs the master key in use now, so keep a copy of it in another place.';
  return `${file} is complete (rows: ${sumOf(rows)}, size: ${formatBytes(bytes)}). ${key}`;
}

function formatBytes(bytes: number): string {
  const kib = bytes / 1024;
  return kib < 10 * 1024 ? `${Math.ceil(kib)} KiB` : `${Math.ceil(kib / 1024)} MiB`;
}

type Verified = Awaited<ReturnType<typeof verifyIn>>;

/** Runs `roomservice backup verify FILE`. Restores the backup into a temporary embedded database. */
export async function verifyBackup(context: Context, file: string, flags: BackupFlags): Promise<void> {
  const { config, terminal } = context;
  const backup = await openBackup(file);
  try {
    const masterKey = (await openBackupKey(backup, flags.passphraseFile)) ?? (await findMasterKey(config));
    const verified = await verifyRows(context, backup, masterKey);
    if (flags.json || verified.faults.length === 0) {
      const result = { file, created_at: backup.createdAt, ...verified };
      terminal.printResult(flags, result, describeVerified(file, backup, verified));
    }
    if (verified.faults.length > 0) {
      throw new OperatorError(
        `${file} has faults (${verified.faults.length}): ${verified.faults.slice(0, MAX_NAMED).join('; ')}. Do not rely on this backup.`,
      );
    }
  } finally {
    backup.close();
  }
}

async function verifyRows({ terminal }: Context, backup: Backup, masterKey: Buffer | null): Promise<Verified> {
  const folder = await mkdtemp(join(tmpdir(), 'roomservice-verify-'));
  await chmod(folder, 0o711); // PostgreSQL may run as another user of the system, who must be able to enter the folder.
  const opening = openEmbeddedPostgres({
    dataDir: join(folder, 'data'),
    role: 'exclusive',
    settings: { fsync: 'off' },
    log: terminal.showProgress,
  });
  const remove = async () => {
    await opening.then((server) => server.close()).catch(() => {});
    await rm(folder, { recursive: true, force: true });
  };
  terminal.whenInterrupted(remove);
  try {
    return await verifyIn(terminal, (await opening).url, backup, masterKey);
  } catch (error) {
    throw explainFault(error, { subject: `The temporary database in ${folder}`, setting: 'TMPDIR' });
  } finally {
    await remove();
  }
}

async function verifyIn({ showProgress }: Terminal, url: string, backup: Backup, masterKey: Buffer | null) {
  const rows = sumOf(countsOf(await copyDatabase(backup, emptyDatabase(url), showProgress)));
  return await withDatabase({ url, poolSize: 2 }, async (db) => {
    const tenants = await listTenants(db);
    const { nights, wrong } = await countNights(db, showProgress);
    const { secrets, unopened } = await openSecrets(db, tenants, masterKey);
    const wrongNights = wrong.map(
      ({ date, room_type_id, held, counted }) =>
        `night ${date} of room type ${room_type_id} has ${held} rooms held, but the reservations hold ${counted}`,
    );
    return { tenants: tenants.length, rows, nights, secrets, faults: [...wrongNights, ...unopened] };
  });
}

async function openSecrets(db: Database, tenants: Tenant[], masterKey: Buffer | null) {
  if (masterKey === null) {
    return { secrets: null, unopened: [] };
  }
  if (!(await unwrapsPepper(db, masterKey))) {
    throw new OperatorError(
      'The rows of the backup are right. But the master key is not the one with which the backup was made, so the secrets cannot be checked. ' +
        'Set MASTER_KEY to that key, or use --passphrase-file if the backup was made with a passphrase.',
    );
  }
  const keyring = await openKeyring(db, masterKey);
  const unopened: string[] = [];
  let secrets = 0;
  for (const { id } of tenants) {
    const stored = [...(await readWebhookSecrets(db, id)), ...(await readChannelSecrets(db, id))];
    for (const { location, ciphertext } of stored) {
      secrets += 1;
      try {
        keyring.decrypt(ciphertext, location);
      } catch {
        unopened.push(`the ${location} cannot be decrypted`);
      }
    }
  }
  return { secrets, unopened };
}

function describeVerified(file: string, backup: Backup, { tenants, rows, nights, secrets }: Verified): string {
  const sealed =
    secrets === null
      ? 'The secrets were not checked, because there is no master key. Use --passphrase-file or set MASTER_KEY to check them.'
      : `The master key decrypts every secret (${secrets}).`;
  return `${file} is complete: the state of ${backup.createdAt} (tenants: ${tenants}, rows: ${rows}, correct nights: ${nights}). ${sealed}`;
}

async function openBackupKey({ sealedKey }: Backup, passphraseFile: string | undefined): Promise<Buffer | null> {
  if (passphraseFile === undefined) {
    return null;
  }
  const passphrase = await readPassphrase(passphraseFile);
  if (sealedKey === null) {
    throw new OperatorError(
      'This backup contains no master key, because it was made without --passphrase-file. Run the command without that option.',
    );
  }
  return await openSealedKey(sealedKey, passphrase);
}

type KeyState = 'opens' | 'missing' | 'wrong';

/** Runs `roomservice restore FILE`. If the command fails or is killed before all rows are committed, the database stays empty. */
export async function restore(context: Context, file: string, flags: BackupFlags): Promise<void> {
  const { config, terminal } = context;
  const backup = await openBackup(file);
  try {
    const backupKey = await openBackupKey(backup, flags.passphraseFile);
    await withServer(context, { role: 'exclusive', mayCreate: true }, async (url) => {
      let keyState: KeyState = 'missing';
      const target = emptyDatabase(url, async (db) => {
        keyState = await handOverKeys(config, db, backup, backupKey);
        await raiseFeedEra(db);
      });
      const rows = countsOf(await copyDatabase(backup, target, terminal.showProgress));
      const result = { file, created_at: backup.createdAt, master_key: keyState, rows };
      terminal.printResult(flags, result, describeRestored(config, backup, rows, keyState));
    });
  } finally {
    backup.close();
  }
}

const NEEDS_PASSPHRASE =
  'This installation does not have the master key of the backup, but the backup contains it. ' +
  'Run the command with --passphrase-file, or set MASTER_KEY to the master key with which the backup was made. Nothing was restored.';

/** Runs in the transaction that loads the rows, so the database stays empty if this function fails. */
async function handOverKeys(config: Config, db: Database, { sealedKey }: Backup, backupKey: Buffer | null) {
  if (backupKey !== null) {
    const { masterKey, dataDir } = config;
    await (masterKey === null ? storeMasterKey(dataDir, backupKey) : rewrapPepper(db, backupKey, masterKey));
  }
  const key = await findMasterKey(config);
  const state = key === null ? 'missing' : (await unwrapsPepper(db, key)) ? 'opens' : 'wrong';
  if (state !== 'opens' && sealedKey !== null) {
    throw new OperatorError(NEEDS_PASSPHRASE);
  }
  return state;
}

function describeRestored(config: Config, backup: Backup, rows: Record<string, number>, keyState: KeyState): string {
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
