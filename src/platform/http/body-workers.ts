import { availableParallelism } from 'node:os';
import type { Piscina } from 'piscina';
import { ApiError, UnavailableError } from '../errors.ts';
import { currentAccount } from '../lib/account.ts';
import { FairGate } from '../lib/fair-gate.ts';
import { startTurn } from '../lib/turn.ts';
import type { BodyResult, BodyTask } from './body-worker.ts';
import type { EncodedBody } from './decode/decode-body.ts';

/** One core is left to the event loop. */
const MAX_THREADS = Math.max(1, Math.min(4, availableParallelism() - 1));
/** A thread costs some 40 MB of memory, and 0.1 s to start. */
const IDLE_MS = 10_000;
/** The worst megabyte, 350,000 empty objects, takes between 44 and 48 MiB; with more room the thread would collect its garbage later. */
const HEAP_MIB = { maxOldGenerationSizeMb: 60, maxYoungGenerationSizeMb: 4 };
const MAX_WAIT_MS = 20_000;

/** Decodes and validates bodies on threads of its own: what takes long there holds up nobody else. */
export interface BodyWorkers {
  /**
   * @param schema JSON of the schema of the value
   * @returns the value, without the fields that the schema does not name
   * @throws ApiError 400, 413, 415
   */
  check(body: EncodedBody, schema: string): Promise<unknown>;
  close(): Promise<void>;
}

/** No thread runs, and no package is loaded, before there is a body to check. Tenants take turns. */
export function createBodyWorkers(): BodyWorkers {
  let pool: Promise<Piscina> | undefined;
  const gate = new FairGate({
    limit: MAX_THREADS,
    maxWaitMs: MAX_WAIT_MS,
    waitedTooLong: () => new UnavailableError('Too many large bodies wait to be read.'),
  });

  async function check(body: EncodedBody, schema: string): Promise<BodyResult> {
    pool ??= openPool();
    return await gate.run(currentAccount().tenant, async () => {
      const task: BodyTask = { body, schema };
      const { buffer, length } = body.bytes;
      // Bytes with memory of their own move to the thread: a copy of them would be held as long. Small ones lie in Node's pool.
      const transferList = buffer.byteLength === length ? [buffer as ArrayBuffer] : [];
      return await (await pool)?.run(task, { transferList }).catch(refuseForNow);
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

/** The next call has a new thread. */
function refuseForNow(error: Error & { code?: unknown }): never {
  throw error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new UnavailableError('A worker thread was out of memory.', { cause: error })
    : error;
}

async function openPool(): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  return new Piscina({
    filename: new URL('body-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: MAX_THREADS,
    idleTimeout: IDLE_MS,
    recordTiming: false,
    resourceLimits: HEAP_MIB,
  });
}
