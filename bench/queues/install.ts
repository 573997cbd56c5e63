import { execFile } from 'node:child_process';
import { copyFile, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { tell } from '../progress.ts';

const LOCK = join(import.meta.dirname, 'package-lock.json');
/**
 * Copy of package-lock.json, made after each successful installation. If the copy equals package-lock.json, the libraries are up to date.
 */
const INSTALLED_LOCK = join(import.meta.dirname, 'node_modules/.installed-lock.json');
const TIME_LIMIT_MS = 120_000;

/**
 * Installs the queue libraries of bench/queues/package.json, if they are missing or have other versions than package-lock.json says.
 * @param signal signal that ends the installation
 * @throws Error if the installation fails, for example because the package registry is out of reach
 */
export async function installQueues(signal: AbortSignal): Promise<void> {
  const [wanted, installed] = await Promise.all([
    readFile(LOCK, 'utf8'),
    readFile(INSTALLED_LOCK, 'utf8').catch(() => null),
  ]);
  if (wanted === installed) {
    return;
  }
  tell('installing the queue libraries of bench/queues/package.json');
  // npm finds Node by PATH. The folder of this process's Node comes first in PATH, so npm runs on the same Node.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  // With `--fetch-retries=0`, npm fails immediately if the package registry is out of reach.
  const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=0'];
  try {
    await promisify(execFile)('npm', args, { cwd: import.meta.dirname, env, timeout: TIME_LIMIT_MS, signal });
  } catch (error) {
    console.error((error as Error).message); // The message has the output of npm.
    throw new Error('npm could not install the queue libraries.', { cause: error });
  }
  await copyFile(LOCK, INSTALLED_LOCK);
}
