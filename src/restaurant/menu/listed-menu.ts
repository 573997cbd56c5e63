import { totalmem } from 'node:os';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Logger } from 'pino';
import type { Caches, TenantCache } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { UnavailableError } from '#platform/errors.ts';
import { etagInTurns } from '#platform/http/etag.ts';
import { startTurn } from '#platform/lib/turn.ts';
import { renderedBytes } from './rendered-size.ts';
import { DEFAULT_BOUNDS } from '#platform/lib/bounds.ts';
import { countListed, createRenderer, partnerDish } from './rendering.ts';
import type { Dish } from './schema.ts';
import { readMenu, readMenuVersion, type StoredMenu } from './store.ts';

/** Body and ETag of the whole menu, plain or gzipped, for `GET /v1/third-party/menu/`. */
export interface MenuAnswer {
  body: Buffer;
  etag: string;
}

/** One version of a menu, as partners see it. All readers share this object, and it is never changed. */
export interface ListedMenu {
  plain: MenuAnswer;
  gzipped: MenuAnswer;
  dishes: {
    length: number;
    /**
     * Returns the JSON of the dishes from position `from` (inclusive) to position `until` (exclusive), with commas between the dishes. The
     * bytes are not copied.
     */
    slice: (from: number, until: number) => Buffer;
  };
  /** Active dishes of the menu, by sku. Only active dishes can be ordered (decision 18). */
  bySku: Pick<ReadonlyMap<string, Dish>, 'get'>;
}

export type ReadListedMenu = (tenant: { tenantId: number; currency: string }) => Promise<ListedMenu>;

/** Maximum number of bytes of cached menus: an eighth of the memory of the machine or of the container. */
const MAX_CACHED_BYTES = Math.min(totalmem(), process.constrainedMemory() || Infinity) / 8;
/** Maximum number of tenants for which the process caches the version number of the menu. */
const MAX_VERSIONS = 50_000;

/** Menu of a tenant in the cache. While the menu is loading, `bytes` is 0. */
interface CachedMenu {
  version: number;
  currency: string;
  menu: Promise<ListedMenu>;
  bytes: number;
  /**
   * Sequence number of the last read of this menu. The reads of all menus share one sequence, so the menu with the lowest number is
   * evicted first.
   */
  lastRead: number;
}

/** Size of a rendered menu, in bytes, above which menus are rendered one at a time, because rendering them takes much time and memory. */
const LARGE_MENU_BYTES = 1024 * 1024;

export interface MenuReaderOptions {
  db: Database;
  caches: Caches;
  log: Logger;
  maxCachedBytes?: number;
  /**
   * Maximum number of bytes of a rendered menu. Partners get 503 for a larger menu. A stored menu may be too large because the bound was
   * higher, or did not exist, when the menu was written.
   */
  maxRenderedBytes?: number;
}

/** Error for a stored menu that is larger than `maxRenderedBytes`, so partners cannot get it. Staff can still read and replace the menu. */
class MenuTooLarge extends UnavailableError {}
const TOO_LARGE_RETRY_SECONDS = 60;

/**
 * Returns a function that reads a menu, and that uses two caches:
 * - Rendered menus. If the current version of a menu is not cached, the function reads, renders and compresses the menu. If this cache is
 *   full, the least recently read menu is evicted.
 * - The number of the current version of each menu. A change of any data of the tenant invalidates this number.
 * @throws UnavailableError from the returned function if the menu is larger than `maxRenderedBytes`. The error is logged once for each
 * version of the menu.
 */
export function createMenuReader(options: MenuReaderOptions): ReadListedMenu {
  const { db, caches, maxCachedBytes = MAX_CACHED_BYTES } = options;
  const loadMenu = createLoader(options);
  const versions: TenantCache<number> = caches.createCache(MAX_VERSIONS);
  /** Cached menus by tenant id. */
  const cached = new Map<number, CachedMenu>();
  let cachedBytes = 0;
  let reads = 0;

  function evict(tenantId: number): void {
    cachedBytes -= cached.get(tenantId)?.bytes ?? 0;
    cached.delete(tenantId);
  }

  /**
   * Evicts the least recently read menus until the other menus fit into the cache. Each eviction searches all cached menus, which is cheap
   * compared with loading a menu. A sorted list would need no search, but it would make every read a microsecond slower.
   */
  function evictLeastRecentlyRead(): void {
    while (cachedBytes > maxCachedBytes && cached.size > 1) {
      const [tenantId] = [...cached].reduce((a, b) => (a[1].lastRead < b[1].lastRead ? a : b));
      evict(tenantId);
    }
  }

  /** Starts to load a version of a menu, and caches it in place of the previously cached version. */
  function load(tenantId: number, version: number, currency: string): CachedMenu {
    evict(tenantId);
    const menu = withRetries(() => loadMenu(tenantId, currency));
    const loading: CachedMenu = { version, currency, menu, bytes: 0, lastRead: reads };
    cached.set(tenantId, loading);
    // During the load, another version may have taken the place of this entry, or the entry may have been evicted. Then the loaded menu
    // must not change the cache.
    const isStillCached = () => cached.get(tenantId) === loading;
    menu.then(
      ({ plain, gzipped }) => {
        if (isStillCached()) {
          loading.bytes = plain.body.length + gzipped.body.length;
          cachedBytes += loading.bytes;
          evictLeastRecentlyRead();
        }
      },
      (error: unknown) => {
        // A version of a menu that is too large stays too large, so its error stays cached.
        if (isStillCached() && !(error instanceof MenuTooLarge)) {
          evict(tenantId);
        }
      },
    );
    return loading;
  }

  const loadVersion = (tenantId: number) => versions.load(tenantId, tenantId, () => readMenuVersion(db, tenantId));

  return async ({ tenantId, currency }) => {
    const version = versions.get(tenantId) ?? (await loadVersion(tenantId));
    const current = cached.get(tenantId);
    const isCurrent = current?.version === version && current.currency === currency;
    const entry = isCurrent ? current : load(tenantId, version, currency);
    reads += 1;
    entry.lastRead = reads;
    return await entry.menu;
  };
}

/**
 * Returns a function that loads and renders a menu. Large menus wait in a queue, and are rendered one at a time. Small menus do not wait.
 */
function createLoader({ db, log, maxRenderedBytes = DEFAULT_BOUNDS.renderedMenuBytes }: MenuReaderOptions) {
  const inQueue = createQueue();

  async function load(tenantId: number, currency: string, maxBytes: number): Promise<ListedMenu | null> {
    const menu = await readMenu(db, tenantId);
    const bytes = await renderedBytes(tenantId, menu);
    if (bytes > maxRenderedBytes) {
      log.error(
        { tenant_id: tenantId, rendered_bytes: bytes, max_bytes: maxRenderedBytes },
        'The menu is too large, so partners get 503. Replace it with a smaller menu (PUT /v1/staff/menu/).',
      );
      throw new MenuTooLarge(
        `The menu has ${bytes} bytes for partners, and the limit is ${maxRenderedBytes} bytes. The restaurant must make it smaller.`,
        { retryAfterSeconds: TOO_LARGE_RETRY_SECONDS, isLogged: true },
      );
    }
    return bytes > maxBytes ? null : await listMenu(tenantId, currency, menu, bytes);
  }

  return async (tenantId: number, currency: string): Promise<ListedMenu> => {
    // A menu of at most `LARGE_MENU_BYTES` is rendered without a wait. For a larger menu, `load` returns null, and the menu waits in the
    // queue. Then `load` reads this menu from the database again, and renders it without a limit. So a waiting menu uses no memory.
    const menu =
      (await load(tenantId, currency, LARGE_MENU_BYTES)) ?? (await inQueue(() => load(tenantId, currency, Infinity)));
    if (menu === null) {
      throw new Error('The menu was not loaded because of its size, although this call has no size limit.');
    }
    return menu;
  };
}

/** Returns a function that runs its tasks one after the other. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
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
 * Renders the menu to bytes. Only the bytes stay in memory, because the parsed objects of a real menu take three times as much. A dish is
 * parsed from the bytes when an order needs it. Parsing takes about 20 µs for each dish. To save this time, the few dishes that were
 * parsed last stay in a cache.
 * @param bytes length of the whole menu, from `renderedBytes`
 */
async function listMenu(tenantId: number, currency: string, menu: StoredMenu, bytes: number): Promise<ListedMenu> {
  const turn = startTurn();
  const render = createRenderer(tenantId, currency, { ...menu, dishCounts: countListed(menu.dishes) });
  const body = Buffer.allocUnsafeSlow(bytes);
  /** Positions in `body` of the first byte of each dish. The last entry is the position where a further dish would begin. */
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
    throw new Error(`The rendered menu has ${end} bytes, but its computed size is ${bytes} bytes.`);
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

/**
 * Maximum number of dishes in the cache of parsed dishes of one menu. A dish in this cache is not parsed again when it is ordered. If the
 * cache is full, a new dish takes the place of the dish that was parsed first.
 */
const MAX_RECENT = 16;
/**
 * Maximum size of a dish, in bytes of its JSON, in the cache of parsed dishes. A larger dish is parsed again for each order. A real dish
 * has about 2 KB.
 */
const MAX_RECENT_BYTES = 16 * 1024;

function createDishReader(textOf: (sku: string) => Buffer | undefined): ListedMenu['bySku'] {
  const recent = new Map<string, Dish>();
  const keep = (sku: string, dish: Dish) => {
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
        keep(sku, dish);
      }
      return dish;
    },
  };
}

async function gzippedAnswer(plain: Buffer): Promise<MenuAnswer> {
  const body = await compress(plain);
  return { body, etag: await etagInTurns(body) };
}
