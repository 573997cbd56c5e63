import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;
/** Time in milliseconds after which the draft of another process counts as left behind by a killed process. */
const LEFTOVER_MS = 5_000;

/**
 * Writes a short file that must not exist yet, and flushes it to the disk. Only its owner can read it. Several processes may do this at the
 * same time: they all see the complete file of one of them, or no file. Needs no hard links, which FAT and many network shares do not have.
 * @returns false if the file exists, also if another process has just written it
 */
export async function writeNewFile(path: string, content: string): Promise<boolean> {
  const draft = `${path}.new`;
  for (const startMs = performance.now(); !(await exists(path)); await sleep(POLL_MS)) {
    try {
      return await publishNewFile(path, draft, (file) => file.writeFile(content));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw error;
      }
    }
    if (performance.now() > startMs + LEFTOVER_MS) {
      await rm(draft, { force: true });
    }
  }
  return false;
}

/**
 * Writes a file as a draft, which gets the name `path` when it is complete and on the disk. If this fails, the draft is removed. The name of
 * the draft is a lock: while one process has the draft, no other process can give `path` a file by the same draft.
 * @returns false if a file `path` exists, which stays unchanged
 * @throws the error EEXIST if the draft exists
 */
export async function publishNewFile(
  path: string,
  draft: string,
  write: (file: FileHandle) => Promise<unknown>,
): Promise<boolean> {
  const file = await open(draft, 'wx', 0o600);
  let isPublished = false;
  try {
    await write(file);
    await file.sync();
    await file.close();
    if (!(await exists(path))) {
      await rename(draft, path);
      isPublished = true;
      await syncFolder(dirname(path));
    }
    return isPublished;
  } finally {
    await file.close().catch(() => {});
    if (!isPublished) {
      await rm(draft, { force: true });
    }
  }
}

/** Returns true if the path has a file, a folder or a link, also a link without a target. */
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
