import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../errors.ts';

const FILE = 'master-key';
const KEY_BYTES = 32;

export function masterKeyPath(dataDir: string): string {
  return join(dataDir, FILE);
}

/**
 * The master key that lies in DATA_DIR; null if there is no file.
 * @throws OperatorError when the file does not hold a key
 */
export async function readMasterKey(dataDir: string): Promise<Buffer | null> {
  const path = masterKeyPath(dataDir);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') {
      throw new OperatorError(`The master key in ${path} cannot be read: ${error.code}`);
    }
    return null;
  });
  if (text === null) {
    return null;
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== KEY_BYTES) {
    throw new OperatorError(`${path} does not hold a master key (32 bytes in base64). Put the right file back.`);
  }
  return key;
}

/**
 * Makes the master key in DATA_DIR, readable by its owner alone. It is written beside and linked into location: whole or not at all. Of two
 * processes that make it at once, the first one's is kept.
 * @returns the key that is there now
 */
export async function makeMasterKey(dataDir: string): Promise<Buffer> {
  const path = masterKeyPath(dataDir);
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flush: true });
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') {
      throw error;
    }
  });
  await rm(draft);
  const key = await readMasterKey(dataDir);
  if (key === null) {
    throw new OperatorError(`${path} was removed while it was made. Start again.`);
  }
  return key;
}
