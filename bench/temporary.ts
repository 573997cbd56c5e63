import { chmod, mkdtemp, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder of this run's own, removed with all that is in it. */
export interface TemporaryFolder {
  path: string;
  /** For the service: where its embedded PostgreSQL lives. Not made yet. */
  dataDir: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openTemporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'roomservice-bench-'));
  await chmod(path, 0o755); // PostgreSQL's own account must be able to enter.
  const dataDir = join(path, 'data');
  return {
    path,
    dataDir,
    async [Symbol.asyncDispose]() {
      // Where that account cannot enter the temporary folder, the database lives elsewhere, and a link says where.
      const elsewhere = await readlink(join(dataDir, 'postgres')).catch(() => null);
      if (elsewhere !== null) {
        await rm(dirname(elsewhere), { recursive: true, force: true });
      }
      await rm(path, { recursive: true, force: true });
    },
  };
}
