import { readFileSync } from 'node:fs';

/**
 * Returns true if the process runs. Returns false for a zombie, which is a process that has ended but that its parent
 * has not yet reaped.
 */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
