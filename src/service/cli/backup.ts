import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { webhookSecrets } from '#access/credentials/credentials.ts';
import { listTenants, type Tenant } from '#access/tenants/tenants.ts';
import { channelSecrets } from '#hotel/channels/channels.ts';
import { type Backup, checkBackup, newBackup, openBackup } from '#platform/copy/backup-file.ts';
import { copyDatabase, countsOf } from '#platform/copy/copy.ts';
import { openDatabaseSource } from '#platform/copy/database-source.ts';
import { emptyDatabase } from '#platform/copy/database-target.ts';
import { openSealedKey, readPassphrase, type SealedKey, sealMasterKey } from '#platform/copy/passphrase.ts';
import { createScratchDatabase } from '#platform/copy/scratch-database.ts';
import { type Database, withDatabase } from '#platform/db/database.ts';
import { databaseName, explainFault, type NamedDatabase } from '#platform/db/fault-messages.ts';
import { OperatorError } from '#platform/errors.ts';
import { checkSecrets, findMasterKey, openKeyring, unwrapsAllKeys } from '#platform/keys/keys.ts';
import { masterKeyInUse } from './keys.ts';
import { type CountedNights, countNights, sumOfNights } from './maintenance.ts';
import { type Context, databaseOf, type DatabaseServer, openServer, tellDatabase } from './runtime.ts';
import type { OutputOptions } from './terminal.ts';
import { readVersion } from '../version.ts';

/** Maximum number of faults of the backup that the error message lists. */
const MAX_NAMED = 5;
/** Code of PostgreSQL for a statement that it refuses because the role lacks a privilege. */
const INSUFFICIENT_PRIVILEGE = '42501';

export interface BackupFlags extends OutputOptions {
  /** Path of a file with the passphrase that encrypts the master key, or decrypts it. */
  passphraseFile?: string;
}

/**
 * Runs `roomservice backup FILE`. Writes all rows as they are at one moment, while other processes use the database. Does not migrate the
 * database, because an operator may make the backup before an upgrade. Then processes of an earlier version still use the database.
 */
export async function makeBackup(context: Context, file: string, flags: BackupFlags): Promise<void> {
  const { config, terminal } = context;
  const { passphraseFile } = flags;
  const passphrase = passphraseFile === undefined ? null : await readPassphrase(passphraseFile);
  const server = await openServer(context, { role: 'command' });
  try {
    const sealedKey =
      passphrase === null ? null : await sealMasterKey(await masterKeyInUse(config, server.url), passphrase);
    const rows = await writeRows(context, server.url, file, sealedKey);
    const { size: bytes } = await stat(file);
    const result = { file, bytes, has_master_key: sealedKey !== null, rows };
    terminal.printResult(flags, result, describeBackup(file, bytes, rows, sealedKey !== null));
  } finally {
    await server.close();
  }
}

/** @returns the number of rows of each table */
async function writeRows(
  { config, terminal }: Context,
  url: string,
  file: string,
  sealedKey: SealedKey | null,
): Promise<Record<string, number>> {
  const source = await openDatabaseSource(url);
  try {
    tellDatabase(config, terminal.notify);
    if (source.newer.length > 0) {
      terminal.notify(
        `The database was migrated by a newer version (${source.newer.join(', ')}). The backup lacks the tables and columns that this version does not know.`,
      );
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

function describeBackup(file: string, bytes: number, counts: Record<string, number>, isSealed: boolean): string {
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const key = isSealed
    ? 'It contains the master key, encrypted with the passphrase. Keep the passphrase in another place than this file.'
    : 'It does not contain the master key. A restore needs the master key in use now, so keep a copy of it in another place.';
  return `${file} is complete (rows: ${rows}, size: ${formatBytes(bytes)}). ${key}`;
}

/** Returns a number of bytes as text, in KiB below 10 MiB and otherwise in MiB. */
function formatBytes(bytes: number): string {
  const kib = bytes / 1024;
  return kib < 10 * 1024 ? `${Math.ceil(kib)} KiB` : `${Math.ceil(kib / 1024)} MiB`;
}

interface Verified {
  tenants: number;
  rows: number;
  nights: number;
  /** Number of secrets that were decrypted. Null if there is no master key. */
  secrets: number | null;
  faults: string[];
}

/**
 * Runs `roomservice backup verify FILE`. Restores the backup into a scratch database. Compares each row, and compares the
 * night counters with the reservations, and decrypts the secrets. Exits 1 if it finds a fault. Without a master key, the secrets are not
 * checked.
 */
export async function verifyBackup(context: Context, file: string, flags: BackupFlags): Promise<void> {
  const { config, terminal } = context;
  const backup = await openBackup(file);
  try {
    const masterKey = (await openBackupKey(backup, flags.passphraseFile)) ?? (await findMasterKey(config));
    await checkBackup(file, terminal.showProgress);
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

async function verifyRows(context: Context, backup: Backup, masterKey: Buffer | null): Promise<Verified> {
  const scratch = await openScratchDatabase(context);
  try {
    return await verifyIn(scratch.url, backup, masterKey, context.terminal.showProgress);
  } catch (error) {
    throw explainFault(error, scratch.named);
  } finally {
    await scratch.close();
  }
}

async function verifyIn(
  url: string,
  backup: Backup,
  masterKey: Buffer | null,
  showProgress: (message: string) => void,
): Promise<Verified> {
  const digests = await copyDatabase(backup, emptyDatabase(url), showProgress);
  return await withDatabase({ url, poolSize: 2 }, async (db) => {
    const tenants = await listTenants(db);
    const counted = await countNights(db, tenants, showProgress);
    const { secrets, unopened } = await openSecrets(db, tenants, masterKey);
    return {
      tenants: tenants.length,
      rows: Object.values(digests).reduce((sum, { rows }) => sum + rows, 0),
      nights: sumOfNights(counted).nights,
      secrets,
      faults: [...nightFaults(counted), ...unopened],
    };
  });
}

/** Returns a sentence for each night whose counter differs from the reservations. */
function nightFaults(counted: CountedNights[]): string[] {
  return counted
    .flatMap(({ differences }) => differences)
    .map(
      ({ date, room_type_id, held, counted: rooms }) =>
        `night ${date} of room type ${room_type_id} has ${held} rooms held, but the reservations hold ${rooms}`,
    );
}

async function openSecrets(
  db: Database,
  tenants: Tenant[],
  masterKey: Buffer | null,
): Promise<{ secrets: number | null; unopened: string[] }> {
  if (masterKey === null) {
    return { secrets: null, unopened: [] };
  }
  if (!(await unwrapsAllKeys(db, masterKey))) {
    throw new OperatorError(
      'The rows of the backup are right. But the master key is not the one with which the backup was made, so the secrets cannot be checked. ' +
        'Set MASTER_KEY to that key, or use --passphrase-file if the backup was made with a passphrase.',
    );
  }
  const keyring = await openKeyring(db, masterKey);
  const columns = [webhookSecrets, channelSecrets];
  const { secrets, unopened } = await checkSecrets(
    { db, keyring, columns },
    tenants.map(({ id }) => id),
  );
  return { secrets, unopened: unopened.map((location) => `the ${location} cannot be decrypted`) };
}

function describeVerified(file: string, backup: Backup, { tenants, rows, nights, secrets }: Verified): string {
  const sealed =
    secrets === null
      ? 'The secrets were not checked, because there is no master key. Use --passphrase-file or set MASTER_KEY to check them.'
      : `The master key decrypts every secret (${secrets}).`;
  return `${file} is complete: the state of ${backup.createdAt} (tenants: ${tenants}, rows: ${rows}, correct nights: ${nights}). ${sealed}`;
}

/**
 * Decrypts the master key of a backup with the passphrase. @returns null if there is no passphrase
 * @throws OperatorError if the passphrase is wrong, or if the backup has no master key
 */
export async function openBackupKey({ sealedKey }: Backup, passphraseFile: string | undefined): Promise<Buffer | null> {
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

/** Empty database, with its name in messages. */
interface ScratchDatabase extends DatabaseServer {
  named: NamedDatabase;
}

/**
 * Makes an empty database that exists until `close` is called, or until SIGINT or SIGTERM ends the command. With DATABASE_URL, it is a new
 * database on the same server. Otherwise it is an embedded database in a temporary folder.
 * @throws OperatorError if the role may not create databases, and an error of pg if the server is out of reach
 */
async function openScratchDatabase(context: Context): Promise<ScratchDatabase> {
  const scratch =
    context.config.databaseUrl === null
      ? await openScratchEmbedded(context)
      : await createScratchOnServer(context, context.config.databaseUrl);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= scratch.close());
  context.terminal.whenInterrupted(close);
  return { ...scratch, close };
}

async function openScratchEmbedded(context: Context): Promise<ScratchDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'roomservice-verify-'));
  await chmod(folder, 0o711); // PostgreSQL may run as another user of the system, who must be able to enter the folder.
  const remove = () => rm(folder, { recursive: true, force: true });
  const config = { ...context.config, dataDir: join(folder, 'data') };
  const options = { role: 'serve', mayCreate: true, closesOnSignal: false } as const;
  try {
    const server = await openServer({ ...context, config }, options);
    const close = async () => {
      await server.close().catch(() => {});
      await remove();
    };
    context.terminal.notify(`Database: a temporary one in ${folder}`);
    return { url: server.url, close, named: { subject: `The temporary database in ${folder}`, setting: 'TMPDIR' } };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Creates the scratch database on the server of DATABASE_URL.
 * @throws OperatorError if the role may not create databases, and an error of pg if the server is out of reach
 */
async function createScratchOnServer({ config, terminal }: Context, databaseUrl: string): Promise<ScratchDatabase> {
  try {
    const scratch = await createScratchDatabase(databaseUrl);
    terminal.notify(`Database: a temporary one, ${databaseName(scratch.url)} (DATABASE_URL)`);
    return { ...scratch, named: databaseOf(config) };
  } catch (error) {
    const isForbidden = (error as { code?: unknown }).code === INSUFFICIENT_PRIVILEGE;
    throw isForbidden
      ? new OperatorError(
          'The role in DATABASE_URL has no permission to create a temporary database. Use a role with the privilege CREATEDB. ' +
            'Without DATABASE_URL, the command uses a temporary embedded database.',
        )
      : error;
  }
}
