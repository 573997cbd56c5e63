import { isDeepStrictEqual } from 'node:util';
import { type ApiError, invalidField } from '#platform/errors.ts';
import { MAX_RENDERED_MENU_BYTES } from '#platform/lib/bounds.ts';
import { type Change, describeListChanges } from '#platform/lib/change-list.ts';
import { type ChangedRow, changedRows, rowsToWrite } from '#platform/lib/changed-rows.ts';
import { newId } from '#platform/lib/ids.ts';
import { fillMenu, type FilledMenu, type Sections } from './menu-document.ts';
import { fitsInto } from './rendering.ts';
import type { MenuDocument } from './schema.ts';
import type { MenuComparison } from './staff-schema.ts';
import {
  dishDocument,
  type MenuOwner,
  type MenuTexts,
  type Stamped,
  type StampedSections,
  type StoredDish,
  type StoredMenu,
} from './stored-menu.ts';

export interface WantedMenu {
  sections: StampedSections;
  dishes: StoredDish[];
  unnamed: StoredDish[];
}

export interface AppliedMenu {
  dishes: ChangedRow<StoredDish>[];
  sections: { before: StampedSections; after: StampedSections };
}

/**
 * Computes the menu that replaces the stored menu. A dish keeps the id of the stored dish with the same sku. Stored dishes that are not in
 * the document become inactive.
 * @throws ApiError 400 `invalid_request` if the menu would be too large for partners
 */
export function planMenu(owner: MenuOwner, stored: StoredMenu, document: MenuDocument) {
  const wanted = wantedMenu(stored, fillMenu(document));
  if (!fitsInto(MAX_RENDERED_MENU_BYTES, owner, wanted)) {
    throw menuTooLarge();
  }
  const dishes = changedRows(stored.dishes, [...wanted.dishes, ...wanted.unnamed]);
  const isEqual = dishes.length === 0 && isDeepStrictEqual(wanted.sections, stored.sections);
  const changes = { dishes, sections: { before: stored.sections, after: wanted.sections } };
  return { wanted, changes: isEqual ? null : changes };
}

export function writesOf({ sections }: WantedMenu, { dishes }: AppliedMenu): MenuTexts {
  return { sections: JSON.stringify(sections), dishes: JSON.stringify(rowsToWrite(dishes)) };
}

export function menuTooLarge(): ApiError {
  return invalidField(
    'dishes',
    `would make a menu of more than ${MAX_RENDERED_MENU_BYTES} bytes for partners. Each dish is shown with its whole category, ` +
      'kitchen and menu set. Shorten their descriptions, put fewer sub_menus into a menu set, or list fewer dishes',
  );
}

function wantedMenu(stored: StoredMenu, filled: FilledMenu): WantedMenu {
  const ids = new Map(stored.dishes.map(({ sku, id }) => [sku, id]));
  const named = new Set(filled.dishes.map((dish) => dish.sku));
  const dishes = filled.dishes.map((dish, position) => ({ ...dish, position, id: ids.get(dish.sku) ?? newId() }));
  // A document from GET has all stored dishes in the order of their positions. So a PUT of this document changes no position.
  const unnamed = stored.dishes
    .filter((dish) => !named.has(dish.sku))
    .map((dish, index) => ({ ...dish, position: dishes.length + index, is_active: false }));
  return { sections: restamp(stored.sections, filled, unnamed), dishes, unnamed };
}

/** Keeps a stored section that is missing from the document if a dish in `unnamed` or a menu set needs it. */
function restamp(stored: StampedSections, wanted: Sections, unnamed: StoredDish[]): StampedSections {
  const neededBy = (field: 'kitchen' | 'category' | 'sub_menu' | 'menu_set') => unnamed.map((dish) => dish[field]);
  const menu_sets = restampList(stored.menu_sets, wanted.menu_sets, neededBy('menu_set'));
  const shown = menu_sets.flatMap((menuSet) => menuSet.sub_menus);
  return {
    kitchens: restampList(stored.kitchens, wanted.kitchens, neededBy('kitchen')),
    categories: restampList(stored.categories, wanted.categories, neededBy('category')),
    sub_menus: restampList(stored.sub_menus, wanted.sub_menus, [...neededBy('sub_menu'), ...shown]),
    menu_sets,
  };
}

function restampList<T extends { name: string }>(stored: Stamped<T>[], wanted: T[], needed: string[]): Stamped<T>[] {
  const now = new Date().toISOString();
  const storedByName = new Map(stored.map((section) => [section.name, section]));
  const stamped = wanted.map((section) => {
    const before = storedByName.get(section.name);
    const same = { ...section, created_at: before?.created_at ?? now, updated_at: before?.updated_at ?? now };
    return isDeepStrictEqual(same, before) ? same : { ...same, updated_at: now };
  });
  const named = new Set(wanted.map((section) => section.name));
  const kept = new Set(needed);
  return [...stamped, ...stored.filter(({ name }) => kept.has(name) && !named.has(name))];
}

export function menuChanges({ dishes, sections: { before, after } }: AppliedMenu): Change[] {
  return [
    ...sectionChanges('kitchen', before.kitchens, after.kitchens),
    ...sectionChanges('category', before.categories, after.categories),
    ...sectionChanges('sub-menu', before.sub_menus, after.sub_menus),
    ...sectionChanges('menu set', before.menu_sets, after.menu_sets),
    ...describeListChanges('dish', dishes, (dish) => dish.sku),
  ];
}

function sectionChanges(what: string, before: { name: string }[], after: { name: string }[]): Change[] {
  const earlier = new Map(before.map((section) => [section.name, section]));
  const now = new Map(after.map((section) => [section.name, section]));
  const names = new Set([...now.keys(), ...earlier.keys()]);
  const differences = Array.from(names, (name) => ({ before: earlier.get(name), after: now.get(name) }));
  return describeListChanges(what, differences, ({ name }) => name);
}

/** A new position is not a change. */
export function comparisonOf({ unnamed }: WantedMenu, changes: AppliedMenu | null): MenuComparison {
  const rows = changes?.dishes ?? [];
  const leaving = new Set(unnamed);
  return {
    added: rows.filter(({ before }) => before === undefined).map(({ after }) => after.sku),
    changed: rows
      .filter(({ after }) => !leaving.has(after))
      .map(({ before, after }) => ({ sku: after.sku, fields: before ? changedFields(before, after) : [] }))
      .filter(({ fields }) => fields.length > 0),
    taken_off: rows.filter(({ before, after }) => before?.is_active && !after.is_active).map(({ after }) => after.sku),
  };
}

function changedFields(before: StoredDish, after: StoredDish): string[] {
  const values = new Map<string, unknown>(Object.entries(dishDocument(after)));
  const fields = Object.entries(dishDocument(before));
  return fields.filter(([field, value]) => !isDeepStrictEqual(value, values.get(field))).map(([field]) => field);
}
