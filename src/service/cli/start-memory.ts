import { Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';
import { READY_FLAGS } from './start-settings.js';

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

/** Sets how V8 treats its old generation from now on. */
export function settleOldGeneration(): void {
  READY_FLAGS.forEach((flag) => setFlagsFromString(flag));
}
