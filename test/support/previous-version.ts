import { execFileSync } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { newFolder } from './command.ts';

const ROOT = join(import.meta.dirname, '../..');
/**
 * Oldest commit whose processes can run beside all later versions of the service. Every later version can also migrate the database while
 * these processes run.
 */
export const OLDEST = 'db9855732f0a7a8d73d5514806933eaefcc7ded4';
/**
 * Commit of the previous release. Each new release replaces this value with a newer commit. Do not use a commit before 25502e06, because
 * such commits have a fault. After a migration changes a table, each prepared statement on this table fails once on each connection. So
 * during a rolling upgrade, processes of such a commit may respond with 503.
 */
export const PREVIOUS = '25502e062616bd88bcf7f26df0ff0427d336cf92';

/** Returns the reason why the version of a commit cannot be checked out, or null if it can. */
export function reasonWithout(commit: string): string | null {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT, stdio: 'ignore' });
    return null;
  } catch {
    return `the history of this checkout lacks commit ${commit}`;
  }
}

/**
 * Puts the files of a commit into a temporary folder, and links the npm packages of this checkout.
 * @returns the path of `bin/roomservice.js` in this folder
 */
export async function checkOut(commit: string): Promise<string> {
  const folder = join(await newFolder(), 'previous');
  await mkdir(folder);
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'bin/roomservice.js');
}
