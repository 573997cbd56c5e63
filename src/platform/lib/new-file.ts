import { randomBytes } from 'node:crypto';
import { link, lstat, open, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a short file that only its owner can read. Returns false if it exists. Other processes see the complete file or no file. */
export async function writeNewFile(path: string, content: string): Promise<boolean> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.new`;
  try {
    await writeFile(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    await link(draft, path);
    await syncFolder(dirname(path));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
    return false;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Also for a link without a target. */
export async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') {
        throw error;
      }
      return false;
    },
  );
}

/** Flushes the names in a folder to the disk, so that a loss of power does not undo a rename. Some file systems cannot, and need not. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EOPNOTSUPP'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw error;
    }
  } finally {
    await handle.close();
  }
}
