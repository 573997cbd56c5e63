import { invalidField } from '#platform/errors.ts';
import { startTurn } from '#platform/lib/turn.ts';
import { countListed, partnerDish, type RenderedSections, renderDish, renderSections } from './rendering.ts';
import type { StoredDish, StoredMenu } from './store.ts';

/**
 * Id and currency that stand for the real values when the size of a menu is computed. The computed size is still exact, because all ids
 * have the same length, and all currencies have the same length.
 */
const ANY_ID = '00000000-0000-0000-0000-000000000000';
const ANY_CURRENCY = 'XXX';
const NULL_BYTES = 'null'.length;
/**
 * Value in place of each section in the JSON of a dish, while the size of the dish is computed. Then the sizes of the sections of the dish
 * are added, and the sizes of the placeholders (`NULL_BYTES`) are subtracted. So the size of each section is computed only once.
 */
const PLACEHOLDER = null as never;
const PLACEHOLDER_SECTIONS: RenderedSections = {
  category: () => PLACEHOLDER,
  subMenu: () => PLACEHOLDER,
  kitchen: () => PLACEHOLDER,
  menuSet: () => PLACEHOLDER,
};

type RenderedMenu = Pick<StoredMenu, 'sections' | 'dishes'>;

/**
 * Returns the exact number of bytes of the response to `GET /v1/third-party/menu/`. Computes the size of each section only once, to save
 * time. Yields to the event loop regularly.
 */
export async function renderedBytes(tenantId: number, menu: RenderedMenu): Promise<number> {
  const turn = startTurn();
  const sectionsOf = createSectionSizes(tenantId, menu);
  const listed = menu.dishes.filter((dish) => dish.is_active);
  const commas = Math.max(0, listed.length - 1);
  let bytes = '[]'.length + commas;
  for (const dish of listed) {
    if (turn.isOver()) {
      await turn.next();
    }
    const bare = renderDish(dish, { currency: ANY_CURRENCY, sections: PLACEHOLDER_SECTIONS, idOf: () => ANY_ID });
    bytes += jsonBytes(partnerDish(bare)) + sectionsOf(dish) - 4 * NULL_BYTES;
  }
  return bytes;
}

/**
 * Refuses a menu if the response to partners would have more than `maxBytes` bytes.
 * @throws ApiError 400 `invalid_request`. The message gives the size of the menu.
 */
export function refuseTooLarge(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) {
    throw invalidField(
      'dishes',
      `would make a menu of ${bytes} bytes for partners, but at most ${maxBytes} are allowed. Each dish is shown with its whole ` +
        'category, kitchen and menu set. Shorten their descriptions, put fewer sub_menus into a menu set, or list fewer dishes',
    );
  }
}

/**
 * Refuses a change after which the response to partners would have more than `maxBytes` bytes. But if the stored menu is too large already,
 * refuses the change only if it makes the menu longer. So staff can make the menu smaller in several steps.
 */
export async function refuseGrowth(
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

/** Returns a function that computes how many bytes the kitchen, category, sub-menu and menu set of a dish take together. */
function createSectionSizes(tenantId: number, menu: RenderedMenu) {
  const shown = { sections: menu.sections, dishCounts: countListed(menu.dishes) };
  const rendered = renderSections(tenantId, shown, () => ANY_ID);
  const kitchen = sizes(rendered.kitchen, jsonBytes);
  const category = sizes(rendered.category, jsonBytes);
  const subMenu = sizes(rendered.subMenu, jsonBytes);
  // A menu set may contain a hundred sub-menus. Each sub-menu is measured once, and its size is added for each menu set that contains it.
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
