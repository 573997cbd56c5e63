import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { type Extract, extract } from 'tar-stream';
import type { Static, TSchema } from 'typebox';
import type { RowCounts } from '../db/transfer-target.ts';
import { OperatorError } from '../errors.ts';
import { compileSchema } from '../lib/validation.ts';
import { countRows, endsWithRow } from './chunks.ts';
import {
  AnyHeader,
  FORMAT,
  HEADER,
  Header,
  MANIFEST,
  Manifest,
  MASTER_KEY,
  MAX_CHUNK_BYTES,
  maxStoredBytes,
  tableOf,
} from './format.ts';
import { SealedKey } from './passphrase.ts';

const decompress = promisify(zstdDecompress);
/** Size of a block in a tar file. Each entry fills whole blocks, and two empty blocks end the file. */
const BLOCK_BYTES = 512;
const READ_BYTES = 1024 * 1024;

type TarEntry = Extract extends AsyncIterable<infer Source> ? Source : never;

/** Error for a damaged backup. Its message is a part of the message for the operator, such as `its last bytes are missing`. */
export class Damage extends Error {}

/** Entry of a backup, with its position in the file. */
export interface Entry {
  name: string;
  /** Name of the table whose rows the chunk contains. Null if the entry is not a chunk. */
  table: string | null;
  /** Position in the file of the first byte of the content, which follows the tar header of the entry. */
  offset: number;
  /** Number of bytes of the content in the file. The content of a chunk is compressed. */
  size: number;
  sha256: string;
}

interface Scan {
  header: Header;
  sealedKey: SealedKey | null;
  manifest: Manifest;
  /** All entries in the order of the file. */
  entries: Entry[];
  /** Number of rows that were found in the chunks of each table. */
  counts: RowCounts;
}

/**
 * Reads all entries of a backup. Checks each entry by itself, but not yet against the manifest.
 * @throws Damage if the file is damaged or incomplete
 * @throws OperatorError if the file is no backup, or was made by a newer version
 */
export async function scanBackup(path: string): Promise<Scan> {
  const scan: Partial<Scan> & Pick<Scan, 'entries' | 'counts'> = { entries: [], counts: {} };
  const tar = extract();
  const feeding = pipeline(createReadStream(path, { highWaterMark: READ_BYTES }), tar);
  // If the pipeline fails, the loop below throws its error. Without this handler, the error would also end the process as an unhandled
  // rejection.
  feeding.catch(() => {});
  try {
    for await (const tarEntry of tar) {
      await scanEntry(path, tarEntry, scan);
    }
    await feeding;
  } catch (error) {
    throw inTar(error, path, scan.header !== undefined);
  }
  const { header, manifest, sealedKey = null } = scan;
  if (header === undefined) {
    throw notABackup(path);
  }
  if (manifest === undefined) {
    throw new Damage(`the entry ${MANIFEST} at its end is missing`);
  }
  await checkEnd(path, scan.entries.at(-1));
  return { ...scan, header, manifest, sealedKey };
}

function notABackup(path: string): OperatorError {
  return new OperatorError(`${path} is not a backup of roomservice, or its beginning is damaged. Check the path.`);
}

/** Returns the code of an error of the file system, such as `ENOENT`. Returns null for any other error. */
export function readFaultOf(error: unknown): string | null {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined ? null : (code ?? syscall);
}

function inTar(error: unknown, path: string, hasHeader: boolean): unknown {
  if (error instanceof Damage || error instanceof OperatorError || readFaultOf(error) !== null) {
    return error;
  }
  return hasHeader ? new Damage(`it is not a complete tar file (${(error as Error).message})`) : notABackup(path);
}

/**
 * Checks by the size of the file that it has the two empty blocks at its end, because tar-stream accepts a file without these blocks.
 * @throws Damage if the file is too short
 */
async function checkEnd(path: string, last: Entry | undefined): Promise<void> {
  const end = last === undefined ? 0 : last.offset + Math.ceil(last.size / BLOCK_BYTES) * BLOCK_BYTES;
  if ((await stat(path)).size < end + 2 * BLOCK_BYTES) {
    throw new Damage('its last bytes are missing');
  }
}

async function scanEntry(
  path: string,
  tarEntry: TarEntry,
  scan: Partial<Scan> & Pick<Scan, 'entries' | 'counts'>,
): Promise<void> {
  const { name, size, type } = tarEntry.header;
  // tar-stream gives the position of the tar header of the entry. This header is one block long, and the content of the entry follows it.
  const offset = tarEntry.offset + BLOCK_BYTES;
  if (scan.header === undefined && name !== HEADER) {
    throw notABackup(path);
  }
  if (type !== 'file' || size > (maxStoredBytes(name) ?? 0)) {
    throw new Damage(`the entry ${JSON.stringify(name)} does not belong in a backup or is too large`);
  }
  const bytes = await buffer(tarEntry as AsyncIterable<Buffer>);
  const table = tableOf(name);
  scan.entries.push({
    name,
    table,
    offset,
    size,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  });
  if (name === HEADER) {
    scan.header = parseHeader(path, bytes);
    scan.counts = Object.fromEntries(scan.header.tables.map((shape) => [shape.name, 0]));
  } else if (name === MASTER_KEY) {
    scan.sealedKey = parse(name, SealedKey, bytes);
  } else if (name === MANIFEST) {
    scan.manifest = parse(name, Manifest, bytes);
  } else if (table !== null) {
    scan.counts[table] = (scan.counts[table] ?? 0) + countRows(await decompressRows(name, bytes));
  }
}

/** Parses the header. @throws OperatorError if the file has a newer format @throws Damage if the header is not valid */
function parseHeader(path: string, bytes: Buffer): Header {
  const { format, version } = parse(HEADER, AnyHeader, bytes);
  if (format > FORMAT) {
    throw new OperatorError(
      `${path} was made by a newer version of roomservice (${version}). Install that version, and run the command again.`,
    );
  }
  return parse(HEADER, Header, bytes);
}

function parse<Schema extends TSchema>(name: string, schema: Schema, bytes: Buffer): Static<Schema> {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    if (compileSchema(schema).isValid(value)) {
      return value as Static<Schema>;
    }
  } catch {
    // Text that is not JSON gets the same error as JSON that does not match the schema. The statement below throws this error.
  }
  throw new Damage(`${name} is not valid`);
}

/** Decompresses a chunk. @throws Damage if this fails, or if the chunk is too large or does not end with the end of a row */
export async function decompressRows(name: string, stored: Buffer): Promise<Buffer> {
  const text = await decompress(stored, { maxOutputLength: MAX_CHUNK_BYTES, chunkSize: READ_BYTES }).catch(() => {
    throw new Damage(`${name} cannot be decompressed`);
  });
  if (!endsWithRow(text)) {
    throw new Damage(`${name} does not end with a whole row`);
  }
  return text;
}
