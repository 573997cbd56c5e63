import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../errors.ts';

const FILE = 'master-key';
const KEY_BYTES = 32;

/**
 * The master key that lies in DATA_DIR, made at the first start, readable by its owner alone.
 * @throws OperatorError when the file does not hold a key
 */
export async function readOrMakeMasterKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, FILE);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') {
      throw new OperatorError(`The master key in ${path} cannot be read: ${error.code}`);
    }
    return null;
  });
  if (text === null) {
    return await makeMasterKey(dataDir, path);
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== KEY_BYTES) {
    throw new OperatorError(`${path} does not hold a master key (32 bytes in base64). Put the right file back.`);
  }
  return key;
}

/** Written beside and linked into place: whole or not at all, and of two processes the first one's key is kept. */
async function makeMasterKey(dataDir: string, path: string): Promise<Buffer> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flush: true });
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') {
      throw error;
    }
  });
  await rm(draft);
  return await readOrMakeMasterKey(dataDir);
}
