import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream';
import { pipeline as pipelined } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { type Static, Type } from 'typebox';
import { codeOf } from '../db/failures.ts';
import { OperatorError } from '../errors.ts';
import { exists, syncFolder } from '../lib/new-file.ts';
import { compileSchema } from '../lib/validation.ts';
import { Contents, COPIED_TABLES, refuseNewer, type TableShape } from './contents.ts';
import { type CopiedTable, type CopySource, type CopyTarget, type Digests, findDifference } from './copy.ts';
import { SealedKey } from './passphrase.ts';

/**
 * Number of the format of a backup. A backup is text that Zstandard has compressed, with a checksum over the whole text:
 *
 * 1. `-- roomservice backup HEADER`, in one line of JSON.
 * 2. For each table, the line of its COPY statement, its rows in the text format of COPY, and a line with `\.`.
 * 3. `-- end DIGESTS`, in one line of JSON. A file without this line is incomplete.
 */
const FORMAT = 2;
const START = '-- roomservice backup ';
const END = '-- end ';
/** Line after the rows of a table. No row is this line, because COPY doubles each backslash in a value. */
const END_OF_ROWS = '\\.';
const MAX_LINE_BYTES = 1024 * 1024;
const PIECE_BYTES = 256 * 1024;
/** SQLSTATE codes of a row that a table does not accept. A changed byte may make such a row before the checksum is read. */
const INVALID_ROW = /^2[23]...$/;

type Header = Static<typeof Header>;
const Header = Type.Object({
  format: Type.Literal(FORMAT),
  version: Type.String(),
  created_at: Type.String(),
  master_key: Type.Union([SealedKey, Type.Null()]),
  contents: Contents,
});

export interface Backup extends CopySource {
  createdAt: string;
  sealedKey: SealedKey | null;
  close(): void;
}

/** Returns a new file as the target of a copy. It gets its name when it is complete. Only a killed process leaves a `.partial`. */
export function newBackup(
  path: string,
  options: { version: string; createdAt: Date; sealedKey: SealedKey | null },
): CopyTarget {
  return {
    async load(contents, tables, digests) {
      const header: Header = {
        format: FORMAT,
        version: options.version,
        created_at: options.createdAt.toISOString(),
        master_key: options.sealedKey,
        contents,
      };
      try {
        if (await exists(path)) {
          throw alreadyExists(path);
        }
        await publishFile(path, (file) => compressInto(file, textOf(header, tables, digests)));
      } catch (error) {
        throw explainWriting(error, path);
      }
    },
  };
}

async function publishFile(path: string, write: (file: FileHandle) => Promise<unknown>): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.partial`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await write(file);
    await file.sync();
    await file.close();
    if (await exists(path)) {
      throw alreadyExists(path);
    }
    await rename(draft, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await file.close().catch(() => {});
    await rm(draft, { force: true });
    throw error;
  }
}

async function compressInto(file: FileHandle, text: AsyncIterable<Buffer>): Promise<void> {
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  await pipelined(
    async function* () {
      yield* text;
      // If the stream ended while it still compresses a piece, Node would write a second, empty frame, which no reader checks.
      await new Promise((resolve) => compress.write('', resolve));
    },
    compress,
    async (bytes: AsyncIterable<Buffer>) => {
      for await (const piece of bytes) {
        await file.writeFile(piece); // It writes all bytes at the current position, but `write` may write only some of them.
      }
    },
  );
}

async function* textOf(header: Header, tables: AsyncIterable<CopiedTable>, digests: Digests): AsyncGenerator<Buffer> {
  yield Buffer.from(`${START}${JSON.stringify(header)}\n`);
  for await (const { rows, ...table } of tables) {
    yield Buffer.from(`${copyLine(table)}\n`);
    yield* rows;
    yield Buffer.from(`${END_OF_ROWS}\n`);
  }
  yield Buffer.from(`${END}${JSON.stringify(digests)}\n`);
}

function copyLine({ name, columns }: TableShape): string {
  return `COPY ${name} (${columns.join(', ')}) FROM stdin;`;
}

function alreadyExists(path: string): OperatorError {
  return new OperatorError(`${path} already exists, and a backup never replaces a file. Choose another name.`);
}

function explainWriting(error: unknown, path: string): unknown {
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException;
  return /^(?:ENOSPC|EDQUOT|EFBIG|EIO)$/.test(code) || /^(?:open|fsync|rename|lstat)$/.test(syscall)
    ? new OperatorError(
        `${path} cannot be written (${code}). Check its folder, the permissions and the free space, or choose another folder.`,
      )
    : error;
}

/** Opens a backup file and reads its header. @throws OperatorError if it is no backup, or was made by a newer version */
export async function openBackup(path: string): Promise<Backup> {
  const file = new BackupText(path);
  try {
    const header = await readHeader(file);
    await refuseNewer(header.contents.migrations);
    const strange = header.contents.tables.find(({ name }) => !(name in COPIED_TABLES));
    if (strange !== undefined) {
      throw file.damage(`it has the unknown table ${strange.name}`);
    }
    return {
      contents: header.contents,
      createdAt: header.created_at,
      sealedKey: header.master_key,
      read: (table) => readTable(file, table),
      check: (digests) => checkEnd(file, digests),
      explain: (error) => (INVALID_ROW.test(codeOf(error)) ? file.damage((error as Error).message) : error),
      close: () => file.close(),
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

async function readHeader(file: BackupText): Promise<Header> {
  const header = (await file.json(START, 'its first line is missing')) as Header;
  if (header.format > FORMAT) {
    throw new OperatorError(
      `The file was made by a newer version of roomservice (${header.version}). Install that version, and run the command again.`,
    );
  }
  if (!compileSchema(Header).isValid(header)) {
    throw file.damage('its first line is not valid');
  }
  file.isBackup = true;
  return header;
}

async function* readTable(file: BackupText, table: TableShape): AsyncGenerator<Buffer> {
  if ((await file.line()) !== copyLine(table)) {
    throw file.damage(`the table ${table.name} is not in its place`);
  }
  yield* file.rows();
}

async function checkEnd(file: BackupText, digests: Digests): Promise<void> {
  const expected = (await file.json(END, 'the digests at its end are missing')) as Digests;
  const table = findDifference(digests, expected);
  if (table !== null) {
    throw file.damage(`the rows of the table ${table} are not those of the backup`);
  }
  await file.end();
}

class BackupText {
  isBackup = false;
  readonly #path: string;
  readonly #text = createZstdDecompress({ chunkSize: PIECE_BYTES });
  readonly #pieces: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
    pipeline(createReadStream(path, { highWaterMark: PIECE_BYTES }), this.#text, () => {}); // An error fails the iteration too.
    this.#pieces = this.#text[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  close(): void {
    this.#text.destroy();
  }

  damage(what: string): OperatorError {
    return new OperatorError(
      this.isBackup
        ? `${this.#path} is damaged or incomplete: ${what}. Use another backup.`
        : `${this.#path} is not a backup of roomservice, or its beginning is damaged. Check the path.`,
    );
  }

  /** Reads a line with JSON after the prefix. */
  async json(prefix: string, fault: string): Promise<unknown> {
    const line = await this.line();
    try {
      return JSON.parse(line.startsWith(prefix) ? line.slice(prefix.length) : '');
    } catch {
      throw this.damage(fault);
    }
  }

  async line(): Promise<string> {
    let end = this.#held.indexOf('\n');
    while (end === -1 && this.#held.length < MAX_LINE_BYTES) {
      await this.#more();
      end = this.#held.indexOf('\n');
    }
    if (end === -1) {
      throw this.damage('a line is too long');
    }
    const line = this.#held.toString('utf8', 0, end);
    this.#held = this.#held.subarray(end + 1);
    return line;
  }

  async *rows(): AsyncGenerator<Buffer> {
    const mark = `\n${END_OF_ROWS}\n`;
    // The line feed before the rows, or the last byte that was returned, so that a mark over two pieces is found.
    this.#held = Buffer.concat([Buffer.from('\n'), this.#held]);
    let end = this.#held.indexOf(mark);
    while (end === -1) {
      const kept = Math.max(0, this.#held.length - mark.length);
      if (kept > 0) {
        yield this.#held.subarray(1, kept + 1);
        this.#held = this.#held.subarray(kept);
      }
      await this.#more();
      end = this.#held.indexOf(mark);
    }
    if (end > 0) {
      yield this.#held.subarray(1, end + 1);
    }
    this.#held = this.#held.subarray(end + mark.length);
  }

  async end(): Promise<void> {
    const { done } = await this.#next();
    const { size } = await stat(this.#path);
    if (!done || this.#held.length > 0 || this.#text.bytesWritten < size) {
      throw this.damage('it has bytes after its end');
    }
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#next();
    if (done) {
      throw this.damage('its end is missing');
    }
    this.#held = Buffer.concat([this.#held, value]);
  }

  async #next(): Promise<IteratorResult<Buffer>> {
    return await this.#pieces.next().catch(({ code, syscall, message }: NodeJS.ErrnoException) => {
      throw syscall === undefined
        ? this.damage(message)
        : new OperatorError(`The backup ${this.#path} cannot be read (${code}). Check the path and the permissions.`);
    });
  }
}
