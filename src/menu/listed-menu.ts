import type { Database } from '../db/database.ts';
import { retrying } from '../db/failures.ts';
import { etagOf } from '../http/etag.ts';
import { createRenderer, partnerDish } from './rendering.ts';
import type { Dish } from './schema.ts';
import { readMenu, readMenuVersion } from './store.ts';

/** The menu as partners see it, at one version: read by everyone, changed by nobody. */
export interface ListedMenu {
  dishes: Dish[];
  /** What can be ordered is what is listed (decision 18). */
  bySku: ReadonlyMap<string, Dish>;
  /** The whole answer of `GET menu/`. */
  body: Buffer;
  etag: string;
}

export type ReadListedMenu = (tenant: { tenantId: number; currency: string }) => Promise<ListedMenu>;

/** Rendered menus kept, by the size of their bodies; the objects beside a body take about three times as much. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** A menu that is kept, or being loaded: then its bytes are not counted yet. */
interface Kept {
  menu: Promise<ListedMenu>;
  bytes: number;
}

/**
 * Reads menus through a memory of rendered ones. Each call asks the database for the version, so a change shows at once on
 * every node, and the menu itself is read and rendered once a version. The least recently used leave first.
 */
export function createMenuReader(db: Database, maxKeptBytes = MAX_KEPT_BYTES): ReadListedMenu {
  const kept = new Map<string, Kept>();
  let keptBytes = 0;

  function forgetOldest(): void {
    for (const [key, { bytes }] of kept) {
      if (keptBytes <= maxKeptBytes || kept.size === 1) {
        return;
      }
      kept.delete(key);
      keptBytes -= bytes;
    }
  }

  function load(key: string, tenantId: number, currency: string): Kept {
    const loading: Kept = { menu: retrying(() => loadMenu(db, tenantId, currency)), bytes: 0 };
    loading.menu.then(
      ({ body }) => {
        // It may have left while it was loaded.
        if (kept.get(key) === loading) {
          loading.bytes = body.length;
          keptBytes += body.length;
          forgetOldest();
        }
      },
      () => {
        if (kept.get(key) === loading) {
          kept.delete(key);
        }
      },
    );
    return loading;
  }

  return async ({ tenantId, currency }) => {
    const version = await readMenuVersion(db, tenantId);
    const key = `${tenantId} ${version} ${currency}`;
    const entry = kept.get(key) ?? load(key, tenantId, currency);
    // Put at the end: the first in the map is the least recently used.
    kept.delete(key);
    kept.set(key, entry);
    return await entry.menu;
  };
}

async function loadMenu(db: Database, tenantId: number, currency: string): Promise<ListedMenu> {
  const menu = await readMenu(db, tenantId);
  const render = createRenderer(tenantId, currency, menu);
  const dishes = menu.dishes.filter((dish) => dish.is_active).map((dish) => partnerDish(render(dish)));
  const body = Buffer.from(JSON.stringify(dishes));
  return { dishes, bySku: new Map(dishes.map((dish) => [dish.sku, dish])), body, etag: etagOf(body) };
}
