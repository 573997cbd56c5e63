import { access, lchown, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Account } from './account.ts';

/**
 * Creates the folder `target` completely or not at all. The folder is built under a temporary name and then renamed. If a crash leaves a
 * temporary folder, the next call removes it. Several processes may call this function at the same time. The first process that finishes
 * creates `target`, and the other processes use this folder too.
 * @param witness path, inside the folder, of a file that exists only if the folder is complete
 */
export async function createWhole(
  target: string,
  witness: string,
  build: (unfinished: string) => Promise<void>,
): Promise<void> {
  const isComplete = () =>
    access(join(target, witness)).then(
      () => true,
      () => false,
    );
  const prefix = `${target}.unfinished-`;
  if (!(await isComplete())) {
    const unfinished = await mkdtemp(prefix);
    try {
      await build(unfinished);
      await rename(unfinished, target);
    } catch (error) {
      if (!(await isComplete())) {
        await removeAllStartingWith(unfinished);
        throw error;
      }
    }
  }
  await removeAllStartingWith(prefix);
}

/**
 * Removes all files and folders whose path begins with the prefix. If a folder cannot be removed, for example because another process still
 * writes to it, the next call removes this folder.
 */
async function removeAllStartingWith(prefix: string): Promise<void> {
  const folder = dirname(prefix);
  const names = (await readdir(folder)).filter((name) => name.startsWith(basename(prefix)));
  await Promise.allSettled(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

/** Makes the system user the owner of a folder and of everything in it. Changes the owner of symbolic links, but not of their targets. */
export async function chownTree(folder: string, account: Account): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true })) {
    await lchown(join(folder, entry), account.uid, account.gid);
  }
  await lchown(folder, account.uid, account.gid);
}
