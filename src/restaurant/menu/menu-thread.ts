import { extname } from 'node:path';
import type { Piscina } from 'piscina';
import { ApiError, UnavailableError } from '#platform/errors.ts';
import type { PlannedMenu, PlanTask, Refusal } from './menu-worker.ts';
import { type RenderedMenu, renderedSize, renderMenu } from './rendering.ts';
import { type MenuOwner, type MenuTexts, parseMenu } from './stored-menu.ts';

/**
 * Time in milliseconds after which the idle thread ends. It ends because it occupies about 25 MB of memory. It does not end immediately,
 * because the start of a new thread takes a tenth of a second.
 */
const IDLE_MS = 10_000;
/** Bounds on the heap of the thread, in MiB. The document of 4 MiB that needs the most memory consists of empty objects. */
const HEAP_MIB = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 4 };

/** The one thread of the process that works on whole menus, so that a large menu does not block other requests. It starts when needed. */
let pool: ReturnType<typeof openPool> | undefined;

/**
 * Decodes and validates a menu document, and plans how it replaces the stored menu.
 * @throws ApiError 400 or 415 if the document is refused, UnavailableError if the thread runs out of memory
 */
export async function planInThread(task: PlanTask): Promise<PlannedMenu> {
  const result = await runInThread<PlannedMenu | { refusal: Refusal }>('plan', task);
  if ('refusal' in result) {
    const { statusCode, code, message } = result.refusal;
    throw new ApiError(statusCode, code, message);
  }
  return result;
}

/** Bounds on a small menu: the length of its stored texts, and its size for partners in bytes. Its rendering takes about 2 ms. */
const SMALL_TEXTS_LENGTH = 32 * 1024;
const SMALL_RENDERED_BYTES = 64 * 1024;

/** Renders a menu for partners: a small menu at once, because the thread may have to start, and a larger one on the thread. */
export async function renderForPartners(owner: MenuOwner, texts: MenuTexts): Promise<RenderedMenu> {
  const small = isShort(texts) ? renderMenu(owner, texts, SMALL_RENDERED_BYTES) : null;
  if (small !== null) {
    return small;
  }
  const { plain, gzipped, ...dishes } = await runInThread<RenderedMenu<Uint8Array>>('render', { owner, texts });
  return {
    plain: { ...plain, body: bufferOf(plain.body) },
    gzipped: { ...gzipped, body: bufferOf(gzipped.body) },
    ...dishes,
  };
}

/** Returns true if a menu is not too large for partners. */
export async function fitsPartners(owner: MenuOwner, texts: MenuTexts): Promise<boolean> {
  const isSmall = isShort(texts) && renderedSize(owner, parseMenu(texts), SMALL_RENDERED_BYTES) !== null;
  return isSmall || (await runInThread<boolean>('fits', { owner, texts }));
}

function isShort({ sections, dishes }: MenuTexts): boolean {
  return sections.length + dishes.length <= SMALL_TEXTS_LENGTH;
}

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
