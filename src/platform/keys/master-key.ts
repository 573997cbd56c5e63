import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../errors.ts';
import { writeNewFile } from '../lib/new-file.ts';
import { decodeText } from '../lib/text-file.ts';

const FILE = 'master-key';
const KEY_BYTES = 32;

export function masterKeyPath(dataDir: string): string {
  return join(dataDir, FILE);
}

/**
 * Reads the master key from its file in DATA_DIR. Returns null if the file is missing.
 * @throws OperatorError if the file cannot be read or does not contain a key
 */
export async function readMasterKey(dataDir: string): Promise<Buffer | null> {
  const path = masterKeyPath(dataDir);
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') {
      throw new OperatorError(
        `The master key in ${path} cannot be read (${error.code}). Check the file and its permissions.`,
      );
    }
    return null;
  });
  if (bytes === null) {
    return null;
  }
  const key = Buffer.from(decodeText(bytes)?.trim() ?? '', 'base64');
  if (key.length !== KEY_BYTES) {
    throw new OperatorError(
      `${path} does not contain a master key (32 bytes in base64, as UTF-8 text). Restore the correct file.`,
    );
  }
  return key;
}

/**
 * Makes a master key and its file in DATA_DIR. Only the owner of the file can read it. If two processes do this at the same time, the file
 * of the first process stays, and both processes use its key.
 * @returns the key that is in the file at the end
 */
export async function makeMasterKey(dataDir: string): Promise<Buffer> {
  return await writeMasterKey(dataDir, randomBytes(KEY_BYTES));
}

/**
 * Writes a master key to its file in DATA_DIR, as `makeMasterKey` does. An existing file stays unchanged.
 * @returns the key that is in the file at the end
 */
export async function writeMasterKey(dataDir: string, newKey: Buffer): Promise<Buffer> {
  const path = masterKeyPath(dataDir);
  await writeNewFile(path, `${newKey.toString('base64')}\n`);
  const key = await readMasterKey(dataDir);
  if (key === null) {
    throw new OperatorError(`${path} was removed during the start. Start the service again.`);
  }
  return key;
}
