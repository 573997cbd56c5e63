const startedAt = performance.now();

/** What is going on, on stderr: the table alone is on stdout. */
export function tell(text: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.error(`${seconds.padStart(6)} s  ${text}`);
}
