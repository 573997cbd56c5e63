import { execFile } from 'node:child_process';
import { mkdir, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SIZE_BYTES = 2 * 1024 ** 3;
const run = promisify(execFile);

/** A small file system inside a file. A test can fill it without an effect on other file systems. */
export interface Volume {
  folder: string;
  fill(): Promise<void>;
  empty(): Promise<void>;
  unmount(): Promise<void>;
}

/** Returns undefined if this machine does not allow mounts. */
export async function mountVolume(parent: string): Promise<Volume | undefined> {
  const image = join(parent, 'volume.img');
  const folder = join(parent, 'volume');
  const ballast = join(folder, 'ballast');
  try {
    await mkdir(folder);
    await writeFile(image, '');
    await truncate(image, SIZE_BYTES);
    await run('mkfs.ext4', ['-q', '-m', '0', image]);
    await run('mount', ['-o', 'loop', image, folder]);
  } catch {
    await rm(image, { force: true });
    await rm(folder, { recursive: true, force: true });
    return undefined;
  }
  return {
    folder,
    async fill() {
      const { bavail, bsize } = await statfs(folder);
      await run('fallocate', ['-l', String(Math.max(1, bavail - 64) * bsize), ballast]);
      await writeFile(`${ballast}.rest`, Buffer.alloc(64 * 1024 * 1024)).catch(() => {});
    },
    async empty() {
      await rm(ballast, { force: true });
      await rm(`${ballast}.rest`, { force: true });
    },
    unmount: async () => void (await run('umount', [folder])),
  };
}
