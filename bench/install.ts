import { execFile } from 'node:child_process';
import { copyFile, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { tell } from './progress.ts';

/** Time limit of one installation in milliseconds. Directus has a thousand packages. */
const TIME_LIMIT_MS = 600_000;

/**
 * Installs the packages of bench/`folder`/package.json, if they are missing or have other versions than its package-lock.json says.
 * @param signal signal that ends the installation
 * @throws Error if the installation fails, for example because the package registry is out of reach
 */
export async function installPackages(folder: 'queues' | 'directus', signal: AbortSignal): Promise<void> {
  const cwd = join(import.meta.dirname, folder);
  const lock = join(cwd, 'package-lock.json');
  // Copy of package-lock.json, made after each successful installation. If the copy equals package-lock.json, the packages are up to date.
  const installedLock = join(cwd, 'node_modules/.installed-lock.json');
  const [wanted, installed] = await Promise.all([
    readFile(lock, 'utf8'),
    readFile(installedLock, 'utf8').catch(() => null),
  ]);
  if (wanted === installed) {
    return;
  }
  tell(`installing the packages of bench/${folder}/package.json`);
  // npm finds Node by PATH. The folder of this process's Node comes first in PATH, so npm runs on the same Node.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  // With `--fetch-retries=0`, npm fails immediately if the package registry is out of reach.
  const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=0'];
  try {
    await promisify(execFile)('npm', args, { cwd, env, timeout: TIME_LIMIT_MS, signal });
  } catch (error) {
    console.error((error as Error).message); // The message has the output of npm.
    throw new Error(`npm could not install the packages of bench/${folder}/package.json.`, { cause: error });
  }
  await copyFile(lock, installedLock);
}
