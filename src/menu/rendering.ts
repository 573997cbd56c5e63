import { derivedId } from '../lib/ids.ts';
import type { Dish, StaffDish } from './schema.ts';
import type { Stamped, StoredDish, StoredMenu } from './store.ts';

type Section = 'kitchen' | 'category' | 'sub-menu' | 'menu-set';

/**
 * Turns stored dishes into the shape of the contract. Ids of sections, variants and add-ons are derived from their names, so
 * they are the same whenever the name is (decision 18).
 */
export function createRenderer(tenantId: number, currency: string, menu: StoredMenu): (dish: StoredDish) => StaffDish {
  const sections = renderSections(tenantId, menu);
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
    category: known(sections.categories, dish.category),
    sub_menu: known(sections.subMenus, dish.sub_menu),
    kitchen: known(sections.kitchens, dish.kitchen),
    menu_set: known(sections.menuSets, dish.menu_set),
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

/** Every section of the menu by its name, rendered once for all dishes in it. */
function renderSections(tenantId: number, { sections, dishes }: StoredMenu) {
  const idOf = (section: Section, name: string) => derivedId(tenantId, section, name);
  const dishCounts = countListed(dishes);
  const subMenus = byName(sections.sub_menus, ({ name, is_active }) => ({
    id: idOf('sub-menu', name),
    name,
    is_active,
  }));
  const kitchens = byName(sections.kitchens, (kitchen) => ({
    id: idOf('kitchen', kitchen.name),
    name: kitchen.name,
    description: kitchen.description,
    hotel_id: null,
    stock_location_id: null,
    ...times(kitchen),
  }));
  const categories = byName(sections.categories, (category) => ({
    id: idOf('category', category.name),
    name: category.name,
    dish_count: String(dishCounts.get(category.name) ?? 0),
    description: category.description,
    image: category.image,
    ticket_type: category.ticket_type,
    tenant: tenantId,
    sub_menu: null,
    menu_set: null,
    ...times(category),
    deleted_at: null,
    restored_at: null,
    transaction_id: null,
  }));
  const menuSets = byName(sections.menu_sets, (menuSet) => ({
    id: idOf('menu-set', menuSet.name),
    name: menuSet.name,
    service: menuSet.service,
    status: menuSet.status,
    tenant: tenantId,
    sub_menus: menuSet.sub_menus.map((name) => known(subMenus, name)),
    ...times(menuSet),
  }));
  return { kitchens, categories, subMenus, menuSets };
}

/** Dishes on the menu, by category. */
function countListed(dishes: StoredDish[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const dish of dishes.filter((each) => each.is_active)) {
    counts.set(dish.category, (counts.get(dish.category) ?? 0) + 1);
  }
  return counts;
}

function byName<T extends { name: string }, R>(sections: T[], render: (section: T) => R): Map<string, R> {
  return new Map(sections.map((section) => [section.name, render(section)]));
}

function times({ created_at, updated_at }: Stamped<object>): { created_at: string; updated_at: string } {
  return { created_at, updated_at };
}

/** What a partner sees of a dish: no ingredients, active add-ons alone (decision 18). */
export function partnerDish({ ingredients, addons, ...dish }: StaffDish): Dish {
  return { ...dish, addons: addons.filter((addon) => addon.is_active) };
}

function known<T>(sections: Map<string, T>, name: string): T {
  const section = sections.get(name);
  if (section === undefined) {
    throw new Error('a dish names a section that the menu does not have');
  }
  return section;
}
