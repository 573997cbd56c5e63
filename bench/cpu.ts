import { readdir, readFile } from 'node:fs/promises';

/** Length of one tick, the time unit of /proc/PID/stat (`getconf CLK_TCK`), in milliseconds. It is 10 ms on every machine with Linux. */
const TICK_MS = 10;

/**
 * Returns the total CPU time of the main threads of these processes since their start, in milliseconds. It does not include other threads
 * or child processes. But it is more precise than the result of `cpuMsOf`, because Linux counts this time in nanoseconds, not in ticks.
 * @throws Error on systems other than Linux
 */
export async function onCpuMsOf(pids: number[]): Promise<number> {
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/schedstat`, 'utf8')));
  // The first field of /proc/PID/schedstat is the CPU time in nanoseconds (Documentation/scheduler/sched-stats.rst of Linux).
  return stats.reduce((sum, stat) => sum + Number(stat.split(' ', 1)[0]) / 1_000_000, 0);
}

interface CpuTimes {
  parent: number;
  /** CPU time of the process with all its threads, in milliseconds. */
  ownMs: number;
  /** CPU time of the children of the process that have ended, in milliseconds. */
  endedChildrenMs: number;
}

/**
 * Returns the CPU time in milliseconds that a process and all its children have used since they started. Includes all threads, and also
 * children that have ended. Returns null on systems other than Linux.
 */
export async function cpuMsOf(pid: number): Promise<number | null> {
  if (process.platform !== 'linux') {
    return null;
  }
  const pids = (await readdir('/proc')).map(Number).filter((each) => each > 0);
  const all = await Promise.all(pids.map(async (each) => ({ pid: each, times: await cpuTimesOf(each) })));
  const family = all.filter((each) => each.pid === pid || each.times?.parent === pid);
  return family.reduce((sum, { times }) => sum + (times?.ownMs ?? 0) + (times?.endedChildrenMs ?? 0), 0);
}

/** Reads /proc/PID/stat. Returns null if the process has ended. */
async function cpuTimesOf(pid: number): Promise<CpuTimes | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) {
    return null;
  }
  // The name of the program is in parentheses and may contain spaces, so the fields are counted from the last parenthesis. proc_pid_stat(5)
  // numbers the fields from 1, and the first field after the name has the number 3.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  return {
    parent: field(4),
    ownMs: (field(14) + field(15)) * TICK_MS,
    endedChildrenMs: (field(16) + field(17)) * TICK_MS,
  };
}
