import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const OXLINT = join(import.meta.dirname, '..', '..', 'node_modules', 'oxlint', 'bin', 'oxlint');

/**
 * Runs the linter in a folder with the .oxlintrc.json of that folder. Rules that need type information do not run.
 * @returns one line for each offence
 */
export function lint(folder: string): string[] {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [OXLINT, '--format', 'unix'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (error !== undefined || status === null || status > 1)
    throw new Error(`The linter oxlint failed: ${stderr}`, { cause: error });
  return stdout.split('\n').filter((line) => /:\d+:\d+: /.test(line));
}
