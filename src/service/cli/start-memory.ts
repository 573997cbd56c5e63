import { Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';

/**
 * Gives back what loading and compiling have left behind, a third of the process. V8 alone does so only when its young generation, which
 * has grown to its full size by then, is used up once more: minutes later. Everything stands still for it (50 ms), so it comes before the
 * first request. Asked of the inspector, because `--expose-gc` set at run time would make V8 refuse the compile cache.
 */
export async function freeStartMemory(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
}

/**
 * How V8 treats its old generation from now on; earlier it would change the flags that the compile cache holds for. What V8 and malloc read
 * when the process starts is set by `bin/roomservice.js`.
 *
 * It is cleared when it has grown by half, not only when it is four times as large: a list of a million orders grows the process by
 * some 50 MB instead of 120. (With less than half, a busy process clears so often that it answers fewer calls; from the start on it
 * would collect again and again while everything is loaded.)
 *
 * What requests make is not born in it. V8 learns where long-lived objects are made, and while menus are loaded it learns that of code
 * which later works for every request: what that makes is then old at once, and keeps alive whatever it points to until the next full
 * collection.
 */
export function settleOldGeneration(): void {
  setFlagsFromString('--heap-growing-percent=50');
  setFlagsFromString('--no-allocation-site-pretenuring');
}
