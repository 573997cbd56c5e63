import { stat } from 'node:fs/promises';
import type { Config } from '#platform/config.ts';
import { newBackup } from '#platform/copy/backup-file.ts';
import { copyDatabase, countsOf } from '#platform/copy/copy.ts';
import { openDatabaseSource } from '#platform/copy/database-source.ts';
import { readPassphrase, type SealedKey, sealMasterKey } from '#platform/copy/passphrase.ts';
import { tellDatabase } from './faults.ts';
import { whenInterrupted } from './interruption.ts';
import { masterKeyInUse } from './master-key-in-use.ts';
import { openServer } from './runtime.ts';
import { formatBytes, notify, print, printJson, showProgress } from './terminal.ts';
import { readVersion } from '../version.ts';

export interface BackupFlags {
  /** Path of a file with the passphrase that encrypts the master key, or decrypts it. */
  passphraseFile?: string;
  json?: boolean;
}

/**
 * Runs `roomservice backup FILE`. Writes all rows as they are at one moment, while other processes use the database. Does not migrate the
 * database, because an operator may make the backup before an upgrade. Then processes of an earlier version still use the database.
 */
export async function backup(config: Config, file: string, { passphraseFile, json }: BackupFlags): Promise<void> {
  const passphrase = passphraseFile === undefined ? null : await readPassphrase(passphraseFile);
  const server = await openServer(config, { role: 'command', progress: showProgress });
  try {
    const sealedKey =
      passphrase === null ? null : await sealMasterKey(await masterKeyInUse(config, server.url), passphrase);
    const rows = await writeRows(config, server.url, file, sealedKey);
    const { size: bytes } = await stat(file);
    if (json) {
      printJson({ file, bytes, has_master_key: sealedKey !== null, rows });
    } else {
      print(describe(file, bytes, rows, sealedKey !== null));
    }
  } finally {
    await server.close();
  }
}

/** @returns the number of rows of each table */
async function writeRows(
  config: Config,
  url: string,
  file: string,
  sealedKey: SealedKey | null,
): Promise<Record<string, number>> {
  const source = await openDatabaseSource(url);
  try {
    tellDatabase(config);
    if (source.newer.length > 0) {
      notify(
        `The database was migrated by a newer version (${source.newer.join(', ')}). The backup lacks the tables and columns that this version does not know.`,
      );
    }
    const copying = copyDatabase(source, newBackup(file, { version: await readVersion(), sealedKey }), showProgress);
    whenInterrupted(async () => {
      await source.close();
      await copying; // It fails, and removes its incomplete file.
    });
    return countsOf(await copying);
  } finally {
    await source.close();
  }
}

function describe(file: string, bytes: number, counts: Record<string, number>, isSealed: boolean): string {
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const key = isSealed
    ? 'It contains the master key, encrypted with the passphrase. Keep the passphrase in another place than this file.'
    : 'It does not contain the master key. A restore needs the master key in use now, so keep a copy of it in another place.';
  return `${file} is complete (rows: ${rows}, size: ${formatBytes(bytes)}). ${key}`;
}
