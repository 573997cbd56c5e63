import { access, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ifAbsent } from './failure.ts';

/** Returns the path of a new data directory that is complete, but does not have its final name yet. */
export const completeDir = (clusterDir: string): string => `${clusterDir}.upgraded`;

/**
 * Returns the path to which an upgrade moves the data directory of an older PostgreSQL. The directory stays there until the operator
 * removes it.
 */
export const keptDir = (clusterDir: string, major: number): string => `${clusterDir}-${major}`;

/**
 * Puts the new data directory in the place of the old one, which stays under another name. PostgreSQL must not run on either directory. The
 * function renames directories in three steps:
 * 1. The new directory gets the name of `completeDir`, which shows that it is complete.
 * 2. The old directory gets the name of `keptDir`.
 * 3. The new directory gets the former name of the old directory (`finishSwap`).
 *
 * If the process ends before step 2, the old data is still in its place. If the process ends between step 2 and step 3, the next call of
 * `finishSwap` takes step 3.
 * @param clusterDir path of the old data directory
 * @param newDir path of the new data directory. It must be in the same folder as the old data directory, and completely written to disk.
 * @returns the path of the old data directory
 */
export async function swapClusters(clusterDir: string, newDir: string, oldMajor: number): Promise<string> {
  const kept = keptDir(clusterDir, oldMajor);
  await rename(newDir, completeDir(clusterDir));
  await syncFolder(dirname(clusterDir));
  await rename(clusterDir, kept);
  await finishSwap(clusterDir);
  return kept;
}

/**
 * Gives the new data directory its final name, if that name is free and the new directory is complete. The name is free after
 * `swapClusters` has moved the old directory. It stays free if the process ends at this point. Returns true if the name was free and the
 * new data directory has it now.
 */
export async function finishSwap(clusterDir: string): Promise<boolean> {
  if (await exists(clusterDir)) {
    return false;
  }
  try {
    await rename(completeDir(clusterDir), clusterDir);
  } catch (error) {
    ifAbsent(error);
    return await exists(clusterDir); // Another process may have finished the swap at the same time.
  }
  await syncFolder(dirname(clusterDir));
  return true;
}

export async function exists(path: string): Promise<boolean> {
  return (await access(path).then(() => true, ifAbsent)) === true;
}

/** Writes the names in a folder to disk, so that a loss of power does not undo the renames. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
