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
 * From now on V8 clears its old generation when that has grown by half, not only when it is four times as large: a list of a million
 * orders grows the process by some 50 MB instead of 120. (With less than half, a busy process clears so often that it answers fewer calls.) From
 * the start on it would collect again and again while everything is loaded; and it comes after the compile cache is written, which holds for
 * the flags it was made under alone.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=50');
}
