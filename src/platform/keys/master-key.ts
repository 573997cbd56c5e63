import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { OperatorError } from '../errors.ts';
import { writeNewFile } from '../lib/new-file.ts';
import { decodeText } from '../lib/text-file.ts';

const FILE = 'master-key';
const KEY_BYTES = 32;

export function masterKeyPath(dataDir: string): string {
  return join(dataDir, FILE);
}

/**
 * Returns the master key from the settings. If the settings have no master key and the database is embedded, reads the key from its file in
 * DATA_DIR. Makes no new key.
 * @returns null if there is no master key
 */
export async function findMasterKey({
  masterKey,
  databaseUrl,
  dataDir,
}: Pick<Config, 'masterKey' | 'databaseUrl' | 'dataDir'>): Promise<Buffer | null> {
  return masterKey ?? (databaseUrl === null ? await readMasterKey(dataDir) : null);
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
  return bytes === null ? null : decodeKey(bytes, path);
}

/**
 * Makes a master key and its file in DATA_DIR. If two processes do this at the same time, both use the key of the file.
 * @returns the key that is in the file at the end
 */
export async function makeMasterKey(dataDir: string): Promise<Buffer> {
  return await writeMasterKey(dataDir, randomBytes(KEY_BYTES));
}

/**
 * Stores a master key in the key file in DATA_DIR.
 * @throws OperatorError if the file already has a different key
 */
export async function storeMasterKey(dataDir: string, key: Buffer): Promise<void> {
  if (!(await writeMasterKey(dataDir, key)).equals(key)) {
    throw new OperatorError(
      `${masterKeyPath(dataDir)} has another master key already. Move the file away, and run the command again. Nothing was changed.`,
    );
  }
}

async function writeMasterKey(dataDir: string, key: Buffer): Promise<Buffer> {
  const path = masterKeyPath(dataDir);
  await writeNewFile(path, `${key.toString('base64')}\n`);
  return decodeKey(await readFile(path), path);
}

function decodeKey(bytes: Buffer, path: string): Buffer {
  const key = Buffer.from(decodeText(bytes)?.trim() ?? '', 'base64');
  if (key.length !== KEY_BYTES) {
    throw new OperatorError(
      `${path} does not contain a master key (32 bytes in base64, as UTF-8 text). Restore the correct file.`,
    );
  }
  return key;
}
