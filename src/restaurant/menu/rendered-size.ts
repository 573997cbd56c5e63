import { invalidField } from '#platform/errors.ts';
import { startTurn } from '#platform/lib/turn.ts';
import { countListed, partnerDish, type RenderedSections, renderDish, renderSections } from './rendering.ts';
import type { StoredDish, StoredMenu } from './store.ts';

/** As long as every id, and as every currency: what they are makes no difference to the size. */
const ANY_ID = '00000000-0000-0000-0000-000000000000';
const ANY_CURRENCY = 'XXX';
const NULL_BYTES = 'null'.length;
/** Stands where a section would, whose own bytes are counted once for all dishes. */
const HOLLOW = null as never;
const HOLLOW_SECTIONS: RenderedSections = {
  category: () => HOLLOW,
  subMenu: () => HOLLOW,
  kitchen: () => HOLLOW,
  menuSet: () => HOLLOW,
};

/** The bytes of `GET menu/`, exactly, at the cost of its dishes without their sections. It works in turns. */
export async function renderedBytes(tenantId: number, menu: Pick<StoredMenu, 'sections' | 'dishes'>): Promise<number> {
  const turn = startTurn();
  const sectionsOf = createSectionSizes(tenantId, menu);
  const listed = menu.dishes.filter((dish) => dish.is_active);
  let bytes = '[]'.length + Math.max(0, listed.length - 1); // The commas.
  for (const dish of listed) {
    if (turn.isOver()) {
      await turn.next();
    }
    const hollow = renderDish(dish, { currency: ANY_CURRENCY, sections: HOLLOW_SECTIONS, idOf: () => ANY_ID });
    bytes += jsonBytes(partnerDish(hollow)) + sectionsOf(dish) - 4 * NULL_BYTES;
  }
  return bytes;
}

/**
 * Refuses a menu that would be too large for partners.
 * @throws ApiError 400 `invalid_request` with the size it would have
 */
export function refuseTooLarge(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) {
    throw invalidField(
      'dishes',
      `make a menu of ${bytes} bytes as partners read it, and ${maxBytes} are allowed. Each dish is shown with its whole category, ` +
        'kitchen and menu set: make their descriptions shorter, name fewer sub_menus in a menu set, or list fewer dishes',
    );
  }
}

/** @returns the bytes of all four sections of a dish */
function createSectionSizes(tenantId: number, menu: Pick<StoredMenu, 'sections' | 'dishes'>) {
  const shown = { sections: menu.sections, dishCounts: countListed(menu.dishes) };
  const rendered = renderSections(tenantId, shown, () => ANY_ID);
  const kitchen = sizes(rendered.kitchen, jsonBytes);
  const category = sizes(rendered.category, jsonBytes);
  const subMenu = sizes(rendered.subMenu, jsonBytes);
  // A set may hold a hundred sub-menus: each is measured once, and stands in no text.
  const menuSet = sizes(rendered.menuSet, (set) => {
    const inside = set.sub_menus.reduce((sum, { name }) => sum + subMenu(name) - NULL_BYTES, 0);
    return jsonBytes({ ...set, sub_menus: set.sub_menus.map(() => null) }) + inside;
  });
  return (dish: StoredDish) =>
    kitchen(dish.kitchen) + category(dish.category) + subMenu(dish.sub_menu) + menuSet(dish.menu_set);
}

function sizes<Section>(render: (name: string) => Section, measure: (section: Section) => number) {
  const known = new Map<string, number>();
  return (name: string): number => {
    let bytes = known.get(name);
    if (bytes === undefined) {
      bytes = measure(render(name));
      known.set(name, bytes);
    }
    return bytes;
  };
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
