import { extname } from 'node:path';
import type { Piscina } from 'piscina';
import { ApiError, UnavailableError } from '#platform/errors.ts';
import type { PlannedMenu, PlanTask, Refusal } from './menu-worker.ts';
import { fitsInto, type RenderedMenu, renderMenu } from './rendering.ts';
import { type MenuOwner, type MenuTexts, parseMenu } from './stored-menu.ts';

/** The idle thread ends, because it occupies about 25 MB. Its start takes a tenth of a second. */
const IDLE_MS = 10_000;
/** In MiB. The document of 4 MiB that needs the most memory consists of empty objects. */
const HEAP_MIB = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 4 };

/** A large menu must not block other requests. */
let pool: ReturnType<typeof openPool> | undefined;

/** @throws ApiError 400 or 415 if the document is refused, UnavailableError if the thread runs out of memory */
export async function planInThread(task: PlanTask): Promise<PlannedMenu> {
  const result = await runInThread<PlannedMenu | { refusal: Refusal }>('plan', task);
  if ('refusal' in result) {
    const { statusCode, code, message } = result.refusal;
    throw new ApiError(statusCode, code, message);
  }
  return result;
}

/** Renders a menu for partners: a small menu at once, because the thread may have to start, and a larger one on the thread. */
export async function renderForPartners(owner: MenuOwner, texts: MenuTexts): Promise<RenderedMenu> {
  const task = { owner, texts };
  return isSmall(owner, texts) ? renderMenu(task) : await runInThread<RenderedMenu>('renderMenu', task);
}

/** Returns true if the menu is not too large for partners. */
export async function fitsPartners(owner: MenuOwner, texts: MenuTexts): Promise<boolean> {
  return isSmall(owner, texts) || (await runInThread<boolean>('fits', { owner, texts }));
}

const SMALL_TEXTS_LENGTH = 32 * 1024;
const SMALL_RENDERED_BYTES = 64 * 1024;

function isSmall(owner: MenuOwner, texts: MenuTexts): boolean {
  const isShort = texts.sections.length + texts.dishes.length <= SMALL_TEXTS_LENGTH;
  return isShort && fitsInto(SMALL_RENDERED_BYTES, owner, parseMenu(texts));
}

/** A buffer comes from the thread as a `Uint8Array`. */
export function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

async function runInThread<Result>(name: string, task: object): Promise<Result> {
  return await (await (pool ??= openPool())).run(task, { name }).catch((error: Error & { code?: unknown }) => {
    throw error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? new UnavailableError('The thread for menus ran out of memory. Try again.', { cause: error })
      : error;
  });
}

async function openPool(): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  return new Piscina({
    // The worker has the same extension as this file: `.ts` in the sources, and `.mjs` in the bundle.
    filename: new URL(`menu-worker${extname(import.meta.filename)}`, import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    recordTiming: false,
    resourceLimits: HEAP_MIB,
  });
}
