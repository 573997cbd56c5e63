import { totalmem } from 'node:os';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Logger } from 'pino';
import type { Caches, TenantCache } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { retrying } from '#platform/db/failures.ts';
import { UnavailableError } from '#platform/errors.ts';
import { etagInTurns } from '#platform/http/etag.ts';
import { startTurn } from '#platform/lib/turn.ts';
import { renderedBytes } from './rendered-size.ts';
import { DEFAULT_BOUNDS } from '#platform/lib/bounds.ts';
import { countListed, createRenderer, partnerDish } from './rendering.ts';
import type { Dish } from './schema.ts';
import { readMenu, readMenuVersion, type StoredMenu } from './store.ts';

/** The whole answer of `GET menu/`, in one content coding. */
export interface MenuAnswer {
  body: Buffer;
  etag: string;
}

/** The menu as partners see it, at one version: read by everyone, changed by nobody. */
export interface ListedMenu {
  plain: MenuAnswer;
  gzipped: MenuAnswer;
  dishes: {
    length: number;
    /** The JSON of some of them as it stands in the whole, with commas between: no copy. */
    slice: (from: number, until: number) => Buffer;
  };
  /** What can be ordered is what is listed (decision 18). */
  bySku: Pick<ReadonlyMap<string, Dish>, 'get'>;
}

export type ReadListedMenu = (tenant: { tenantId: number; currency: string }) => Promise<ListedMenu>;

/** Rendered menus kept: an eighth of the machine's memory, or of what a container is given. */
const MAX_KEPT_BYTES = Math.min(totalmem(), process.constrainedMemory() || Infinity) / 8;
/** Tenants whose menu's version is remembered. */
const MAX_VERSIONS = 50_000;

/** A tenant's menu that is kept, or being loaded: then its bytes are not counted yet. */
interface Kept {
  version: number;
  currency: string;
  menu: Promise<ListedMenu>;
  bytes: number;
  /** How many reads there were before its last. */
  lastRead: number;
}

/** A menu that is larger as bytes is rendered while no other such is: beside its bytes it takes time and memory. */
const LARGE_MENU_BYTES = 1024 * 1024;

export interface MenuReaderOptions {
  db: Database;
  caches: Caches;
  log: Logger;
  maxKeptBytes?: number;
  /** A menu that would be larger is not rendered. It was stored when there was no such bound, or a higher one. */
  maxRenderedBytes?: number;
}

/** A stored menu that is too large for partners, which staff can read and replace. */
class MenuTooLarge extends UnavailableError {}
const TOO_LARGE_RETRY_SECONDS = 60;

/**
 * Reads menus through a memory of rendered ones. The version is remembered while nothing of the tenant has changed, and the menu
 * itself is read, rendered and compressed once a version. The least recently used leave first.
 * @throws UnavailableError from the reader for a menu that is too large, which is in the log once a version
 */
export function createMenuReader(options: MenuReaderOptions): ReadListedMenu {
  const { db, caches, maxKeptBytes = MAX_KEPT_BYTES } = options;
  const loadMenu = createLoader(options);
  const versions: TenantCache<number> = caches.createCache(MAX_VERSIONS);
  /** By tenant. */
  const kept = new Map<number, Kept>();
  let keptBytes = 0;
  let reads = 0;

  function forget(tenantId: number): void {
    keptBytes -= kept.get(tenantId)?.bytes ?? 0;
    kept.delete(tenantId);
  }

  // Looked for among all of them, which is nothing beside a menu that is loaded; put in order, they would cost every read a microsecond.
  function forgetLeastRecentlyRead(): void {
    while (keptBytes > maxKeptBytes && kept.size > 1) {
      const [tenantId] = [...kept].reduce((a, b) => (a[1].lastRead < b[1].lastRead ? a : b));
      forget(tenantId);
    }
  }

  /** In the place of the version that is kept. */
  function load(tenantId: number, version: number, currency: string): Kept {
    forget(tenantId);
    const menu = retrying(() => loadMenu(tenantId, currency));
    const loading: Kept = { version, currency, menu, bytes: 0, lastRead: reads };
    kept.set(tenantId, loading);
    // It may have left while it was loaded.
    const isKept = () => kept.get(tenantId) === loading;
    menu.then(
      ({ plain, gzipped }) => {
        if (isKept()) {
          loading.bytes = plain.body.length + gzipped.body.length;
          keptBytes += loading.bytes;
          forgetLeastRecentlyRead();
        }
      },
      (error: unknown) => {
        // A version that is too large stays so.
        if (isKept() && !(error instanceof MenuTooLarge)) {
          forget(tenantId);
        }
      },
    );
    return loading;
  }

  const loadVersion = (tenantId: number) => versions.load(tenantId, tenantId, () => readMenuVersion(db, tenantId));

  return async ({ tenantId, currency }) => {
    const version = versions.get(tenantId) ?? (await loadVersion(tenantId));
    const current = kept.get(tenantId);
    const isCurrent = current?.version === version && current.currency === currency;
    const entry = isCurrent ? current : load(tenantId, version, currency);
    reads += 1;
    entry.lastRead = reads;
    return await entry.menu;
  };
}

/** Menus of other sizes do not wait for the large ones, of which one is in the making at a time. */
function createLoader({ db, log, maxRenderedBytes = DEFAULT_BOUNDS.renderedMenuBytes }: MenuReaderOptions) {
  const oneByOne = inLine();

  async function load(tenantId: number, currency: string, maxBytes: number): Promise<ListedMenu | null> {
    const menu = await readMenu(db, tenantId);
    const bytes = await renderedBytes(tenantId, menu);
    if (bytes > maxRenderedBytes) {
      log.error(
        { tenant_id: tenantId, rendered_bytes: bytes, max_bytes: maxRenderedBytes },
        'a menu is too large for partners, who are answered 503: replace it (PUT /v1/staff/menu/) by a smaller one',
      );
      throw new MenuTooLarge('The menu is too large.', { retryAfterSeconds: TOO_LARGE_RETRY_SECONDS, isLogged: true });
    }
    return bytes > maxBytes ? null : await listMenu(tenantId, currency, menu, bytes);
  }

  return async (tenantId: number, currency: string): Promise<ListedMenu> => {
    // A large one is read again in its turn: so what waits holds nothing.
    const menu =
      (await load(tenantId, currency, LARGE_MENU_BYTES)) ?? (await oneByOne(() => load(tenantId, currency, Infinity)));
    if (menu === null) {
      throw new Error('there is no menu above all sizes');
    }
    return menu;
  };
}

/** Makes a function that does one piece of work after the other. */
function inLine(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<void> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.then(
      () => {},
      () => {},
    );
    return done;
  };
}

const compress = promisify(gzip);

/**
 * The menu as bytes. A dish is read out of them when it is asked for: as objects, a real menu takes three times the memory of its
 * bytes. That costs some 20 µs a dish, so the few that were ordered last are kept.
 * @param bytes the length of the whole
 */
async function listMenu(tenantId: number, currency: string, menu: StoredMenu, bytes: number): Promise<ListedMenu> {
  const turn = startTurn();
  const render = createRenderer(tenantId, currency, { ...menu, dishCounts: countListed(menu.dishes) });
  const body = Buffer.allocUnsafeSlow(bytes);
  /** Where each dish begins, and one place after the last where another would. */
  const begins = [1];
  const positions = new Map<string, number>();
  let end = body.write('[');
  for (const dish of menu.dishes) {
    if (dish.is_active) {
      positions.set(dish.sku, positions.size);
      end += body.write(`${positions.size > 1 ? ',' : ''}${JSON.stringify(partnerDish(render(dish)))}`, end);
      begins.push(end + 1);
    }
    if (turn.isOver()) {
      await turn.next();
    }
  }
  end += body.write(']', end);
  if (end !== bytes) {
    throw new Error(`a menu was measured wrong: ${end} bytes, not ${bytes}`);
  }
  const slice = (from: number, until: number) => {
    const last = Math.min(until, positions.size);
    return from < last ? body.subarray(begins[from], (begins[last] ?? 0) - 1) : body.subarray(0, 0);
  };
  return {
    plain: { body, etag: await etagInTurns(body) },
    gzipped: await gzippedAnswer(body),
    dishes: { length: positions.size, slice },
    bySku: createDishReader((sku) => {
      const position = positions.get(sku);
      return position === undefined ? undefined : slice(position, position + 1);
    }),
  };
}

/** Dishes of a menu that are kept as objects: what is ordered most is ordered again soon. */
const MAX_RECENT = 16;
/** A larger one is not kept; a real one has some 2 KB. */
const MAX_RECENT_BYTES = 16 * 1024;

function createDishReader(textOf: (sku: string) => Buffer | undefined): ListedMenu['bySku'] {
  const recent = new Map<string, Dish>();
  const remember = (sku: string, dish: Dish) => {
    recent.set(sku, dish);
    const [oldest] = recent.keys();
    if (recent.size > MAX_RECENT && oldest !== undefined) {
      recent.delete(oldest);
    }
  };
  return {
    get(sku) {
      const known = recent.get(sku);
      const text = known === undefined ? textOf(sku) : undefined;
      if (text === undefined) {
        return known;
      }
      const dish = JSON.parse(text.toString()) as Dish;
      if (text.length <= MAX_RECENT_BYTES) {
        remember(sku, dish);
      }
      return dish;
    },
  };
}

async function gzippedAnswer(plain: Buffer): Promise<MenuAnswer> {
  const body = await compress(plain);
  return { body, etag: await etagInTurns(body) };
}
