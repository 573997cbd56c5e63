import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, link, lstat, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import type { TransferSource } from '../db/transfer-source.ts';
import type { RowCounts } from '../db/transfer-target.ts';
import { OperatorError } from '../errors.ts';
import { countRows, inChunks } from './chunks.ts';
import {
  chunkName,
  FORMAT,
  HEADER,
  type Header,
  MANIFEST,
  type Manifest,
  MASTER_KEY,
  maxStoredBytes,
} from './format.ts';
import type { SealedKey } from './passphrase.ts';

const compress = promisify(zstdCompress);

export interface BackupOptions {
  /** Version of the service. The header of the backup contains it. */
  version: string;
  /** Encrypted master key for the file, or null to leave it out. */
  sealedKey: SealedKey | null;
  /** Signal that stops the backup when it is aborted. `writeBackup` then throws the reason of the signal. */
  signal?: AbortSignal;
  /**
   * Called each time a chunk of the rows of a table has been written. `rows` is the number of rows of this table that have been written so
   * far. Not called for an empty table.
   */
  onTable?: (table: string, rows: number) => void;
}

/**
 * Writes all rows of a source into a new file that only its owner can read. The file gets its name when it is complete and on the disk.
 * Until then it is a draft beside `path` whose name ends with `.partial`. If the backup fails, the draft is removed. It stays only if the
 * process is killed.
 * @returns the number of rows of each table, and the size of the file in bytes
 * @throws OperatorError if a file with this name exists, or if the file cannot be written
 */
export async function writeBackup(
  path: string,
  source: Pick<TransferSource, 'contents' | 'read'>,
  options: BackupOptions,
): Promise<{ counts: RowCounts; bytes: number }> {
  options.signal?.throwIfAborted();
  await refuseExisting(path);
  const draft = `${path}.${randomBytes(6).toString('hex')}.partial`;
  const file = await open(draft, 'wx', 0o600).catch((error: unknown) => {
    throw explain(error, path);
  });
  try {
    const counts = await writeEntries(file, source, options);
    await file.sync();
    const { size } = await file.stat();
    options.signal?.throwIfAborted();
    await link(draft, path);
    await syncFolder(dirname(path));
    return { counts, bytes: size };
  } catch (error) {
    throw explain(error, path);
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
}

/**
 * Refuses a path that exists, before the backup begins. Without this check, the error would come only after the whole backup is written,
 * when the file gets this path as its name.
 */
async function refuseExisting(path: string): Promise<void> {
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  );
  if (isThere) {
    throw alreadyExists(path);
  }
}

/** Flushes the folder to the disk, so that the new name of the file is not lost in a crash of the machine. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function alreadyExists(path: string): OperatorError {
  return new OperatorError(`${path} already exists, and a backup never replaces a file. Choose another name.`);
}

/** Returns an OperatorError if the file cannot be written. Returns any other error unchanged, for example an error of the database. */
function explain(error: unknown, path: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST') {
    return alreadyExists(path);
  }
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    return new OperatorError(
      `There is not enough space for ${path} (${code}). Free some space, or choose another folder.`,
    );
  }
  const isOfFile = code === 'EIO' || syscall === 'open' || syscall === 'link' || syscall === 'fsync';
  return isOfFile
    ? new OperatorError(
        `${path} cannot be written (${code}). Check its folder and the permissions, or choose another folder.`,
      )
    : error;
}

async function writeEntries(
  file: FileHandle,
  source: Pick<TransferSource, 'contents' | 'read'>,
  options: BackupOptions,
): Promise<RowCounts> {
  const tar = pack();
  // The loop in `store` throws the errors of `tar`. Without this listener, the `error` event of `tar` would also end the process.
  tar.on('error', () => {});
  const abort = () => tar.destroy(options.signal?.reason as Error);
  options.signal?.addEventListener('abort', abort);
  try {
    // An abort destroys `tar`, so the loop in `store` fails. Then Promise.all fails immediately, even if `addEntries` is still waiting for
    // the database. So an aborted backup ends without waiting for the database.
    const [counts] = await Promise.all([addEntries(new Entries(tar), source, options), store(tar, file)]);
    return counts;
  } finally {
    options.signal?.removeEventListener('abort', abort);
    tar.destroy();
  }
}

async function store(tar: Pack, file: FileHandle): Promise<void> {
  for await (const bytes of tar as AsyncIterable<Buffer>) {
    // `writeFile` writes all `bytes`, at the current position of the file. `write` could write only some of them without an error.
    await file.writeFile(bytes);
  }
}

async function addEntries(
  entries: Entries,
  { contents, read }: Pick<TransferSource, 'contents' | 'read'>,
  { version, sealedKey, onTable }: BackupOptions,
): Promise<RowCounts> {
  const header: Header = { format: FORMAT, version, created_at: new Date().toISOString(), ...contents };
  await entries.addJson(HEADER, header);
  if (sealedKey !== null) {
    await entries.addJson(MASTER_KEY, sealedKey);
  }
  const counts: RowCounts = {};
  for (const table of contents.tables) {
    let rows = 0;
    let number = 0;
    for await (const chunk of inChunks(read(table))) {
      rows += countRows(chunk);
      number += 1;
      await entries.add(chunkName(table.name, number), await compress(chunk));
      onTable?.(table.name, rows);
    }
    counts[table.name] = rows;
  }
  await entries.addJson(MANIFEST, { rows: counts, entries: entries.added } satisfies Manifest);
  entries.end();
  return counts;
}

/** Writer of the entries of a tar file. It collects the hash of each entry for the manifest. */
class Entries {
  readonly added: Manifest['entries'] = [];
  readonly #tar: Pack;

  constructor(tar: Pack) {
    this.#tar = tar;
  }

  async addJson(name: string, value: object): Promise<void> {
    await this.add(name, Buffer.from(`${JSON.stringify(value)}\n`));
  }

  /** Adds an entry, and waits until the tar stream has taken it. @throws OperatorError if the entry is too large */
  async add(name: string, bytes: Buffer): Promise<void> {
    if (bytes.length > (maxStoredBytes(name) ?? 0)) {
      throw new OperatorError(
        `The database is too large for a backup: the entry ${name} would have ${bytes.length} bytes. ` +
          'Back up the database with the tools of PostgreSQL, for example pg_dump.',
      );
    }
    await new Promise<void>((resolve, reject) => {
      this.#tar
        .entry({ name, size: bytes.length, mode: 0o600 }, bytes, (error) => (error ? reject(error) : resolve()))
        .on('error', reject);
    });
    this.added.push({ name, sha256: createHash('sha256').update(bytes).digest('hex') });
  }

  end(): void {
    this.#tar.finalize();
  }
}
