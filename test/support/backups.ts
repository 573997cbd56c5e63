import { readFile, writeFile } from 'node:fs/promises';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { OperatorError } from '#platform/errors.ts';

export async function textOf(path: string): Promise<string> {
  return zstdDecompressSync(await readFile(path)).toString();
}

/** Writes a backup file with any text. Its checksum is correct. */
export async function forge(path: string, text: string): Promise<string> {
  await writeFile(path, zstdCompressSync(text, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }));
  return path;
}

/** Returns a function for `assert.rejects`. It returns true if the error is an `OperatorError` whose message matches `text`. */
export const refusal = (text: RegExp) => (error: unknown) => error instanceof OperatorError && text.test(error.message);
