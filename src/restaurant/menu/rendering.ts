import { derivedId } from '#platform/lib/ids.ts';
import type { Dish, StaffDish } from './schema.ts';
import type { Stamped, StampedSections, StoredDish } from './stored-menu.ts';

type Section = 'kitchen' | 'category' | 'sub-menu' | 'menu-set';

type MakeId = typeof derivedId;

/** Functions that return a rendered section by its name. Each section is rendered at its first use. */
export interface RenderedSections {
  category: (name: string) => StaffDish['category'];
  subMenu: (name: string) => StaffDish['sub_menu'];
  kitchen: (name: string) => StaffDish['kitchen'];
  menuSet: (name: string) => StaffDish['menu_set'];
}

/** Sections of a menu, and the number of active dishes in each category. Both are needed to render a dish of this menu. */
export interface DishContext {
  sections: StampedSections;
  /** Number of active dishes by category name. */
  dishCounts: ReadonlyMap<string, number>;
}

/** Returns a function that renders a stored dish as the contract describes it. */
export function createRenderer(tenantId: number, currency: string, menu: DishContext): (dish: StoredDish) => StaffDish {
  const sections = renderSections(tenantId, menu, derivedId);
  return (dish) => renderDish(dish, { currency, sections, idOf: derivedId });
}

/**
 * Renders a stored dish.
 * @param idOf returns the id of a variant or an add-on, from the id of the dish and the name of the variant or add-on. So a renamed add-on
 *   has another id, and has its old id again if it gets its old name again (decision 18).
 */
export function renderDish(
  dish: StoredDish,
  { currency, sections, idOf }: { currency: string; sections: RenderedSections; idOf: MakeId },
): StaffDish {
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
      id: idOf(dish.id, 'variant', name),
      name,
      price,
      currency,
    })),
    addons: dish.addons.map((addon) => ({ id: idOf(dish.id, 'add-on', addon.name), ...addon })),
    ingredients: dish.ingredients,
  };
}

/**
 * Returns functions that render the sections of a menu. Each section is rendered only once, and all dishes of the section share the result.
 * @param makeId returns the id of a section, derived from the tenant id, the kind and the name of the section
 */
export function renderSections(
  tenantId: number,
  { sections, dishCounts }: DishContext,
  makeId: MakeId,
): RenderedSections {
  const idOf = (section: Section, name: string) => makeId(tenantId, section, name);
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

/** Counts the active dishes of each category. */
export function countListed(dishes: StoredDish[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const dish of dishes.filter((each) => each.is_active)) {
    counts.set(dish.category, (counts.get(dish.category) ?? 0) + 1);
  }
  return counts;
}

/**
 * Returns a function that finds a section by its name and renders it. Each section is rendered only once.
 * @throws Error from the returned function if no section has the name. This cannot happen for a stored dish, because each section that it
 *   names is stored too.
 */
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

/** Returns a dish as partners see it: without ingredients and with only the active add-ons (decision 18). */
export function partnerDish({ ingredients, addons, ...dish }: StaffDish): Dish {
  return { ...dish, addons: addons.filter((addon) => addon.is_active) };
}
