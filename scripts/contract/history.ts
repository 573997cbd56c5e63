import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/**
 * Returns the version of a document with which the current file is compared. If the file has uncommitted changes, this is the committed
 * version. Otherwise it is the version before the last commit that changed the file. Returns null if git does not have this version, for
 * example in a shallow clone or a downloaded archive.
 */
export async function documentBefore(repository: string, path: string): Promise<string | null> {
  const commits = await git(repository, 'log', '--max-count=2', '--format=%H', '--', path);
  const [last, beforeLast] = (commits ?? '').split('\n').filter(Boolean);
  const current = await readFile(join(repository, path), 'utf8');
  const committed = last === undefined ? null : await git(repository, 'show', `${last}:${path}`);
  if (committed !== current) {
    return committed;
  }
  return beforeLast === undefined ? null : await git(repository, 'show', `${beforeLast}:${path}`);
}

/** Null if git is not installed or fails. */
async function git(repository: string, ...options: string[]): Promise<string | null> {
  const run = execute('git', ['-C', repository, ...options], { maxBuffer: 64 * 1024 * 1024 });
  return await run.then(({ stdout }) => stdout).catch(() => null);
}
