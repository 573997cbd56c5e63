import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import type { Piscina } from 'piscina';
import { ApiError, UnavailableError } from '../errors.ts';
import { currentAccount } from '../lib/account.ts';
import { FairGate } from '../lib/fair-gate.ts';
import { startTurn } from '../lib/turn.ts';
import type { BodyResult, BodyTask } from './body-worker.ts';
import type { EncodedBody } from './decode/decode-body.ts';

/** Maximum number of worker threads. One core of the processor stays free for the event loop. */
const MAX_THREADS = Math.max(1, Math.min(4, availableParallelism() - 1));
/**
 * Time in milliseconds after which an idle thread ends. It ends because it occupies about 40 MB of memory. It does not end immediately,
 * because the start of a new thread takes 0.1 s.
 */
const IDLE_MS = 10_000;
/**
 * Bounds on the heap of a thread, in MiB. The body of 1 MiB that needs the most memory consists of 350,000 empty objects, and needs between
 * 44 and 48 MiB. With higher bounds, V8 would collect garbage later, so a thread would keep more memory.
 */
const HEAP_MIB = { maxOldGenerationSizeMb: 60, maxYoungGenerationSizeMb: 4 };
/** Maximum time in milliseconds that a body waits for a free thread. */
const MAX_WAIT_MS = 20_000;

/** Worker threads that decode and validate bodies, so that a slow body does not block other requests. */
export interface BodyWorkers {
  /**
   * Decodes and validates a body.
   * @param schema JSON text of the JSON Schema of the body
   * @returns the value, without the fields that the schema does not name
   * @throws ApiError 400 or 415 if the body is refused
   * @throws UnavailableError if the body waits too long for a thread, or if the thread runs out of memory
   */
  check(body: EncodedBody, schema: string): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Creates the workers. The first call of `check` loads the package for worker threads and starts the first thread. If bodies of several
 * tenants wait for a thread, the tenants take turns.
 */
export function createBodyWorkers(): BodyWorkers {
  let pool: Promise<Piscina> | undefined;
  const gate = new FairGate({
    limit: MAX_THREADS,
    maxWaitMs: MAX_WAIT_MS,
    waitedTooLong: () =>
      new UnavailableError('A large body waited too long for the validation of other large bodies. Try again.'),
  });

  async function check(body: EncodedBody, schema: string): Promise<BodyResult> {
    pool ??= openPool();
    return await gate.run(currentAccount().tenant, async () => {
      const task: BodyTask = { body, schema };
      const { buffer, length } = body.bytes;
      // A large body has a memory block of its own. This block is passed to the thread without a copy, because a copy would double the
      // memory until the thread has finished. A small body shares its memory block with other Buffers, so it must be copied.
      const transferList = buffer.byteLength === length ? [buffer as ArrayBuffer] : [];
      return await (await pool)?.run(task, { transferList }).catch(throwWorkerError);
    });
  }

  return {
    async check(body, schema) {
      const result = await check(body, schema);
      if ('refusal' in result) {
        const { statusCode, code, message } = result.refusal;
        throw new ApiError(statusCode, code, message);
      }
      await startTurn().next();
      return JSON.parse(result.json);
    },
    async close() {
      await (await pool)?.destroy();
    },
  };
}

/**
 * Throws an UnavailableError if a thread ran out of memory. Otherwise throws the given error. The thread has ended in both cases, and the
 * next body gets a new thread.
 */
function throwWorkerError(error: Error & { code?: unknown }): never {
  throw error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new UnavailableError('A worker thread ran out of memory during a validation. Try again.', { cause: error })
    : error;
}

async function openPool(): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  return new Piscina({
    // The worker has the same extension as this file: `.ts` in the sources, and `.js` in the npm package, which has compiled code.
    filename: new URL(`body-worker${extname(import.meta.filename)}`, import.meta.url).href,
    minThreads: 0,
    maxThreads: MAX_THREADS,
    idleTimeout: IDLE_MS,
    recordTiming: false,
    resourceLimits: HEAP_MIB,
  });
}
