import { globSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findPostmaster, stopPostmaster } from '#platform/db/embedded/postmaster.ts';
import { isRunning } from './process.ts';

/** Environment variable with the path of the folder that all test processes of one run share. */
const VARIABLE = 'TEST_RUN_FOLDER';
/** Folder of Linux whose files are in memory and not on a disk. */
const MEMORY_FOLDER = '/dev/shm';
/** Free space in bytes that `MEMORY_FOLDER` must have. A run uses less than 2 GiB at any time. */
const NEEDED_SPACE = 4 * 1024 ** 3;

/** Beginning of the name of a run folder. After it, the name has the id of the process that runs the tests. */
const PREFIX = 'rs-run-';

/**
 * Makes the folder of all temporary files of this run, in memory if there is enough, which is twice as fast. Removes those of killed runs.
 */
export async function makeRunFolder(): Promise<void> {
  const parent = isMemoryFolderUsable() ? MEMORY_FOLDER : tmpdir();
  await removeFoldersOfKilledRuns(parent);
  const folder = await mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
  await chmod(folder, 0o755);
  process.env[VARIABLE] = folder;
  process.env['TMPDIR'] = folder;
}

async function removeFoldersOfKilledRuns(parent: string): Promise<void> {
  for (const name of globSync(`${PREFIX}*`, { cwd: parent })) {
    const folder = join(parent, name);
    const isOwn = statSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.();
    if (isOwn && !isRunning(Number.parseInt(name.slice(PREFIX.length), 10))) {
      for (const file of globSync('**/postmaster.pid', { cwd: folder })) {
        const clusterDir = dirname(join(folder, file));
        const postmaster = await findPostmaster(clusterDir);
        if (postmaster) {
          await stopPostmaster(clusterDir, postmaster.pid);
        }
      }
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/** Returns true if `MEMORY_FOLDER` is a file system in memory that has enough space and from which programs may be run. */
function isMemoryFolderUsable(): boolean {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
    const [, , type, options = ''] =
      mounts.map((line) => line.split(' ')).find(([, path]) => path === MEMORY_FOLDER) ?? [];
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return type === 'tmpfs' && !options.split(',').includes('noexec') && bavail * bsize >= NEEDED_SPACE;
  } catch {
    return false;
  }
}

/** Returns the folder that all test processes of this run share, or undefined if `npm test` has not started this process. */
export function runFolder(): string | undefined {
  return process.env[VARIABLE];
}

export async function removeRunFolder(): Promise<void> {
  // If the run was interrupted, its processes may still be stopping. They may write a file during the removal, so `rm` tries again.
  await rm(runFolder() ?? '', { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
