import { isDeepStrictEqual } from 'node:util';
import { announceChange } from '#platform/changes/changes.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { apiError, notFound } from '#platform/errors.ts';
import { TextPieces } from '#platform/http/streaming.ts';
import { rowsToWrite } from '#platform/lib/changed-rows.ts';
import { DEFAULT_BOUNDS } from '#platform/lib/bounds.ts';
import { newId } from '#platform/lib/ids.ts';
import { mapInTurns } from '#platform/lib/turn.ts';
import { joinFaults } from '#platform/lib/validation.ts';
import { dishFaults, type FilledDish, fillDish, fillMenu, menuFaults, type Sections } from './menu-document.ts';
import type { AppliedMenu } from './menu-changes.ts';
import { refuseTooLarge, renderedBytes } from './rendered-size.ts';
import { createRenderer } from './rendering.ts';
import type { DishChange, MenuDocument, StaffDish } from './schema.ts';
import * as store from './store.ts';

export { createMenuReader, type ListedMenu, type ReadListedMenu } from './listed-menu.ts';
export { menuChanges } from './menu-changes.ts';
export { menuFaults } from './menu-document.ts';
export { type Dish, MenuDocument } from './schema.ts';

/**
 * Reads the stored menu as a menu document with all default values. Returns its JSON in several pieces. `PUT /v1/staff/menu/` accepts
 * this document.
 */
export async function readMenuDocument(db: Database, tenantId: number): Promise<Buffer[]> {
  const dishes = new TextPieces();
  let separator = '';
  const { sections } = await store.readMenuAs(db, tenantId, (row) => {
    dishes.add(separator + documentText(row));
    separator = ',';
  });
  const head = `${JSON.stringify(unstamped(sections)).slice(0, -1)},"dishes":[`;
  return [Buffer.from(head), ...dishes.end(), Buffer.from(']}')];
}

/**
 * Returns a dish of the menu document as JSON. The row holds the lists of the dish as JSON, so this function copies them without parsing.
 */
function documentText({ id, position, price_variants, addons, ingredients, ...scalars }: store.DishRow): string {
  const lists = `"price_variants":${price_variants},"addons":${addons},"ingredients":${ingredients}`;
  return `${JSON.stringify(scalars).slice(0, -1)},${lists}}`;
}

interface Bounds {
  /** Maximum size, in bytes, of the menu in the response to partners. */
  maxRenderedBytes?: number | undefined;
  /** Maximum number of faults that an error reports. */
  maxReported?: number | undefined;
}

/**
 * Replaces the menu with a document. Dishes are matched by sku, and stored dishes that are not in the document become inactive. Applying
 * the same document again changes nothing.
 * @returns the whole menu after the change, as pieces of JSON
 * @throws ApiError 400 `invalid_request`, which lists at most `maxReported` faults, or names the size of a menu that would be too large
 *   for partners
 */
export async function replaceMenu(
  db: Database,
  tenantId: number,
  menu: MenuDocument,
  { maxReported = Infinity, ...bounds }: Bounds = {},
): Promise<Buffer[]> {
  refuse(await menuFaults(menu, maxReported + 1), maxReported);
  await inTransaction(db, async (tx) => {
    if ((await applyMenu(tx, tenantId, menu, bounds)) !== null) {
      await announceChange(tx, tenantId, 'menu');
    }
  });
  return await readMenuDocument(db, tenantId);
}

/**
 * Replaces the menu in the transaction of the caller. The caller must have validated the document.
 * @returns the written changes, or null if the stored menu equals the document already
 * @throws ApiError 400 `invalid_request` if the menu would be too large for partners
 */
export async function applyMenu(
  tx: Tx,
  tenantId: number,
  document: MenuDocument,
  { maxRenderedBytes = DEFAULT_BOUNDS.renderedMenuBytes }: Bounds = {},
): Promise<AppliedMenu | null> {
  const wanted = await fillMenu(document);
  const stored = await store.lockMenu(tx, tenantId);
  const bySku = new Map(stored.dishes.map((dish) => [dish.sku, dish]));
  const named = new Set(wanted.dishes.map((dish) => dish.sku));
  const dishes = wanted.dishes.map((dish, position) => ({ ...dish, position, id: bySku.get(dish.sku)?.id ?? newId() }));
  // Stored dishes that are not in the document get positions after all dishes of the document. GET returns the dishes in the order of their
  // positions. So a PUT of the document that GET has returned changes no position.
  const unnamed = stored.dishes
    .filter((dish) => !named.has(dish.sku))
    .map((dish, index) => ({ ...dish, position: dishes.length + index, is_active: false }));
  const sections = await restamp(stored.sections, wanted, unnamed);
  refuseTooLarge(await renderedBytes(tenantId, { sections, dishes }), maxRenderedBytes);
  const compared = await mapInTurns([...dishes, ...unnamed], (after) => {
    const before = bySku.get(after.sku);
    return isDeepStrictEqual(after, before) ? null : { before, after };
  });
  const changed = compared.filter((each) => each !== null);
  if (changed.length === 0 && isSame(sections, stored.sections)) {
    return null;
  }
  await store.upsertDishes(tx, tenantId, rowsToWrite(changed));
  await store.updateMenu(tx, tenantId, { version: stored.version + 1, sections });
  return { dishes: changed, sections: { before: stored.sections, after: sections } };
}

/**
 * Changes some fields of one dish, for example to take it off the menu for one evening.
 * @throws ApiError 404 for an unknown sku, 400 if a section of the dish does not exist or if the menu would be too large for partners
 */
export async function changeDish(
  db: Database,
  tenant: { id: number; currency: string },
  sku: string,
  change: DishChange,
  { maxRenderedBytes = DEFAULT_BOUNDS.renderedMenuBytes }: Pick<Bounds, 'maxRenderedBytes'> = {},
): Promise<StaffDish> {
  return await inTransaction(db, async (tx) => {
    const { version, sections } = await store.lockSections(tx, tenant.id);
    const stored = await store.readLockedDish(tx, tenant.id, sku);
    if (stored === undefined) {
      throw notFound('dish');
    }
    const { id, position } = stored;
    const dish = { ...fillDish({ ...documentOf(stored), ...change, sku }), id, position };
    refuse(dishFaults(dish, sections));
    if (!isDeepStrictEqual(dish, stored)) {
      if (await mayGrow(tenant.id, sections, stored, dish)) {
        const dishes = await store.readLockedDishes(tx, tenant.id);
        const changed = dishes.map((each) => (each.sku === sku ? dish : each));
        await refuseGrowth(tenant.id, { sections, dishes }, { sections, dishes: changed }, maxRenderedBytes);
      }
      await store.upsertDishes(tx, tenant.id, [dish]);
      await store.updateMenu(tx, tenant.id, { version: version + 1, sections });
      await announceChange(tx, tenant.id, 'menu');
    }
    const dishCounts = await store.countListed(tx, tenant.id);
    return createRenderer(tenant.id, tenant.currency, { sections, dishCounts })(dish);
  });
}

/**
 * Returns true if the change of a dish may make the menu longer. Then the caller must compare the sizes of the whole menu. Returns false if
 * the dish is inactive after the change. Also returns false if it stays active in the same category and does not become longer. Such
 * changes make no other dish longer, because no `dish_count` grows.
 */
async function mayGrow(
  tenantId: number,
  sections: store.StampedSections,
  before: store.StoredDish,
  after: store.StoredDish,
): Promise<boolean> {
  if (!after.is_active) {
    return false;
  }
  const bytesOf = async (dish: store.StoredDish) => await renderedBytes(tenantId, { sections, dishes: [dish] });
  return !before.is_active || before.category !== after.category || (await bytesOf(after)) > (await bytesOf(before));
}

type RenderedMenu = Pick<store.StoredMenu, 'sections' | 'dishes'>;

/**
 * Refuses a change that makes a menu too large for partners. If the stored menu is too large already, refuses only a change that makes it
 * longer. So staff can make the menu smaller in several steps.
 */
async function refuseGrowth(
  tenantId: number,
  before: RenderedMenu,
  after: RenderedMenu,
  maxBytes: number,
): Promise<void> {
  const bytes = await renderedBytes(tenantId, after);
  if (bytes > maxBytes && bytes > (await renderedBytes(tenantId, before))) {
    refuseTooLarge(bytes, maxBytes);
  }
}

function refuse(faults: string[], maxReported = Infinity): void {
  if (faults.length > 0) {
    throw apiError('invalid_request', joinFaults(faults, 'body', maxReported));
  }
}

function documentOf({ id, position, ...document }: store.StoredDish): FilledDish {
  return document;
}

function unstamped(sections: store.StampedSections): Sections {
  const bare = <T extends object>(list: store.Stamped<T>[]) =>
    list.map(({ created_at, updated_at, ...section }) => section as unknown as T);
  return {
    kitchens: bare(sections.kitchens),
    categories: bare(sections.categories),
    sub_menus: bare(sections.sub_menus),
    menu_sets: bare(sections.menu_sets),
  };
}

/**
 * Returns the sections of the document with the times of their creation and last change. Also returns stored sections that the document
 * leaves out but that are still needed. A section is needed by a menu set that contains it, or by a stored dish that the document leaves
 * out.
 */
async function restamp(
  stored: store.StampedSections,
  wanted: Sections,
  unnamed: store.StoredDish[],
): Promise<store.StampedSections> {
  const neededBy = (field: 'kitchen' | 'category' | 'sub_menu' | 'menu_set') => unnamed.map((dish) => dish[field]);
  const menu_sets = await restampList(stored.menu_sets, wanted.menu_sets, neededBy('menu_set'));
  const shown = menu_sets.flatMap((menuSet) => menuSet.sub_menus);
  return {
    kitchens: await restampList(stored.kitchens, wanted.kitchens, neededBy('kitchen')),
    categories: await restampList(stored.categories, wanted.categories, neededBy('category')),
    sub_menus: await restampList(stored.sub_menus, wanted.sub_menus, [...neededBy('sub_menu'), ...shown]),
    menu_sets,
  };
}

/**
 * Returns the sections of one kind with the times of their creation and last change. For an unchanged section, returns the object in
 * `stored`, so that `isSame` can recognise it.
 * @param needed names of stored sections to keep even if the document does not have them
 */
async function restampList<T extends { name: string }>(
  stored: store.Stamped<T>[],
  wanted: T[],
  needed: string[],
): Promise<store.Stamped<T>[]> {
  const now = new Date().toISOString();
  const storedByName = new Map(stored.map((section) => [section.name, section]));
  const stamped = await mapInTurns(wanted, (section) => {
    const before = storedByName.get(section.name);
    const same = { ...section, created_at: before?.created_at ?? now, updated_at: before?.updated_at ?? now };
    return before !== undefined && isDeepStrictEqual(same, before) ? before : { ...same, updated_at: now };
  });
  const named = new Set(wanted.map((section) => section.name));
  const kept = new Set(needed);
  return [...stamped, ...stored.filter(({ name }) => kept.has(name) && !named.has(name))];
}

/**
 * Returns true if no section was changed, added, removed or moved. Compares only object identities, because `restamp` keeps the stored
 * object of an unchanged section.
 */
function isSame(restamped: store.StampedSections, stored: store.StampedSections): boolean {
  const isSameList = (one: object[], other: object[]) =>
    one.length === other.length && one.every((section, index) => section === other[index]);
  return (
    isSameList(restamped.kitchens, stored.kitchens) &&
    isSameList(restamped.categories, stored.categories) &&
    isSameList(restamped.sub_menus, stored.sub_menus) &&
    isSameList(restamped.menu_sets, stored.menu_sets)
  );
}
