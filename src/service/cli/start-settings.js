// All settings of V8 and malloc that `serve` uses. This file is plain JavaScript, because bin/roomservice.js reads it before any TypeScript
// is loaded. The measurements are in docs/decisions/0006-runtime.md.

/**
 * Flags that V8 reads when the process starts. Without them, the young generation would grow to 134 MB on a machine with much memory. A
 * response with 300,000 orders would then take 107 MB instead of 48 MB.
 */
export const START_FLAGS = ['--max-semi-space-size=16'];

/**
 * Environment variables that malloc reads when the process starts. With them, malloc returns freed blocks of 64 KiB or more to the system,
 * for example the memory of password hashes.
 */
export const START_ENVIRONMENT = { MALLOC_MMAP_THRESHOLD_: '65536' };

/**
 * Flags that `serve` sets when it is ready. If they were set earlier, V8 would refuse the compile cache, which was made with other flags.
 *
 * `--heap-growing-percent=50` lets V8 collect the old generation when it has grown by half, not only when it is four times as large. So a
 * list of a million orders grows the process by about 50 MB instead of 120 MB. With a value below 50, a busy process would collect so often
 * that it serves fewer calls.
 *
 * `--no-allocation-site-pretenuring` keeps new objects of requests out of the old generation. By default, V8 learns which code makes
 * long-lived objects, and then allocates all objects of this code in the old generation. V8 learns this while menus are loaded. Requests
 * run a part of the same code, so their objects would be in the old generation too. These objects, and all objects that they point to,
 * would stay in memory until the next full collection.
 */
export const READY_FLAGS = ['--heap-growing-percent=50', '--no-allocation-site-pretenuring'];
