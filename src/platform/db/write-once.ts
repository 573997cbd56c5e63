import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time in milliseconds to wait for another process that is writing the same file. */
const WAIT_MS = 2_000;
const POLL_MS = 10;

/**
 * Writes a new file that only its owner can read. If several processes write the file at the same time, one of them writes its text, and
 * all of them return that text. An existing file stays unchanged.
 *
 * The process that creates the empty file renames its complete draft to it. So no hard link is needed, which exFAT and SMB do not have.
 * @returns the bytes that are in the file at the end
 */
export async function writeOnce(path: string, text: string): Promise<Buffer> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  try {
    if (await createEmpty(path)) {
      await rename(draft, path);
    }
  } finally {
    await rm(draft, { force: true });
  }
  return await readWritten(path);
}

/**
 * Reads a file that `writeOnce` writes. If the file is empty, waits until its writer has ended.
 * @returns the bytes of the file, which are empty if the writer was killed
 * @throws the error of the file system, for example ENOENT
 */
export async function readWritten(path: string): Promise<Buffer> {
  for (const deadlineMs = Date.now() + WAIT_MS; ; await sleep(POLL_MS)) {
    const bytes = await readFile(path);
    if (bytes.length > 0 || Date.now() > deadlineMs) {
      return bytes;
    }
  }
}

async function createEmpty(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      return false;
    }
    throw error;
  }
}
