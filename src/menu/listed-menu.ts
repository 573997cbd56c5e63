import { totalmem } from 'node:os';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Memory, RecentChanges } from '../changes/changes.ts';
import type { Database } from '../db/database.ts';
import { retrying } from '../db/failures.ts';
import { etagOf } from '../http/etag.ts';
import { createRenderer, partnerDish } from './rendering.ts';
import type { Dish } from './schema.ts';
import { readMenu, readMenuVersion } from './store.ts';

/** The whole answer of `GET menu/`, in one content coding. */
export interface MenuAnswer {
  body: Buffer;
  etag: string;
}

/** The menu as partners see it, at one version: read by everyone, changed by nobody. */
export interface ListedMenu {
  plain: MenuAnswer;
  gzipped: MenuAnswer;
  dishes: Pick<Dish[], 'length' | 'slice'>;
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

interface MenuReaderOptions {
  db: Database;
  changes: RecentChanges;
  maxKeptBytes?: number;
}

/**
 * Reads menus through a memory of rendered ones. The version is remembered while nothing of the tenant has changed, and the menu
 * itself is read, rendered and compressed once a version. The least recently used leave first.
 */
export function createMenuReader({ db, changes, maxKeptBytes = MAX_KEPT_BYTES }: MenuReaderOptions): ReadListedMenu {
  const versions: Memory<number> = changes.createMemory(MAX_VERSIONS);
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
    const menu = retrying(() => loadMenu(db, tenantId, currency));
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
      () => {
        if (isKept()) {
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

async function loadMenu(db: Database, tenantId: number, currency: string): Promise<ListedMenu> {
  const menu = await readMenu(db, tenantId);
  const render = createRenderer(tenantId, currency, menu);
  const dishes = menu.dishes.filter((dish) => dish.is_active);
  return await listMenu(dishes.map((dish) => partnerDish(render(dish))));
}

const compress = promisify(gzip);

/**
 * The menu as bytes. A dish is read out of them when it is asked for: as objects, a real menu takes three times the memory of its
 * bytes. That costs some 20 µs a dish, so the few that were ordered last are kept.
 */
async function listMenu(dishes: Dish[]): Promise<ListedMenu> {
  const texts = dishes.map((dish) => JSON.stringify(dish));
  const body = Buffer.from(`[${texts.join(',')}]`);
  const begins: number[] = [];
  let end = 0;
  for (const text of texts) {
    begins.push(end + 1); // After the bracket, or the comma.
    end += 1 + Buffer.byteLength(text);
  }
  const dishAt = (index: number): Dish =>
    JSON.parse(body.toString('utf8', begins[index], (begins[index + 1] ?? body.length) - 1));
  const positions = new Map(dishes.map(({ sku }, index) => [sku, index]));
  const recent = new Map<string, Dish>();
  return {
    plain: { body, etag: etagOf(body) },
    gzipped: await gzippedAnswer(body),
    dishes: {
      length: begins.length,
      slice: (from, until) => [...begins.keys()].slice(from, until).map(dishAt),
    },
    bySku: {
      get(sku) {
        const known = recent.get(sku);
        const position = known === undefined ? positions.get(sku) : undefined;
        if (position === undefined) {
          return known;
        }
        const dish = dishAt(position);
        rememberRecent(recent, sku, dish);
        return dish;
      },
    },
  };
}

/** Dishes of a menu that are kept as objects, some 6 KB each: what is ordered most is ordered again soon. */
const MAX_RECENT = 16;

function rememberRecent(recent: Map<string, Dish>, sku: string, dish: Dish): void {
  recent.set(sku, dish);
  const [oldest] = recent.keys();
  if (recent.size > MAX_RECENT && oldest !== undefined) {
    recent.delete(oldest);
  }
}

async function gzippedAnswer(plain: Buffer): Promise<MenuAnswer> {
  const body = await compress(plain);
  return { body, etag: etagOf(body) };
}
