import { gzipSync } from 'node:zlib';
import { etagOf } from '#platform/http/etag.ts';
import { derivedId } from '#platform/lib/ids.ts';
import type { Dish, StaffDish } from './schema.ts';
import {
  type MenuOwner,
  type MenuTexts,
  parseMenu,
  type StampedSections,
  type StoredDish,
  type StoredMenu,
} from './stored-menu.ts';

/**
 * Returns the function that renders the dishes of one menu for staff. A renamed variant or add-on has another id, and has its old id again
 * if it gets its old name again (rule 18).
 * @param dishCounts number of active dishes of each category
 */
export function createRenderer(
  { tenantId: tenant, currency }: MenuOwner,
  sections: StampedSections,
  dishCounts: ReadonlyMap<string, number>,
): (dish: StoredDish) => StaffDish {
  const { categoryOf, subMenuOf, kitchenOf, menuSetOf } = sectionRenderers(tenant, sections, dishCounts);
  return (dish) => ({
    id: dish.id,
    sku: dish.sku,
    name: dish.name,
    description: dish.description,
    dish_type: dish.dish_type,
    price: dish.price,
    currency,
    is_active: dish.is_active,
    is_taxable: dish.is_taxable,
    extra_tax_percentage: dish.extra_tax_percentage,
    image: dish.image,
    category: categoryOf(dish.category),
    sub_menu: subMenuOf(dish.sub_menu),
    kitchen: kitchenOf(dish.kitchen),
    menu_set: menuSetOf(dish.menu_set),
    price_variants: dish.price_variants.map(({ name, price }) => ({
      id: derivedId(dish.id, 'variant', name),
      name,
      price,
      currency,
    })),
    addons: dish.addons.map((addon) => ({ id: derivedId(dish.id, 'add-on', addon.name), ...addon })),
    ingredients: dish.ingredients,
  });
}

function sectionRenderers(tenant: number, sections: StampedSections, dishCounts: ReadonlyMap<string, number>) {
  const subMenuOf = byName(sections.sub_menus, ({ name, is_active }) => ({
    id: derivedId(tenant, 'sub-menu', name),
    name,
    is_active,
  }));
  const kitchenOf = byName(sections.kitchens, ({ name, description, created_at, updated_at }) => ({
    id: derivedId(tenant, 'kitchen', name),
    name,
    description,
    hotel_id: null,
    stock_location_id: null,
    created_at,
    updated_at,
  }));
  const categoryOf = byName(
    sections.categories,
    ({ name, description, image, ticket_type, created_at, updated_at }) => ({
      id: derivedId(tenant, 'category', name),
      name,
      dish_count: String(dishCounts.get(name) ?? 0),
      description,
      image,
      ticket_type,
      tenant,
      sub_menu: null,
      menu_set: null,
      created_at,
      updated_at,
      deleted_at: null,
      restored_at: null,
      transaction_id: null,
    }),
  );
  const menuSetOf = byName(sections.menu_sets, ({ name, service, status, sub_menus, created_at, updated_at }) => ({
    id: derivedId(tenant, 'menu-set', name),
    name,
    service,
    status,
    tenant,
    sub_menus: sub_menus.map(subMenuOf),
    created_at,
    updated_at,
  }));
  return { categoryOf, subMenuOf, kitchenOf, menuSetOf };
}

/** Renders each section once, because many dishes show it. */
function byName<T extends { name: string }, R>(sections: T[], render: (section: T) => R): (name: string) => R {
  const rendered = new Map(sections.map((section) => [section.name, render(section)]));
  return (name) => {
    const section = rendered.get(name);
    if (section === undefined) {
      throw new Error(
        `A stored dish or menu set names the section ${JSON.stringify(name)}, which its menu does not have. ` +
          'This is a fault of the program.',
      );
    }
    return section;
  };
}

/** Without ingredients and inactive add-ons (rule 18). */
function partnerDish({ ingredients, addons, ...dish }: StaffDish): Dish {
  return { ...dish, addons: addons.filter((addon) => addon.is_active) };
}

export interface RenderedMenu {
  plain: Uint8Array;
  plainEtag: string;
  gzipped: Uint8Array;
  gzippedEtag: string;
  skus: string[];
  /** Positions in `plain` of the first byte of each dish, and the position where a further dish would begin. */
  begins: number[];
}

function* dishTexts(owner: MenuOwner, { sections, dishes }: StoredMenu): Generator<string, void> {
  const listed = dishes.filter((dish) => dish.is_active);
  const dishCounts = new Map<string, number>();
  for (const { category } of listed) {
    dishCounts.set(category, (dishCounts.get(category) ?? 0) + 1);
  }
  const render = createRenderer(owner, sections, dishCounts);
  for (const dish of listed) {
    yield JSON.stringify(partnerDish(render(dish)));
  }
}

/** Returns true if the menu for partners has at most `maxBytes` bytes. Renders no dish beyond them. */
export function fitsInto(maxBytes: number, owner: MenuOwner, menu: StoredMenu): boolean {
  let bytes = '['.length;
  for (const text of dishTexts(owner, menu)) {
    bytes += Buffer.byteLength(text) + ','.length;
    if (bytes > maxBytes) {
      return false;
    }
  }
  return true;
}

/** Renders the whole menu for partners. */
export function renderMenu({ owner, texts }: { owner: MenuOwner; texts: MenuTexts }): RenderedMenu {
  const menu = parseMenu(texts);
  // Bytes at once: the text of all dishes would be in memory three times.
  const rendered = Array.from(dishTexts(owner, menu), (text, index) => Buffer.from(index === 0 ? text : `,${text}`));
  let end = '['.length;
  const nextBegins = rendered.map((bytes) => (end += bytes.length) + ','.length);
  const plain = Buffer.concat([Buffer.from('['), ...rendered, Buffer.from(']')]);
  const gzipped = gzipSync(plain);
  return {
    plain,
    plainEtag: etagOf(plain),
    gzipped,
    gzippedEtag: etagOf(gzipped),
    skus: menu.dishes.filter((dish) => dish.is_active).map(({ sku }) => sku),
    begins: ['['.length, ...nextBegins],
  };
}
