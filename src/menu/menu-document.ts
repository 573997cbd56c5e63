import { formatMoney } from '../lib/money.ts';
import type { DishDocument, MenuDocument } from './schema.ts';

type Filled<T> = { [K in keyof T]-?: Exclude<T[K], undefined> };

export type Kitchen = Filled<NonNullable<MenuDocument['kitchens']>[number]>;
export type Category = Filled<NonNullable<MenuDocument['categories']>[number]>;
export type SubMenu = Filled<NonNullable<MenuDocument['sub_menus']>[number]>;
export type MenuSet = Filled<NonNullable<MenuDocument['menu_sets']>[number]>;
export type Addon = Filled<NonNullable<DishDocument['addons']>[number]>;
export type Variant = NonNullable<DishDocument['price_variants']>[number];
export type FilledDish = Filled<Omit<DishDocument, 'addons'>> & { addons: Addon[] };

/** What dishes are sorted into. */
export interface Sections {
  kitchens: Kitchen[];
  categories: Category[];
  sub_menus: SubMenu[];
  menu_sets: MenuSet[];
}

/** A menu document with every default written out. */
export type FilledMenu = Sections & { dishes: FilledDish[] };

/** The kitchen, sub-menu and menu set of a dish that names none (decision 18). */
const DEFAULT_NAME = 'Default';

export function fillDish(dish: DishDocument): FilledDish {
  return {
    sku: dish.sku,
    name: dish.name,
    description: dish.description ?? '',
    dish_type: dish.dish_type ?? null,
    price: formatMoney(dish.price),
    is_active: dish.is_active ?? true,
    is_taxable: dish.is_taxable ?? true,
    extra_tax_percentage: formatMoney(dish.extra_tax_percentage ?? '0'),
    image: dish.image ?? null,
    category: dish.category,
    sub_menu: dish.sub_menu ?? DEFAULT_NAME,
    kitchen: dish.kitchen ?? DEFAULT_NAME,
    menu_set: dish.menu_set ?? DEFAULT_NAME,
    price_variants: (dish.price_variants ?? []).map(({ name, price }) => ({ name, price: formatMoney(price) })),
    addons: (dish.addons ?? []).map((addon) => ({
      name: addon.name,
      price: formatMoney(addon.price),
      dish_type: addon.dish_type ?? null,
      image: addon.image ?? null,
      is_active: addon.is_active ?? true,
    })),
    ingredients: dish.ingredients ?? [],
  };
}

/** Writes out every default of a menu, the sections named `Default` included where a dish leaves one out. */
export function fillMenu(menu: MenuDocument): FilledMenu {
  const dishes = menu.dishes.map(fillDish);
  const needed = (field: 'kitchen' | 'sub_menu' | 'menu_set') => dishes.some((dish) => dish[field] === DEFAULT_NAME);
  return {
    kitchens: withDefault(menu.kitchens ?? [], needed('kitchen')).map((kitchen) => ({
      name: kitchen.name,
      description: kitchen.description ?? '',
    })),
    categories: (menu.categories ?? []).map((category) => ({
      name: category.name,
      description: category.description ?? '',
      image: category.image ?? null,
      ticket_type: category.ticket_type ?? null,
    })),
    sub_menus: withDefault(menu.sub_menus ?? [], needed('sub_menu')).map((subMenu) => ({
      name: subMenu.name,
      is_active: subMenu.is_active ?? true,
    })),
    menu_sets: withDefault(menu.menu_sets ?? [], needed('menu_set')).map((menuSet) => ({
      name: menuSet.name,
      service: menuSet.service ?? 'all_day',
      status: menuSet.status ?? 'active',
      sub_menus: menuSet.sub_menus ?? [],
    })),
    dishes,
  };
}

function withDefault<T extends { name: string }>(sections: T[], isNeeded: boolean): T[] {
  const isMissing = isNeeded && !sections.some((section) => section.name === DEFAULT_NAME);
  return isMissing ? [...sections, { name: DEFAULT_NAME } as T] : sections;
}

/** Faults a schema cannot see: names given twice and names of nothing. Each as `path: text`, paths as in decision 6. */
export function menuFaults(menu: FilledMenu): string[] {
  return [
    ...duplicates(menu.kitchens, 'kitchens', 'name'),
    ...duplicates(menu.categories, 'categories', 'name'),
    ...duplicates(menu.sub_menus, 'sub_menus', 'name'),
    ...duplicates(menu.menu_sets, 'menu_sets', 'name'),
    ...duplicates(menu.dishes, 'dishes', 'sku'),
    ...menu.menu_sets.flatMap((menuSet, index) =>
      menuSet.sub_menus.flatMap((name, position) =>
        missing(menu.sub_menus, name, `menu_sets.${index}.sub_menus.${position}`, 'sub_menus'),
      ),
    ),
    ...menu.dishes.flatMap((dish, index) => dishFaults(dish, menu, `dishes.${index}.`)),
  ];
}

/** The same for one dish. @param prefix of its fields' paths */
export function dishFaults(dish: FilledDish, sections: Sections, prefix: string): string[] {
  return [
    ...missing(sections.categories, dish.category, `${prefix}category`, 'categories'),
    ...missing(sections.sub_menus, dish.sub_menu, `${prefix}sub_menu`, 'sub_menus'),
    ...missing(sections.kitchens, dish.kitchen, `${prefix}kitchen`, 'kitchens'),
    ...missing(sections.menu_sets, dish.menu_set, `${prefix}menu_set`, 'menu_sets'),
    ...duplicates(dish.price_variants, `${prefix}price_variants`, 'name'),
    ...duplicates(dish.addons, `${prefix}addons`, 'name'),
  ];
}

function duplicates<K extends string>(entries: Record<K, string>[], path: string, key: K): string[] {
  const seen = new Set<string>();
  return entries.flatMap((entry, index) => {
    const isRepeated = seen.has(entry[key]);
    seen.add(entry[key]);
    return isRepeated ? [`${path}.${index}.${key}: ${JSON.stringify(entry[key])} is given twice`] : [];
  });
}

function missing(sections: { name: string }[], name: string, path: string, list: string): string[] {
  return sections.some((section) => section.name === name)
    ? []
    : [`${path}: ${JSON.stringify(name)} is not in ${list}`];
}
