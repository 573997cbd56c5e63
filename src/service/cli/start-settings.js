// How `serve` sets V8 and malloc: the one place. Plain JavaScript, because bin/roomservice.js reads it before any TypeScript is loaded. The
// measurements are in docs/decisions/0006-runtime.md.

/**
 * What V8 reads when the process starts. On a machine with much memory the young generation would grow to 134 MB, and a list of 300,000
 * orders would take 107 MB instead of 48.
 */
export const START_FLAGS = ['--max-semi-space-size=16'];

/** What malloc reads when the process starts. Blocks from 64 KiB on go back to the system when they are freed, such as those of password hashes. */
export const START_ENVIRONMENT = { MALLOC_MMAP_THRESHOLD_: '65536' };

/**
 * What is set once `serve` is ready; earlier it would change the flags that the compile cache holds for.
 *
 * The old generation is cleared when it has grown by half, not only when it is four times as large: a list of a million orders grows the
 * process by some 50 MB instead of 120. (With less than half, a busy process clears so often that it answers fewer calls.)
 *
 * What requests make is not born in it. V8 learns where long-lived objects are made, and while menus are loaded it learns that of code
 * which later works for every request: what that makes is then old at once, and keeps alive whatever it points to until the next full
 * collection.
 */
export const READY_FLAGS = ['--heap-growing-percent=50', '--no-allocation-site-pretenuring'];
