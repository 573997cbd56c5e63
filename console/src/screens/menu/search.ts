import { anyText, oneOf, searchOf } from '../../ui/search.ts';

/** SKU of the dish in the drawer, a part of a name, a SKU or a category, and whether only dishes that are off the menu are shown. */
export const validateMenuSearch = searchOf({ open: anyText, text: anyText, shown: (text) => oneOf(['off'], text) });
export type MenuSearch = ReturnType<typeof validateMenuSearch>;
