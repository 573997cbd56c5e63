import { extname } from 'node:path';
import type { Piscina } from 'piscina';
import { ApiError, UnavailableError } from '#platform/errors.ts';
import type { PlannedMenu, PlanTask, Refusal } from './menu-worker.ts';
import { type RenderedMenu, renderedSize, renderMenu } from './rendering.ts';
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
