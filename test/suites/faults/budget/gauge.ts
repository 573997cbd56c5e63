/**
 * Module that the flag `--import` of Node.js loads into a process of the service. At each IPC message, it reports the memory of the process
 * and the longest turn of the event loop since the previous message.
 */

const TICK_MS = 4;

export interface Reading {
  /**
   * Largest processor time that the main thread used between two ticks of a 4 ms timer, which is about that of the longest turn. Other
   * programs on the machine do not increase it.
   */
  heldMs: number;
  residentMiB: number;
  /** Largest resident memory. It is sampled, because the figure of the system begins with the memory of the parent process. */
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
