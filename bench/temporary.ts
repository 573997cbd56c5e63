import { chmod, mkdtemp, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Temporary folder of this run. It is removed with its content at the end. */
interface TemporaryFolder {
  path: string;
  /** Path for the data folder of the service, which holds its embedded PostgreSQL. The service makes the data folder itself. */
  dataDir: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Makes a temporary folder. */
export async function openTemporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'roomservice-bench-'));
  // PostgreSQL runs under its own account, which must be able to enter the folder.
  await chmod(path, 0o755);
  const dataDir = join(path, 'data');
  return {
    path,
    dataDir,
    async [Symbol.asyncDispose]() {
      // If the account of PostgreSQL cannot enter the temporary folder, the service stores the database in another folder. In the data
      // folder, `postgres` is then a symbolic link into this other folder. This code removes the other folder and the temporary folder.
      const elsewhere = await readlink(join(dataDir, 'postgres')).catch(() => null);
      if (elsewhere !== null) {
        await rm(dirname(elsewhere), { recursive: true, force: true });
      }
      await rm(path, { recursive: true, force: true });
    },
  };
}
