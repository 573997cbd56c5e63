import { execFileSync } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { newFolder } from './command.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Commit of the previous version. Each release replaces it by the commit of the release before. */
const PREVIOUS = 'db9855732f0a7a8d73d5514806933eaefcc7ded4';

/** Returns the reason why the previous version cannot be checked out, or null if it can. */
export function reasonWithoutPrevious(): string | null {
  try {
    execFileSync('git', ['cat-file', '-e', `${PREVIOUS}^{commit}`], { cwd: ROOT, stdio: 'ignore' });
    return null;
  } catch {
    return `the history of this checkout lacks commit ${PREVIOUS}`;
  }
}

/** Puts the files of the previous version into a temporary folder, with the packages of this checkout. Returns its `bin/roomservice.js`. */
export async function checkOutPrevious(): Promise<string> {
  const folder = join(await newFolder(), 'previous');
  await mkdir(folder);
  const archive = execFileSync('git', ['archive', PREVIOUS], { cwd: ROOT, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'bin/roomservice.js');
}
