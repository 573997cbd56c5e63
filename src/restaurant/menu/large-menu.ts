import { fitsInThread, renderInThread } from './menu-thread.ts';
import { type RenderedMenu, renderedSize, renderMenu } from './rendered-menu.ts';
import { type MenuOwner, type MenuTexts, parseMenu } from './stored-menu.ts';

/** Bounds on a small menu: the length of its stored texts, and its size for partners in bytes. Its rendering takes about 2 ms. */
const SMALL_TEXTS_LENGTH = 32 * 1024;
const SMALL_RENDERED_BYTES = 64 * 1024;

/** Renders a menu for partners: a small menu at once, and a larger one on a thread. */
export async function renderForPartners(owner: MenuOwner, texts: MenuTexts): Promise<RenderedMenu> {
  const small = isShort(texts) ? renderMenu(owner, texts, SMALL_RENDERED_BYTES) : null;
  return small ?? (await renderInThread({ owner, texts }));
}

/** Returns true if a menu is not too large for partners. */
export async function fitsPartners(owner: MenuOwner, texts: MenuTexts): Promise<boolean> {
  const isSmall = isShort(texts) && renderedSize(owner, parseMenu(texts), SMALL_RENDERED_BYTES) !== null;
  return isSmall || (await fitsInThread({ owner, texts }));
}

function isShort({ sections, dishes }: MenuTexts): boolean {
  return sections.length + dishes.length <= SMALL_TEXTS_LENGTH;
}
