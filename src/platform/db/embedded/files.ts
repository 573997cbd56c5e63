import { access, lchown, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Account } from './account.ts';

/**
 * Creates the folder `target` wholly or not at all: it is built under another name and renamed, so that a crash
 * leaves only rubbish, which the next call clears away. Several may try at once: the first to finish wins, the others
 * take its.
 * @param witness a path inside the finished folder whose presence says that it is complete
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
    try {
      const unfinished = await mkdtemp(prefix);
      await build(unfinished);
      await rename(unfinished, target);
    } catch (error) {
      if (!(await isComplete())) {
        throw error;
      }
    }
  }
  await removeAllStartingWith(prefix);
}

/** What cannot be removed now (somebody still writes there) is left to the next time. */
async function removeAllStartingWith(prefix: string): Promise<void> {
  const folder = dirname(prefix);
  const names = (await readdir(folder)).filter((name) => name.startsWith(basename(prefix)));
  await Promise.allSettled(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

/** Gives a folder and all that is in it to an account; links themselves, never what they point to. */
export async function chownTree(folder: string, account: Account): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true })) {
    await lchown(join(folder, entry), account.uid, account.gid);
  }
  await lchown(folder, account.uid, account.gid);
}
