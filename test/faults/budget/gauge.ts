/**
 * Module that the flag `--import` of Node.js loads into a process of the service. On request, it reports the memory of the process. It also
 * reports the longest pauses of the event loop since the previous request. A request is an IPC message. The event loop handles it only
 * after the work that began earlier, so the report includes this work.
 */
import { performance } from 'node:perf_hooks';

const TICK_MS = 4;

/** Measurements of one process. */
export interface Reading {
  /** Longest pause of the event loop by the wall clock. The process itself or other programs on the machine can cause a pause. */
  standstillMs: number;
  /**
   * Largest processor time that the main thread used between two ticks of a 4 ms timer. A long turn of the event loop delays the next tick.
   * So the value is approximately the processor time of the longest turn. Other programs on the machine do not increase this time.
   */
  heldMs: number;
  residentMiB: number;
  /** Largest resident memory since the start of the process. */
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
