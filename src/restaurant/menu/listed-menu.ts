import { totalmem } from 'node:os';
import { LRUCache } from 'lru-cache';
import type { Caches, TenantCache } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { renderForPartners } from './menu-thread.ts';
import type { MenuAnswer } from './rendering.ts';
import type { Dish } from './schema.ts';
import { readMenu, readMenuVersion } from './store.ts';
import type { MenuOwner } from './stored-menu.ts';

/** One version of a menu, as partners see it. All readers share this object, and it is never changed. */
export interface ListedMenu {
  plain: MenuAnswer;
  gzipped: MenuAnswer;
  dishes: {
    length: number;
    /** The bytes are not copied. */
    slice: (from: number, until: number) => Buffer;
  };
  /** Only active dishes can be ordered (rule 18). */
  bySku: Pick<ReadonlyMap<string, Dish>, 'get'>;
}

export type ReadListedMenu = (tenant: MenuOwner) => Promise<ListedMenu>;

/** An eighth of the memory of the machine or of the container. */
const MAX_CACHED_BYTES = Math.floor(Math.min(totalmem(), process.constrainedMemory() || Infinity) / 8);
const MAX_VERSIONS = 50_000;

interface CachedMenu {
  version: number;
  currency: string;
  menu: Promise<ListedMenu>;
}

interface MenuReaderOptions {
  db: Database;
  caches: Caches;
  maxCachedBytes?: number;
}

/** Any change of the tenant invalidates the version of its menu, but the menu is rendered again only if its version has changed. */
export function createMenuReader({ db, caches, maxCachedBytes = MAX_CACHED_BYTES }: MenuReaderOptions): ReadListedMenu {
  const versions: TenantCache<number> = caches.createCache(MAX_VERSIONS);
  /** A menu that is loading counts as one byte. */
  const cached = new LRUCache<number, CachedMenu>({ maxSize: maxCachedBytes });

  function load(owner: MenuOwner, version: number): CachedMenu {
    const { tenantId, currency } = owner;
    const menu = withRetries(() => loadMenu(db, owner));
    const loading: CachedMenu = { version, currency, menu };
    cached.set(tenantId, loading, { size: 1 });
    // During the load, another version may have taken the place of this entry, or the entry may have been evicted. Then the loaded menu
    // must not change the cache.
    const isStillCached = () => cached.peek(tenantId) === loading;
    menu.then(
      ({ plain, gzipped }) => {
        if (isStillCached()) {
          cached.delete(tenantId);
          cached.set(tenantId, loading, { size: plain.body.length + gzipped.body.length });
        }
      },
      () => {
        if (isStillCached()) {
          cached.delete(tenantId);
        }
      },
    );
    return loading;
  }

  const loadVersion = (tenantId: number) => versions.load(tenantId, tenantId, () => readMenuVersion(db, tenantId));

  return async (owner) => {
    const { tenantId, currency } = owner;
    const version = versions.get(tenantId) ?? (await loadVersion(tenantId));
    const current = cached.get(tenantId);
    const isCurrent = current?.version === version && current.currency === currency;
    return await (isCurrent ? current : load(owner, version)).menu;
  };
}

/**
 * Only the bytes stay in memory, because the parsed objects of a real menu take three times as much. Parsing takes about 20 µs for each
 * dish, so a few parsed dishes stay in memory.
 */
async function loadMenu(db: Database, owner: MenuOwner): Promise<ListedMenu> {
  const texts = await readMenu(db, owner.tenantId, 'listed');
  const { plain, gzipped, skus, begins } = await renderForPartners(owner, texts);
  const { body } = plain;
  const positions = new Map(skus.map((sku, position) => [sku, position]));
  const slice = (from: number, until: number) => {
    const last = Math.min(until, skus.length);
    return from < last ? body.subarray(begins[from], (begins[last] ?? 0) - 1) : body.subarray(0, 0);
  };
  return {
    plain,
    gzipped,
    dishes: { length: skus.length, slice },
    bySku: createDishReader((sku) => {
      const position = positions.get(sku);
      return position === undefined ? undefined : slice(position, position + 1);
    }),
  };
}

const MAX_PARSED = 16;

function createDishReader(textOf: (sku: string) => Buffer | undefined): ListedMenu['bySku'] {
  const parsed = new LRUCache<string, Dish>({ max: MAX_PARSED });
  return {
    get(sku) {
      const text = parsed.has(sku) ? undefined : textOf(sku);
      if (text !== undefined) {
        parsed.set(sku, JSON.parse(text.toString()) as Dish);
      }
      return parsed.get(sku);
    },
  };
}
