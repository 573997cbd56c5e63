import { execFile } from 'node:child_process';
import { copyFile, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { tell } from '../progress.ts';

const LOCK = join(import.meta.dirname, 'package-lock.json');
/** Copy of the lock file that was made after the last successful installation. */
const INSTALLED_LOCK = join(import.meta.dirname, 'node_modules/.installed-lock.json');
const TIME_LIMIT_MS = 180_000;

/**
 * Installs the queue libraries of bench/queues/package.json, if they are missing or have other versions than package-lock.json says.
 * @throws Error if the installation fails, for example because the package registry is out of reach
 */
export async function installQueues(): Promise<void> {
  const [wanted, installed] = await Promise.all([
    readFile(LOCK, 'utf8'),
    readFile(INSTALLED_LOCK, 'utf8').catch(() => null),
  ]);
  if (wanted === installed) {
    return;
  }
  tell('installing the queue libraries of bench/queues/package.json');
  // The command finds Node by PATH, so it runs on the Node of this process.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', args, { cwd: import.meta.dirname, env, timeout: TIME_LIMIT_MS });
  await copyFile(LOCK, INSTALLED_LOCK);
}
