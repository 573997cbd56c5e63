/**
 * Loaded into a process of the service before anything else (`--import`): says how long its event loop stood still since it was
 * last asked, and what memory it holds. Asked over IPC, so that the answer comes after all that was done before the question.
 */
import { performance } from 'node:perf_hooks';

const TICK_MS = 4;

/** What one process says of itself. */
export interface Reading {
  /** The longest time between two turns of the event loop: its own work, and the machine's being busy with others. */
  standstillMs: number;
  /** The most processor time that the main thread used between two turns: its own work, whatever else the machine did. */
  heldMs: number;
  residentMiB: number;
  /** Since the process began. */
  peakMiB: number;
}

let standstillMs = 0;
let heldMs = 0;
let lastMs = performance.now();
let lastProcessorMs = processorMs();

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function look(): void {
  const [nowMs, usedMs] = [performance.now(), processorMs()];
  standstillMs = Math.max(standstillMs, nowMs - lastMs - TICK_MS);
  heldMs = Math.max(heldMs, usedMs - lastProcessorMs);
  lastMs = nowMs;
  lastProcessorMs = usedMs;
}

function read(): Reading {
  look();
  const mebibytes = (bytes: number) => Math.round(bytes / 1024 ** 2);
  const reading = {
    standstillMs,
    heldMs,
    residentMiB: mebibytes(process.memoryUsage.rss()),
    peakMiB: mebibytes(process.resourceUsage().maxRSS * 1024),
  };
  standstillMs = 0;
  heldMs = 0;
  return reading;
}

if (process.send !== undefined) {
  setInterval(look, TICK_MS).unref();
  process.on('message', () => process.send?.(read()));
  process.on('disconnect', () => process.exit(1));
  process.channel?.unref();
}
