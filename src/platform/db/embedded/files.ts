import { lchown, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { exists } from '../../lib/new-file.ts';
import type { Account } from './account.ts';

/** Creates a folder completely or not at all, also if several processes do so. @param witness file that only a complete folder has */
export async function createWhole(
  target: string,
  witness: string,
  build: (unfinished: string) => Promise<void>,
): Promise<void> {
  const isComplete = () => exists(join(target, witness));
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

/** Removes what begins with the prefix. What cannot be removed, because a process still writes to it, is left to the next call. */
async function removeAllStartingWith(prefix: string): Promise<void> {
  const folder = dirname(prefix);
  const names = (await readdir(folder)).filter((name) => name.startsWith(basename(prefix)));
  await Promise.allSettled(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

export async function chownTree(folder: string, account: Account): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true })) {
    await lchown(join(folder, entry), account.uid, account.gid);
  }
  await lchown(folder, account.uid, account.gid);
}
