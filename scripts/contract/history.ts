import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/**
 * The document as it was before the change at hand: the committed one where the file differs from it, else the one before the
 * last commit that touched it. Null where the history does not reach back so far, as in a download or a shallow clone.
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

/** Null where git is not there, or has nothing to say. */
async function git(repository: string, ...options: string[]): Promise<string | null> {
  const run = execute('git', ['-C', repository, ...options], { maxBuffer: 64 * 1024 * 1024 });
  return await run.then(({ stdout }) => stdout).catch(() => null);
}
