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

/** Returns the master key from the settings or, if the database is embedded, from its file in DATA_DIR. Returns null if there is none. */
export async function findMasterKey({
  masterKey,
  databaseUrl,
  dataDir,
}: Pick<Config, 'masterKey' | 'databaseUrl' | 'dataDir'>): Promise<Buffer | null> {
  return masterKey ?? (databaseUrl === null ? await readMasterKey(dataDir) : null);
}

/** Reads the master key from its file in DATA_DIR. Returns null if the file is missing. @throws OperatorError */
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

/** Makes the file of the master key in DATA_DIR if it is missing. Returns the key that is in the file at the end. */
export async function makeMasterKey(dataDir: string, key: Buffer = randomBytes(KEY_BYTES)): Promise<Buffer> {
  const path = masterKeyPath(dataDir);
  await writeNewFile(path, `${key.toString('base64')}\n`);
  return decodeKey(await readFile(path), path);
}

/** Stores a master key in its file in DATA_DIR. @throws OperatorError if the file already has a different key */
export async function storeMasterKey(dataDir: string, key: Buffer): Promise<void> {
  if (!(await makeMasterKey(dataDir, key)).equals(key)) {
    throw new OperatorError(
      `${masterKeyPath(dataDir)} has another master key already. Move the file away, and run the command again. Nothing was changed.`,
    );
  }
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
