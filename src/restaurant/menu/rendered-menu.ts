import { gzipSync } from 'node:zlib';
import { etagOf } from '#platform/http/etag.ts';
import { countListed, createRenderer, partnerDish } from './rendering.ts';
import { type MenuOwner, type MenuTexts, parseMenu, type StoredMenu } from './stored-menu.ts';

/** JSON of a dish as partners see it. */
interface RenderedDish {
  sku: string;
  json: Buffer;
}

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

/**
 * Renders the active dishes of a menu as partners see them.
 * @returns null if the menu would have more than `maxBytes` bytes. The rendering then ends at this size.
 */
export function renderDishes(
  { tenantId, currency }: MenuOwner,
  { sections, dishes }: StoredMenu,
  maxBytes = Infinity,
): RenderedDish[] | null {
  const render = createRenderer(tenantId, currency, { sections, dishCounts: countListed(dishes) });
  const rendered: RenderedDish[] = [];
  let bytes = '['.length;
  for (const dish of dishes.filter((each) => each.is_active)) {
    const json = Buffer.from(JSON.stringify(partnerDish(render(dish))));
    bytes += json.length + ','.length;
    if (bytes > maxBytes) {
      return null;
    }
    rendered.push({ sku: dish.sku, json });
  }
  return rendered;
}

/** Renders a menu with both of its bodies. @returns null if the menu would have more than `maxBytes` bytes */
export function renderMenu(owner: MenuOwner, texts: MenuTexts, maxBytes = Infinity): RenderedMenu | null {
  const rendered = renderDishes(owner, parseMenu(texts), maxBytes);
  if (rendered === null) {
    return null;
  }
  const body = arrayOf(rendered);
  const gzipped = gzipSync(body);
  const begins = [1];
  for (const { json } of rendered) {
    begins.push((begins.at(-1) ?? 0) + json.length + 1);
  }
  return {
    plain: { body, etag: etagOf(body) },
    gzipped: { body: gzipped, etag: etagOf(gzipped) },
    skus: rendered.map(({ sku }) => sku),
    begins,
  };
}

function arrayOf(rendered: RenderedDish[]): Buffer {
  const comma = Buffer.from(',');
  const pieces = rendered.flatMap(({ json }, index) => (index === 0 ? [json] : [comma, json]));
  return Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')]);
}
