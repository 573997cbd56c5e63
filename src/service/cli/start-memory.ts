import { Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';
import { READY_FLAGS } from './start-settings.js';

/**
 * Frees the memory that was needed only to load and compile the code, which is a third of the memory of the process. Without this function,
 * V8 frees this memory only minutes later, because its young generation must first grow to its full size and then fill again. The garbage
 * collection stops the process for 50 ms, so it runs before the first request. The inspector starts the collection, because V8 would refuse
 * the compile cache if `--expose-gc` were set at run time.
 */
export async function freeStartMemory(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
}

/** Sets the flags of `READY_FLAGS`, which change how V8 fills and collects its old generation from now on. */
export function settleOldGeneration(): void {
  READY_FLAGS.forEach((flag) => setFlagsFromString(flag));
}
