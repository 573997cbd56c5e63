import { Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';
import { READY_FLAGS } from './start-settings.js';

/**
 * Starts a garbage collection that frees the memory that was needed only to load and compile the code. This is a third of the memory of the
 * process. By itself, V8 would free it only minutes later. The garbage collection stops the process for 50 ms, so it runs before the first
 * request.
 *
 * The usual way to start a garbage collection is the flag `--expose-gc`. But V8 refuses the compile cache after a change of its flags at
 * run time. So the function uses a session of the inspector, which is the debugger interface of Node.
 */
export async function freeStartMemory(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
}

/**
 * Sets the V8 flags `READY_FLAGS`. With these flags, V8 collects its old generation (the heap of long-lived objects) earlier, and puts
 * fewer new objects into it.
 */
export function settleOldGeneration(): void {
  READY_FLAGS.forEach((flag) => setFlagsFromString(flag));
}
