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

/**
 * Reads menus through a memory of rendered ones. Each call asks the database for the version, so a change shows at once on
 * every node, and the menu itself is read and rendered once a version. The least recently used leave first.
 */
export function createMenuReader(db: Database): ReadListedMenu {
  const kept = new Map<string, Promise<ListedMenu>>();
  let keptBytes = 0;

  async function forgetOldest(): Promise<void> {
    for (const [key, menu] of kept) {
      if (keptBytes <= MAX_KEPT_BYTES || kept.size === 1) {
        return;
      }
      kept.delete(key);
      keptBytes -= (await menu).body.length;
    }
  }

  function load(key: string, tenantId: number, currency: string): Promise<ListedMenu> {
    const loading = retrying(() => loadMenu(db, tenantId, currency));
    kept.set(key, loading);
    loading.then(
      (menu) => {
        keptBytes += menu.body.length;
        return forgetOldest();
      },
      () => kept.delete(key),
    );
    return loading;
  }

  return async ({ tenantId, currency }) => {
    const version = await readMenuVersion(db, tenantId);
    const key = `${tenantId} ${version} ${currency}`;
    const menu = kept.get(key);
    if (menu === undefined) {
      return await load(key, tenantId, currency);
    }
    kept.delete(key);
    kept.set(key, menu);
    return await menu;
  };
}

async function loadMenu(db: Database, tenantId: number, currency: string): Promise<ListedMenu> {
  const menu = await readMenu(db, tenantId);
  const render = createRenderer(tenantId, currency, menu);
  const dishes = menu.dishes.filter((dish) => dish.is_active).map((dish) => partnerDish(render(dish)));
  const body = Buffer.from(JSON.stringify(dishes));
  return { dishes, bySku: new Map(dishes.map((dish) => [dish.sku, dish])), body, etag: etagOf(body) };
}
