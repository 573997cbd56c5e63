import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const OXLINT = join(import.meta.dirname, '..', '..', 'node_modules', 'oxlint', 'bin', 'oxlint');

/** What the linter finds in a folder by that folder's own .oxlintrc.json, a line each; without the rules that need types. */
export function lint(folder: string): string[] {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [OXLINT, '--format', 'unix'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (error !== undefined || status === null || status > 1)
    throw new Error(`oxlint failed: ${stderr}`, { cause: error });
  return stdout.split('\n').filter((line) => /:\d+:\d+: /.test(line));
}
