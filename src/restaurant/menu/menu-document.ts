import { amountFaults, formatMoney } from '#platform/lib/money.ts';
import { fieldsOf, listOf } from '#platform/lib/unchecked.ts';
import type { DishDocument, MenuDocument } from './schema.ts';

type Filled<T> = { [K in keyof T]-?: Exclude<T[K], undefined> };

const SECTION_LISTS = ['kitchens', 'categories', 'sub_menus', 'menu_sets'] as const;
type SectionList = (typeof SECTION_LISTS)[number];

export type Sections = { [List in SectionList]: Filled<NonNullable<MenuDocument[List]>[number]>[] };
type Addon = Filled<NonNullable<DishDocument['addons']>[number]>;
export type FilledDish = Filled<Omit<DishDocument, 'addons'>> & { addons: Addon[] };

export type FilledMenu = Sections & { dishes: FilledDish[] };

/** Name of a section that the document leaves out (rule 18). */
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

export function fillMenu(menu: MenuDocument): FilledMenu {
  const { kitchens = [], categories = [], sub_menus = [], menu_sets = [] } = menu;
  const dishes = menu.dishes.map(fillDish);
  const needed = (field: 'kitchen' | 'sub_menu' | 'menu_set') => dishes.some((dish) => dish[field] === DEFAULT_NAME);
  const isShown = menu_sets.some((menuSet) => menuSet.sub_menus?.includes(DEFAULT_NAME));
  return {
    kitchens: withDefault(kitchens, needed('kitchen')).map((each) => ({ description: '', ...each })),
    categories: categories.map((each) => ({ description: '', image: null, ticket_type: null, ...each })),
    sub_menus: withDefault(sub_menus, needed('sub_menu') || isShown).map((each) => ({ is_active: true, ...each })),
    menu_sets: withDefault(menu_sets, needed('menu_set')).map((each) => ({
      service: 'all_day',
      status: 'active',
      sub_menus: [],
      ...each,
    })),
    dishes,
  };
}

function withDefault<T extends { name: string }>(sections: T[], isNeeded: boolean): T[] {
  const isMissing = isNeeded && !sections.some((section) => section.name === DEFAULT_NAME);
  return isMissing ? [...sections, { name: DEFAULT_NAME } as T] : sections;
}

type SectionNames = Record<SectionList, ReadonlySet<unknown>>;

/**
 * Returns the faults of a menu document that a schema cannot find, as `path: text`. Skips values of a wrong type, so one response can report
 * the faults of both checks.
 * @param limit number of faults after which the check ends
 */
export function menuFaults(document: unknown, currency: string, limit = Infinity): string[] {
  const faults: string[] = [];
  for (const fault of checkMenu(fieldsOf(document), currency)) {
    if (faults.push(fault) >= limit) {
      break;
    }
  }
  return faults;
}

function* checkMenu(menu: Record<string, unknown>, currency: string): Generator<string> {
  const names = sectionNames(menu, [DEFAULT_NAME]);
  for (const list of SECTION_LISTS) {
    yield* duplicates(menu[list], list, 'name');
  }
  yield* duplicates(menu['dishes'], 'dishes', 'sku');
  for (const [index, menuSet] of listOf(menu['menu_sets']).entries()) {
    for (const [position, name] of listOf(fieldsOf(menuSet)['sub_menus']).entries()) {
      yield* missing(names, 'sub_menus', name, `menu_sets.${index}.sub_menus.${position}`);
    }
  }
  for (const [index, dish] of listOf(menu['dishes']).entries()) {
    yield* checkDish(fieldsOf(dish), names, `dishes.${index}.`);
    yield* amountFaults(amountsOf(fieldsOf(dish), `dishes.${index}.`), currency);
  }
}

export function* amountsOf(dish: Record<string, unknown>, prefix = ''): Generator<readonly [string, unknown]> {
  yield [`${prefix}price`, dish['price']];
  for (const list of ['price_variants', 'addons']) {
    for (const [index, entry] of listOf(dish[list]).entries()) {
      yield [`${prefix}${list}.${index}.price`, fieldsOf(entry)['price']];
    }
  }
}

export function dishFaults(dish: FilledDish, sections: Sections): string[] {
  return [...checkDish({ ...dish }, sectionNames({ ...sections }, []), '')];
}

function* checkDish(dish: Record<string, unknown>, names: SectionNames, prefix: string): Generator<string> {
  yield* missing(names, 'categories', dish['category'], `${prefix}category`);
  yield* missing(names, 'sub_menus', dish['sub_menu'], `${prefix}sub_menu`);
  yield* missing(names, 'kitchens', dish['kitchen'], `${prefix}kitchen`);
  yield* missing(names, 'menu_sets', dish['menu_set'], `${prefix}menu_set`);
  yield* duplicates(dish['price_variants'], `${prefix}price_variants`, 'name');
  yield* duplicates(dish['addons'], `${prefix}addons`, 'name');
}

/** @param implied names of sections that dishes may use even if the document has no section with this name */
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

function* duplicates(list: unknown, path: string, key: string): Generator<string> {
  const seen = new Set<unknown>();
  for (const [index, entry] of listOf(list).entries()) {
    const name = fieldsOf(entry)[key];
    if (typeof name === 'string' && seen.has(name)) {
      yield `${path}.${index}.${key}: ${JSON.stringify(name)} is given twice`;
    }
    seen.add(name);
  }
}

function* missing(names: SectionNames, list: SectionList, name: unknown, path: string): Generator<string> {
  if (typeof name === 'string' && !names[list].has(name)) {
    yield `${path}: ${JSON.stringify(name)} is not in ${list}`;
  }
}
