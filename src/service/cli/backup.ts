import { readPassphrase, type SealedKey, sealMasterKey } from '#platform/backup/passphrase.ts';
import { writeBackup } from '#platform/backup/write-backup.ts';
import type { Config } from '#platform/config.ts';
import { openSource, type TransferSource } from '#platform/db/transfer-source.ts';
import { tellDatabase } from './faults.ts';
import { whenInterrupted } from './interruption.ts';
import { masterKeyInUse } from './master-key-in-use.ts';
import { openServer } from './runtime.ts';
import { formatBytes, print, printJson, showProgress } from './terminal.ts';
import { readVersion } from '../version.ts';

export interface BackupFlags {
  /** Path of a file with the passphrase that encrypts the master key. */
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
    const source = await openSource(server.url);
    tellDatabase(config);
    try {
      const written = await write(file, source, sealedKey);
      if (json) {
        printJson({ file, bytes: written.bytes, has_master_key: sealedKey !== null, rows: written.counts });
      } else {
        print(describe(file, written, sealedKey !== null));
      }
    } finally {
      await source.close();
    }
  } finally {
    await server.close();
  }
}

async function write(file: string, source: TransferSource, sealedKey: SealedKey | null) {
  const interruption = new AbortController();
  const writing = writeBackup(file, source, {
    version: await readVersion(),
    sealedKey,
    signal: interruption.signal,
    onTable: (table, rows) => showProgress(`${table}: ${rows} rows written`),
  });
  whenInterrupted(async () => {
    interruption.abort();
    await writing;
  });
  return await writing;
}

function describe(
  file: string,
  { counts, bytes }: { counts: Record<string, number>; bytes: number },
  isSealed: boolean,
) {
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const key = isSealed
    ? 'It contains the master key, encrypted with the passphrase. Keep the passphrase in another place than this file.'
    : 'It does not contain the master key. A restore needs the master key in use now, so keep a copy of it in another place.';
  return `${file} is complete (rows: ${rows}, size: ${formatBytes(bytes)}). ${key}`;
}
