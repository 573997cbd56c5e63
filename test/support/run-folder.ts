import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Environment variable with the path of the folder that all test processes of one run share. */
const VARIABLE = 'TEST_RUN_FOLDER';

/** Makes the folder that all test processes of this run share. Every user may enter it. */
export async function makeRunFolder(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'rs-run-'));
  await chmod(folder, 0o755);
  process.env[VARIABLE] = folder;
}

/** Returns the folder that all test processes of this run share, or undefined if `npm test` has not started this process. */
export function runFolder(): string | undefined {
  return process.env[VARIABLE];
}

export async function removeRunFolder(): Promise<void> {
  await rm(runFolder() ?? '', { recursive: true, force: true });
}
