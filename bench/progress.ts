const startedAt = performance.now();

/** Prints a progress line to stderr, with the seconds since the start. Only the results table goes to stdout. */
export function tell(text: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.error(`${seconds.padStart(6)} s  ${text}`);
}
