import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import type { Contents } from '../db/transfer-contents.ts';
import type { RowCounts } from '../db/transfer-target.ts';
import { OperatorError } from '../errors.ts';
import { chunkName, HEADER, type Header, MANIFEST, type Manifest, MASTER_KEY } from './format.ts';
import type { SealedKey } from './passphrase.ts';
import { Damage, decompressRows, type Entry, readFaultOf, scanBackup } from './scan-backup.ts';

export interface Backup {
  /** Version of the service that made the file. */
  version: string;
  /** Time when the backup began, as an ISO 8601 text in UTC. */
  createdAt: string;
  /** Version of the PostgreSQL server that the rows come from. */
  serverVersion: string;
  contents: Contents;
  /** Number of rows of each table. */
  counts: RowCounts;
  /** Encrypted master key, or null if the backup was made without a passphrase. */
  sealedKey: SealedKey | null;
  /**
   * Returns a stream of the rows of a table in the text format of COPY. The stream checks each chunk again, because the file may have
   * changed after `readBackup`. The stream fails with an OperatorError if a chunk has changed or cannot be read.
   */
  open(table: string): Readable;
}

/**
 * Reads the whole file once, and checks that it is complete and unchanged. Keeps the position and the hash of each chunk in memory, but no
 * rows.
 * @throws OperatorError if the file cannot be read, is no backup, is damaged or incomplete, or was made by a newer version
 */
export async function readBackup(path: string): Promise<Backup> {
  try {
    const { header, sealedKey, manifest, entries, counts } = await scanBackup(path);
    const chunks = checkOrder(entries, header.tables, sealedKey !== null);
    checkManifest(manifest, entries, counts);
    const { format: _format, version, created_at: createdAt, ...contents } = header;
    return {
      version,
      createdAt,
      serverVersion: header.postgres,
      contents,
      counts,
      sealedKey,
      open: (table) => Readable.from(readChunks(path, chunks.get(table) ?? []), { highWaterMark: 1 }),
    };
  } catch (error) {
    throw explain(error, path);
  }
}

/**
 * Checks the order of the entries, and returns the chunks of each table.
 * @throws Damage if an entry is missing, occurs twice, or is not at the position that the format requires
 */
function checkOrder(entries: Entry[], tables: Header['tables'], isSealed: boolean): Map<string, Entry[]> {
  const chunks = Map.groupBy(
    entries.filter(({ table }) => table !== null),
    ({ table }) => table ?? '',
  );
  const expected = [
    HEADER,
    ...(isSealed ? [MASTER_KEY] : []),
    ...tables.flatMap(({ name }) => (chunks.get(name) ?? []).map((_, index) => chunkName(name, index + 1))),
    MANIFEST,
  ];
  const wrong = entries.findIndex(({ name }, index) => name !== expected[index]);
  if (wrong !== -1 || entries.length !== expected.length) {
    throw new Damage(`an entry is missing or in the wrong place near ${entries[wrong]?.name ?? 'the end'}`);
  }
  return chunks;
}

function checkManifest(manifest: Manifest, entries: Entry[], counts: RowCounts): void {
  const found = entries.slice(0, -1);
  const changed = found.find(({ name, sha256 }, index) => {
    const listed = manifest.entries[index];
    return listed?.name !== name || listed.sha256 !== sha256;
  });
  if (changed !== undefined || manifest.entries.length !== found.length) {
    throw new Damage(`${changed?.name ?? 'the number of entries'} does not match the list of entries in ${MANIFEST}`);
  }
  if (!isDeepStrictEqual({ ...manifest.rows }, counts)) {
    throw new Damage(`the numbers of rows in ${MANIFEST} do not match the tables`);
  }
}

/** Returns an OperatorError for damage and for an error of the file system. Returns any other error unchanged. */
function explain(error: unknown, path: string): unknown {
  if (error instanceof Damage) {
    return new OperatorError(`${path} is damaged or incomplete: ${error.message}. Use another backup.`);
  }
  const code = readFaultOf(error);
  return code === null
    ? error
    : new OperatorError(`The backup ${path} cannot be read (${code}). Check the path and the permissions.`);
}

async function* readChunks(path: string, chunks: Entry[]): AsyncGenerator<Buffer> {
  try {
    const file = await open(path, 'r');
    try {
      for (const chunk of chunks) {
        yield await decompressRows(chunk.name, await readUnchanged(file, chunk));
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    throw explain(error, path);
  }
}

async function readUnchanged(file: FileHandle, { name, offset, size, sha256 }: Entry): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await file.read(bytes, filled, size - filled, offset + filled);
    if (bytesRead === 0) {
      break;
    }
    filled += bytesRead;
  }
  if (filled < size || createHash('sha256').update(bytes).digest('hex') !== sha256) {
    throw new Damage(`${name} has changed since it was checked`);
  }
  return bytes;
}
