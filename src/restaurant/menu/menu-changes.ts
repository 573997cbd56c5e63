import { type Change, describeListChanges } from '#platform/lib/change-list.ts';
import type { ChangedRow } from '#platform/lib/changed-rows.ts';
import type { StampedSections, StoredDish } from './stored-menu.ts';

/** Changes that were written to the stored menu of a tenant. */
export interface AppliedMenu {
  dishes: ChangedRow<StoredDish>[];
  sections: { before: StampedSections; after: StampedSections };
}

/** Returns the written changes of sections and dishes as one list. */
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
  const earlier = new Map(before.map((section, position) => [section.name, { ...section, position }]));
  const now = new Map(after.map((section, position) => [section.name, { ...section, position }]));
  const names = new Set([...now.keys(), ...earlier.keys()]);
  const differences = Array.from(names, (name) => ({ before: earlier.get(name), after: now.get(name) }));
  return describeListChanges(what, differences, ({ name }) => name);
}
