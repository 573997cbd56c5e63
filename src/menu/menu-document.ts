import { formatMoney } from '../lib/money.ts';
import { fieldsOf, listOf } from '../lib/unchecked.ts';
import type { DishDocument, MenuDocument } from './schema.ts';

type Filled<T> = { [K in keyof T]-?: Exclude<T[K], undefined> };

export type Kitchen = Filled<NonNullable<MenuDocument['kitchens']>[number]>;
export type Category = Filled<NonNullable<MenuDocument['categories']>[number]>;
export type SubMenu = Filled<NonNullable<MenuDocument['sub_menus']>[number]>;
export type MenuSet = Filled<NonNullable<MenuDocument['menu_sets']>[number]>;
export type Addon = Filled<NonNullable<DishDocument['addons']>[number]>;
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

/** Writes out every default of a menu, the sections named `Default` included where one is needed. */
export function fillMenu(menu: MenuDocument): FilledMenu {
  const dishes = menu.dishes.map(fillDish);
  const menuSets = menu.menu_sets ?? [];
  const needed = (field: 'kitchen' | 'sub_menu' | 'menu_set') => dishes.some((dish) => dish[field] === DEFAULT_NAME);
  const isShown = menuSets.some((menuSet) => menuSet.sub_menus?.includes(DEFAULT_NAME));
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
    sub_menus: withDefault(menu.sub_menus ?? [], needed('sub_menu') || isShown).map((subMenu) => ({
      name: subMenu.name,
      is_active: subMenu.is_active ?? true,
    })),
    menu_sets: withDefault(menuSets, needed('menu_set')).map((menuSet) => ({
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

const SECTION_LISTS = ['kitchens', 'categories', 'sub_menus', 'menu_sets'] as const;
type SectionNames = Record<(typeof SECTION_LISTS)[number], ReadonlySet<unknown>>;

/**
 * Faults a schema cannot see: names given twice and names of nothing. Each as `path: text`, paths as in decision 6. What the
 * schema refuses is passed over, so that all the faults of a bad document can be told at once.
 */
export function menuFaults(document: unknown): string[] {
  const menu = fieldsOf(document);
  const names = sectionNames(menu, [DEFAULT_NAME]);
  return [
    ...SECTION_LISTS.flatMap((list) => duplicates(menu[list], list, 'name')),
    ...duplicates(menu['dishes'], 'dishes', 'sku'),
    ...listOf(menu['menu_sets']).flatMap((menuSet, index) =>
      listOf(fieldsOf(menuSet)['sub_menus']).flatMap((name, position) =>
        missing(names, 'sub_menus', name, `menu_sets.${index}.sub_menus.${position}`),
      ),
    ),
    ...listOf(menu['dishes']).flatMap((dish, index) => faultsOfDish(fieldsOf(dish), names, `dishes.${index}.`)),
  ];
}

/** The same for one dish of a stored menu. */
export function dishFaults(dish: FilledDish, sections: Sections): string[] {
  return faultsOfDish({ ...dish }, sectionNames({ ...sections }, []), '');
}

function faultsOfDish(dish: Record<string, unknown>, names: SectionNames, prefix: string): string[] {
  return [
    ...missing(names, 'categories', dish['category'], `${prefix}category`),
    ...missing(names, 'sub_menus', dish['sub_menu'], `${prefix}sub_menu`),
    ...missing(names, 'kitchens', dish['kitchen'], `${prefix}kitchen`),
    ...missing(names, 'menu_sets', dish['menu_set'], `${prefix}menu_set`),
    ...duplicates(dish['price_variants'], `${prefix}price_variants`, 'name'),
    ...duplicates(dish['addons'], `${prefix}addons`, 'name'),
  ];
}

/** @param implied names of kitchens, sub-menus and menu sets that need no entry of their own */
function sectionNames(menu: Record<string, unknown>, implied: string[]): SectionNames {
  const namesOf = (list: string, more: string[]) =>
    new Set([...listOf(menu[list]).map((section) => fieldsOf(section)['name']), ...more]);
  return {
    kitchens: namesOf('kitchens', implied),
    categories: namesOf('categories', []),
    sub_menus: namesOf('sub_menus', implied),
    menu_sets: namesOf('menu_sets', implied),
  };
}

function duplicates(list: unknown, path: string, key: string): string[] {
  const seen = new Set<unknown>();
  return listOf(list).flatMap((entry, index) => {
    const name = fieldsOf(entry)[key];
    const isRepeated = typeof name === 'string' && seen.has(name);
    seen.add(name);
    return isRepeated ? [`${path}.${index}.${key}: ${JSON.stringify(name)} is given twice`] : [];
  });
}

function missing(names: SectionNames, list: keyof SectionNames, name: unknown, path: string): string[] {
  return typeof name !== 'string' || names[list].has(name)
    ? []
    : [`${path}: ${JSON.stringify(name)} is not in ${list}`];
}
