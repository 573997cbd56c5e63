import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { extract, pack } from 'tar-stream';
import { sealMasterKey } from '#platform/backup/passphrase.ts';
import { writeBackup } from '#platform/backup/write-backup.ts';
import { OperatorError } from '#platform/errors.ts';

const MIB = 1024 * 1024;

/** Rows of each table in the text format of COPY, split into chunks. The key is the name of the table. */
export type Rows = Record<string, AsyncIterable<Buffer> | Buffer[]>;

/** Returns a source for `writeBackup`. Its tables have the given rows. */
export function sourceOf(rows: Rows) {
  const tables = Object.keys(rows).map((name) => ({ name, columns: ['a'] }));
  return {
    contents: { postgres: '18.4', migrations: ['0001_first'], tables, sequences: [] },
    async *read({ name }: { name: string }) {
      yield* rows[name] ?? [];
    },
  };
}

export const OPTIONS = { version: '1.2.3', sealedKey: null };

/** Rows of three tables: a small table, an empty table, and a table of more than 5 MiB with rows of 64 bytes. */
export const smallRows = (): Rows => ({
  one: [Buffer.from('1\n2'), Buffer.from('3\n')],
  empty: [],
  two: [Buffer.alloc(5 * MIB, `${'abc'.padEnd(63, '.')}\n`), Buffer.from('last\n')],
});

/** Writes a backup of `smallRows` to a new file. The backup contains a master key that a passphrase encrypts. */
export async function writeSmall(path: string): Promise<string> {
  await writeBackup(path, sourceOf(smallRows()), { ...OPTIONS, sealedKey: await sealMasterKey(randomBytes(32), 'p') });
  return path;
}

export interface TarEntry {
  name: string;
  bytes: Buffer;
  /** Position of the first byte of `bytes` in the tar file. */
  offset: number;
}

/** Reads all entries of a tar file. */
export async function entriesOf(path: string): Promise<TarEntry[]> {
  const tar = extract();
  tar.end(await readFile(path));
  const entries: TarEntry[] = [];
  for await (const entry of tar) {
    const bytes = await buffer(entry as AsyncIterable<Buffer>);
    entries.push({ name: entry.header.name, bytes, offset: entry.offset + 512 });
  }
  return entries;
}

/** Writes a tar file with the given entries. They need not form a valid backup. */
export async function writeTar(path: string, entries: Pick<TarEntry, 'name' | 'bytes'>[]): Promise<string> {
  const tar = pack();
  for (const { name, bytes } of entries) {
    tar.entry({ name }, bytes);
  }
  tar.finalize();
  await writeFile(path, tar as AsyncIterable<Buffer>);
  return path;
}

/** Returns a function for `assert.rejects`. It returns true if the error is an `OperatorError` whose message matches `text`. */
export const refusal = (text: RegExp) => (error: unknown) => error instanceof OperatorError && text.test(error.message);
