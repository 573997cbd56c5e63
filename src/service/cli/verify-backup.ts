import { webhookSecrets } from '#access/credentials/credentials.ts';
import { listTenants, type Tenant } from '#access/tenants/tenants.ts';
import { channelSecrets } from '#hotel/channels/channels.ts';
import type { Config } from '#platform/config.ts';
import { type Backup, checkBackup, openBackup } from '#platform/copy/backup-file.ts';
import { copyDatabase } from '#platform/copy/copy.ts';
import { emptyDatabase } from '#platform/copy/database-target.ts';
import { type Database, openDatabase } from '#platform/db/database.ts';
import { explainFault } from '#platform/db/fault-messages.ts';
import { OperatorError } from '#platform/errors.ts';
import { checkSecrets, findMasterKey, openKeyring } from '#platform/keys/keys.ts';
import { type CountedNights, countNights, sumOfNights } from './count-nights.ts';
import type { BackupFlags } from './backup.ts';
import { openBackupKey } from './restore.ts';
import { openScratchDatabase } from './scratch-database.ts';
import { print, printJson, showProgress } from './terminal.ts';

/** Maximum number of faults of the backup that the error message lists. */
const MAX_NAMED = 5;

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
export async function verifyBackup(config: Config, file: string, { passphraseFile, json }: BackupFlags): Promise<void> {
  const backup = await openBackup(file);
  try {
    const masterKey = (await openBackupKey(backup, passphraseFile)) ?? (await findMasterKey(config));
    await checkBackup(file, showProgress);
    const verified = await verifyRows(config, backup, masterKey);
    if (json) {
      printJson({ file, created_at: backup.createdAt, ...verified });
    } else if (verified.faults.length === 0) {
      print(describe(file, backup, verified));
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

async function verifyRows(config: Config, backup: Backup, masterKey: Buffer | null): Promise<Verified> {
  const scratch = await openScratchDatabase(config);
  try {
    return await verifyIn(scratch.url, backup, masterKey);
  } catch (error) {
    throw explainFault(error, scratch.named);
  } finally {
    await scratch.close();
  }
}

async function verifyIn(url: string, backup: Backup, masterKey: Buffer | null): Promise<Verified> {
  const digests = await copyDatabase(backup, emptyDatabase(url), showProgress);
  const db = openDatabase({ url, poolSize: 2 });
  try {
    const tenants = await listTenants(db);
    const counted = await countNights(db, tenants);
    const { secrets, unopened } = await openSecrets(db, tenants, masterKey);
    return {
      tenants: tenants.length,
      rows: Object.values(digests).reduce((sum, { rows }) => sum + rows, 0),
      nights: sumOfNights(counted).nights,
      secrets,
      faults: [...nightFaults(counted), ...unopened],
    };
  } finally {
    await db.destroy();
  }
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
  const keyring = await openKeyring(db, masterKey);
  const columns = [webhookSecrets, channelSecrets];
  const { secrets, unopened } = await checkSecrets(
    { db, keyring, columns },
    tenants.map(({ id }) => id),
  );
  return { secrets, unopened: unopened.map((location) => `the ${location} cannot be decrypted`) };
}

function describe(file: string, backup: Backup, { tenants, rows, nights, secrets }: Verified): string {
  const sealed =
    secrets === null
      ? 'The secrets were not checked, because there is no master key. Use --passphrase-file or set MASTER_KEY to check them.'
      : `The master key decrypts every secret (${secrets}).`;
  return `${file} is complete: the state of ${backup.createdAt} (tenants: ${tenants}, rows: ${rows}, correct nights: ${nights}). ${sealed}`;
}
