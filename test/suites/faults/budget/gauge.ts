/**
 * Module that the flag `--import` of Node.js loads into a process of the service. On request, it reports the memory of the process and the
 * longest turn of the event loop since the previous request. A request is an IPC message. The event loop handles it only after the work
 * that began earlier, so the report includes this work.
 */

const TICK_MS = 4;

/** Measurements of one process. */
export interface Reading {
  /**
   * Largest processor time that the main thread used between two ticks of a 4 ms timer. A long turn of the event loop delays the next tick.
   * So the value is approximately the processor time of the longest turn. Other programs on the machine do not increase this time.
   */
  heldMs: number;
  residentMiB: number;
  /**
   * Largest resident memory since the previous request. It is sampled, because the figure of the operating system begins with the memory of
   * the parent process.
   */
  peakMiB: number;
}

let heldMs = 0;
let peakBytes = 0;
let lastProcessorMs = processorMs();

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function look(): void {
  const usedMs = processorMs();
  heldMs = Math.max(heldMs, usedMs - lastProcessorMs);
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  lastProcessorMs = usedMs;
}

function read(): Reading {
  look();
  const mebibytes = (bytes: number) => Math.round(bytes / 1024 ** 2);
  const reading = { heldMs, residentMiB: mebibytes(process.memoryUsage.rss()), peakMiB: mebibytes(peakBytes) };
  heldMs = 0;
  peakBytes = 0;
  return reading;
}

if (process.send !== undefined) {
  setInterval(look, TICK_MS).unref();
  process.on('message', () => process.send?.(read()));
  process.on('disconnect', () => process.exit(1));
  process.channel?.unref();
}
