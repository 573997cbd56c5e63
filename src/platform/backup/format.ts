import { type Static, Type } from 'typebox';

/**
 * Number of the format of a backup. A backup is a tar file, so common tools such as `tar` can list and extract its entries. It has these
 * entries in this order:
 *
 * 1. `header.json`: versions, migrations, tables with their columns, and sequences.
 * 2. `master-key.json`: the master key, encrypted with a passphrase. It is missing if the backup was made without a passphrase.
 * 3. `tables/NAME/000001.copy.zst` and so on: rows in the text format of COPY, compressed with Zstandard. Each of these chunks holds whole
 *    rows. An empty table has no chunk.
 * 4. `manifest.json`: the number of rows of each table, and the SHA-256 of each stored entry. A file without this entry is incomplete.
 */
export const FORMAT = 1;

export const HEADER = 'header.json';
export const MASTER_KEY = 'master-key.json';
export const MANIFEST = 'manifest.json';

const MIB = 1024 * 1024;
/** Wanted size of a chunk, in bytes of COPY text. The size can differ, because a chunk ends only at the end of a row. */
export const CHUNK_BYTES = 4 * MIB;
/** Maximum number of bytes of COPY text in a chunk. Only a chunk that consists of one very long row can be this large. */
export const MAX_CHUNK_BYTES = 256 * MIB;
/** Maximum number of bytes of a compressed chunk. If Zstandard cannot compress a chunk, its result is slightly longer than the chunk. */
const MAX_STORED_CHUNK_BYTES = MAX_CHUNK_BYTES + MIB;
/**
 * Maximum number of bytes of each entry that is not a chunk. The manifest has about 130 bytes for each chunk, so 64 MiB are enough for 2 TB
 * of rows.
 */
const MAX_STORED_BYTES = new Map([
  [HEADER, MIB],
  [MASTER_KEY, MIB],
  [MANIFEST, 64 * MIB],
]);

/** Returns the name of the entry of a chunk. @param number position of the chunk among the chunks of its table, starting with 1 */
export function chunkName(table: string, number: number): string {
  return `tables/${table}/${String(number).padStart(6, '0')}.copy.zst`;
}

/** Returns the name of the table whose rows the chunk contains. Returns null if the entry is not a chunk. */
export function tableOf(entry: string): string | null {
  return /^tables\/(\w{1,63})\/\d{6,9}\.copy\.zst$/.exec(entry)?.[1] ?? null;
}

/** Returns the maximum number of bytes that an entry may have in the file. Returns null if a backup has no entry of this name. */
export function maxStoredBytes(entry: string): number | null {
  return tableOf(entry) === null ? (MAX_STORED_BYTES.get(entry) ?? null) : MAX_STORED_CHUNK_BYTES;
}

/** Part of the header that every future format keeps, so that an error for a newer format can name the version that made the file. */
export const AnyHeader = Type.Object({ format: Type.Integer({ minimum: 1 }), version: Type.String() });

export type Header = Static<typeof Header>;
export const Header = Type.Object({
  format: Type.Literal(FORMAT),
  version: Type.String(),
  created_at: Type.String(),
  postgres: Type.String(),
  migrations: Type.Array(Type.String()),
  tables: Type.Array(Type.Object({ name: Type.String(), columns: Type.Array(Type.String()) })),
  sequences: Type.Array(
    Type.Object({ table: Type.String(), column: Type.String(), lastValue: Type.String(), isCalled: Type.Boolean() }),
  ),
});

export type Manifest = Static<typeof Manifest>;
export const Manifest = Type.Object({
  rows: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
  entries: Type.Array(Type.Object({ name: Type.String(), sha256: Type.String() })),
});
