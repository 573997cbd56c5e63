import type { FilledDish, Sections } from './menu-document.ts';

export interface MenuOwner {
  tenantId: number;
  currency: string;
}

/** Times in ISO 8601. */
export type Stamped<T> = T & { created_at: string; updated_at: string };
export type StampedSections = { [K in keyof Sections]: Stamped<Sections[K][number]>[] };

export interface StoredDish extends FilledDish {
  id: string;
  position: number;
}

export interface StoredMenu {
  sections: StampedSections;
  dishes: StoredDish[];
}

/** JSON texts of megabytes, which the event loop does not parse (`menu-thread.ts`). */
export interface MenuTexts {
  sections: string;
  dishes: string;
}

export function parseMenu({ sections, dishes }: MenuTexts): StoredMenu {
  return { sections: JSON.parse(sections), dishes: JSON.parse(dishes) };
}

export function dishDocument({ id, position, ...document }: StoredDish): FilledDish {
  return document;
}

export function unstamped(sections: StampedSections): Sections {
  const bare = <T extends object>(list: Stamped<T>[]) =>
    list.map(({ created_at, updated_at, ...section }) => section as unknown as T);
  return {
    kitchens: bare(sections.kitchens),
    categories: bare(sections.categories),
    sub_menus: bare(sections.sub_menus),
    menu_sets: bare(sections.menu_sets),
  };
}
