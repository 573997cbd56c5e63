import { constants, gzipSync } from 'node:zlib';
import { etagOf } from '#platform/http/etag.ts';
import { countListed, createRenderer, partnerDish } from './rendering.ts';
import { type MenuOwner, type MenuTexts, parseMenu, type StoredMenu } from './stored-menu.ts';

/** Body and ETag of the whole menu, plain or gzipped, for `GET /v1/third-party/menu/`. */
export interface MenuAnswer<Bytes extends Uint8Array = Buffer> {
  body: Bytes;
  etag: string;
}

/** Menu as partners see it. A Buffer becomes a `Uint8Array` on its way from the thread that has rendered it. */
export interface RenderedMenu<Bytes extends Uint8Array = Buffer> {
  plain: MenuAnswer<Bytes>;
  gzipped: MenuAnswer<Bytes>;
  /** Dishes in the order of `plain`. */
  skus: string[];
  /** Positions in `plain` of the first byte of each dish. The last entry is the position where a further dish would begin. */
  begins: number[];
}

/** Size in bytes from which a body is compressed at the fastest level: it then takes a third of the time, and gets little larger. */
const LARGE_BYTES = 1024 * 1024;

/** Returns the JSON of each active dish as partners see it, in the order of the menu. */
function* dishTexts({ tenantId, currency }: MenuOwner, { sections, dishes }: StoredMenu): Generator<string, void> {
  const render = createRenderer(tenantId, currency, { sections, dishCounts: countListed(dishes) });
  for (const dish of dishes) {
    if (dish.is_active) {
      yield JSON.stringify(partnerDish(render(dish)));
    }
  }
}

/**
 * Returns the size of a menu for partners in bytes. Returns null if it would have more than `maxBytes` bytes, and renders no dish beyond them.
 */
export function renderedSize(owner: MenuOwner, menu: StoredMenu, maxBytes = Infinity): number | null {
  let bytes = '['.length;
  for (const text of dishTexts(owner, menu)) {
    bytes += Buffer.byteLength(text) + ','.length;
    if (bytes > maxBytes) {
      return null;
    }
  }
  return Math.max(bytes, '[]'.length);
}

/** Renders a menu with both of its bodies. @returns null if the menu would have more than `maxBytes` bytes */
export function renderMenu(owner: MenuOwner, texts: MenuTexts, maxBytes = Infinity): RenderedMenu | null {
  const menu = parseMenu(texts);
  const size = renderedSize(owner, menu, maxBytes);
  if (size === null) {
    return null;
  }
  const body = Buffer.allocUnsafeSlow(size);
  const begins = [1];
  let end = body.write('[');
  for (const text of dishTexts(owner, menu)) {
    end += body.write(text, end);
    end += body.write(',', end);
    begins.push(end);
  }
  body.write(']', size - 1); // In place of the last comma.
  const gzipped = gzipSync(body, {
    level: size > LARGE_BYTES ? constants.Z_BEST_SPEED : constants.Z_DEFAULT_COMPRESSION,
  });
  return {
    plain: { body, etag: etagOf(body) },
    gzipped: { body: gzipped, etag: etagOf(gzipped) },
    skus: menu.dishes.filter((dish) => dish.is_active).map(({ sku }) => sku),
    begins,
  };
}
