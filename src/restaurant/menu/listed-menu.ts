import { totalmem } from 'node:os';
import { LRUCache } from 'lru-cache';
import type { Caches, TenantCache } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { bufferOf, renderForPartners } from './menu-thread.ts';
import type { Dish } from './schema.ts';
import { readMenu, readMenuVersion } from './store.ts';
import type { MenuOwner } from './stored-menu.ts';

interface MenuAnswer {
  body: Buffer;
  etag: string;
}

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
  menu: ListedMenu;
}

interface MenuReaderOptions {
  db: Database;
  caches: Caches;
  maxCachedBytes?: number;
}

/** Any change of the tenant invalidates the version of its menu, but the menu is rendered again only if its version has changed. */
export function createMenuReader({ db, caches, maxCachedBytes = MAX_CACHED_BYTES }: MenuReaderOptions): ReadListedMenu {
  const versions: TenantCache<number> = caches.createCache(MAX_VERSIONS);
  const cached = new LRUCache<number, CachedMenu>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ menu: { plain, gzipped } }) => plain.body.length + gzipped.body.length,
  });
  /** Callers who want the same version at the same time share one load. */
  const loading = new Map<string, Promise<ListedMenu>>();

  async function load(owner: MenuOwner, version: number): Promise<ListedMenu> {
    const menu = await withRetries(() => loadMenu(db, owner));
    cached.set(owner.tenantId, { version, currency: owner.currency, menu });
    return menu;
  }

  const loadVersion = (tenantId: number) => versions.load(tenantId, tenantId, () => readMenuVersion(db, tenantId));

  return async (owner) => {
    const { tenantId, currency } = owner;
    const version = versions.get(tenantId) ?? (await loadVersion(tenantId));
    const current = cached.get(tenantId);
    if (current?.version === version && current.currency === currency) {
      return current.menu;
    }
    const key = `${tenantId} ${version} ${currency}`;
    const menu = loading.get(key) ?? load(owner, version).finally(() => loading.delete(key));
    loading.set(key, menu);
    return await menu;
  };
}

const MAX_PARSED = 16;

/**
 * Only the bytes stay in memory, because the parsed objects of a real menu take three times as much. Parsing takes about 20 µs for each
 * dish, so a few parsed dishes stay in memory.
 */
async function loadMenu(db: Database, owner: MenuOwner): Promise<ListedMenu> {
  const texts = await readMenu(db, owner.tenantId, 'listed');
  const { plain, plainEtag, gzipped, gzippedEtag, skus, begins } = await renderForPartners(owner, texts);
  const body = bufferOf(plain);
  const positions = new Map(skus.map((sku, position) => [sku, position]));
  const slice = (from: number, until: number) => {
    const last = Math.min(until, skus.length);
    return from < last ? body.subarray(begins[from], (begins[last] ?? 0) - 1) : body.subarray(0, 0);
  };
  const parsed = new LRUCache<string, Dish>({ max: MAX_PARSED });
  const parse = (sku: string): Dish | undefined => {
    const position = positions.get(sku);
    if (position === undefined) {
      return undefined;
    }
    const dish = JSON.parse(slice(position, position + 1).toString()) as Dish;
    parsed.set(sku, dish);
    return dish;
  };
  return {
    plain: { body, etag: plainEtag },
    gzipped: { body: bufferOf(gzipped), etag: gzippedEtag },
    dishes: { length: skus.length, slice },
    bySku: { get: (sku) => parsed.get(sku) ?? parse(sku) },
  };
}
