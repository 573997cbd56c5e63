import { constants, gzipSync } from 'node:zlib';
import { etagOf } from '#platform/http/etag.ts';
import { derivedId } from '#platform/lib/ids.ts';
import type { Dish, StaffDish } from './schema.ts';
import {
  type MenuOwner,
  type MenuTexts,
  parseMenu,
  type Stamped,
  type StampedSections,
  type StoredDish,
  type StoredMenu,
} from './stored-menu.ts';

interface RenderedSections {
  category: (name: string) => StaffDish['category'];
  subMenu: (name: string) => StaffDish['sub_menu'];
  kitchen: (name: string) => StaffDish['kitchen'];
  menuSet: (name: string) => StaffDish['menu_set'];
}

interface DishContext {
  sections: StampedSections;
  dishCounts: ReadonlyMap<string, number>;
}

export function createRenderer(tenantId: number, currency: string, menu: DishContext): (dish: StoredDish) => StaffDish {
  const sections = renderSections(tenantId, menu);
  return (dish) => renderDish(dish, currency, sections);
}

/** A renamed add-on has another id, and has its old id again if it gets its old name again (rule 18). */
function renderDish(dish: StoredDish, currency: string, sections: RenderedSections): StaffDish {
  return {
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
    category: sections.category(dish.category),
    sub_menu: sections.subMenu(dish.sub_menu),
    kitchen: sections.kitchen(dish.kitchen),
    menu_set: sections.menuSet(dish.menu_set),
    price_variants: dish.price_variants.map(({ name, price }) => ({
      id: derivedId(dish.id, 'variant', name),
      name,
      price,
      currency,
    })),
    addons: dish.addons.map((addon) => ({ id: derivedId(dish.id, 'add-on', addon.name), ...addon })),
    ingredients: dish.ingredients,
  };
}

function renderSections(tenantId: number, { sections, dishCounts }: DishContext): RenderedSections {
  const idOf = (section: 'kitchen' | 'category' | 'sub-menu' | 'menu-set', name: string) =>
    derivedId(tenantId, section, name);
  const subMenu = byName(sections.sub_menus, ({ name, is_active }) => ({
    id: idOf('sub-menu', name),
    name,
    is_active,
  }));
  const kitchen = byName(sections.kitchens, (stored) => ({
    id: idOf('kitchen', stored.name),
    name: stored.name,
    description: stored.description,
    hotel_id: null,
    stock_location_id: null,
    ...times(stored),
  }));
  const category = byName(sections.categories, (stored) => ({
    id: idOf('category', stored.name),
    name: stored.name,
    dish_count: String(dishCounts.get(stored.name) ?? 0),
    description: stored.description,
    image: stored.image,
    ticket_type: stored.ticket_type,
    tenant: tenantId,
    sub_menu: null,
    menu_set: null,
    ...times(stored),
    deleted_at: null,
    restored_at: null,
    transaction_id: null,
  }));
  const menuSet = byName(sections.menu_sets, (stored) => ({
    id: idOf('menu-set', stored.name),
    name: stored.name,
    service: stored.service,
    status: stored.status,
    tenant: tenantId,
    sub_menus: stored.sub_menus.map(subMenu),
    ...times(stored),
  }));
  return { category, subMenu, kitchen, menuSet };
}

function countListed(dishes: StoredDish[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const dish of dishes.filter((each) => each.is_active)) {
    counts.set(dish.category, (counts.get(dish.category) ?? 0) + 1);
  }
  return counts;
}

function byName<T extends { name: string }, R>(sections: T[], render: (section: T) => R): (name: string) => R {
  const stored = new Map(sections.map((section) => [section.name, section]));
  const rendered = new Map<string, R>();
  return (name) => {
    const known = rendered.get(name);
    if (known !== undefined) {
      return known;
    }
    const section = stored.get(name);
    if (section === undefined) {
      throw new Error(
        `A stored dish or menu set names the section ${JSON.stringify(name)}, which its menu does not have. ` +
          'This is a fault of the program.',
      );
    }
    const made = render(section);
    rendered.set(name, made);
    return made;
  };
}

function times({ created_at, updated_at }: Stamped<object>): { created_at: string; updated_at: string } {
  return { created_at, updated_at };
}

/** Without ingredients and inactive add-ons (rule 18). */
function partnerDish({ ingredients, addons, ...dish }: StaffDish): Dish {
  return { ...dish, addons: addons.filter((addon) => addon.is_active) };
}

export interface MenuAnswer<Bytes extends Uint8Array = Buffer> {
  body: Bytes;
  etag: string;
}

/** A Buffer becomes a `Uint8Array` on its way from the thread that has rendered it. */
export interface RenderedMenu<Bytes extends Uint8Array = Buffer> {
  plain: MenuAnswer<Bytes>;
  gzipped: MenuAnswer<Bytes>;
  skus: string[];
  /** Positions in `plain` of the first byte of each dish, and the position where a further dish would begin. */
  begins: number[];
}

/** From this size on, the fastest level takes a third of the time, and gets little larger. */
const LARGE_BYTES = 1024 * 1024;

function* dishTexts({ tenantId, currency }: MenuOwner, { sections, dishes }: StoredMenu): Generator<string, void> {
  const render = createRenderer(tenantId, currency, { sections, dishCounts: countListed(dishes) });
  for (const dish of dishes) {
    if (dish.is_active) {
      yield JSON.stringify(partnerDish(render(dish)));
    }
  }
}

/** Returns null if the menu would have more than `maxBytes` bytes, and renders no dish beyond them. */
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

/** @returns null if the menu would have more than `maxBytes` bytes */
export function renderMenu(owner: MenuOwner, texts: MenuTexts, maxBytes = Infinity): RenderedMenu | null {
  const menu = parseMenu(texts);
  const rendered: string[] = [];
  const begins = ['['.length];
  let end = begins[0] ?? 0;
  for (const text of dishTexts(owner, menu)) {
    rendered.push(text);
    end += Buffer.byteLength(text) + ','.length;
    begins.push(end);
    if (end > maxBytes) {
      return null;
    }
  }
  const body = Buffer.from(`[${rendered.join(',')}]`);
  const gzipped = gzipSync(body, {
    level: body.length > LARGE_BYTES ? constants.Z_BEST_SPEED : constants.Z_DEFAULT_COMPRESSION,
  });
  return {
    plain: { body, etag: etagOf(body) },
    gzipped: { body: gzipped, etag: etagOf(gzipped) },
    skus: menu.dishes.filter((dish) => dish.is_active).map(({ sku }) => sku),
    begins,
  };
}
