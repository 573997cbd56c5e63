import type { MenuDocument } from '#restaurant/menu/schema.ts';
import { MENU, STAFF_MENU, STAFF_ORDERS } from '../../support/restaurant.ts';
import { type BudgetCase, get } from './case.ts';
import { longMenu, smallMenu } from './house.ts';
import { BODY_BYTES, ITEMS, placeLargeOrders } from './large-order.ts';

/** Number of orders that the case `list-of-large-orders` stores. Each order has 1 MiB. The calls of this case list these orders. */
const STORED_ORDERS = 205;

/**
 * Returns a menu document of 1 MiB. The menu has 100 sub-menus with names of maximum length, and one menu set of all these sub-menus. Each
 * dish has only the short name of the menu set. But a response repeats all sub-menus in each dish, so it is much larger than the document.
 */
function multiplyingMenu(): MenuDocument {
  const subMenus = Array.from({ length: 100 }, (_, index) => `${index} `.concat('𝄞'.repeat(96)));
  const dishBytes = 70;
  return {
    categories: [{ name: 'P' }],
    sub_menus: subMenus.map((name) => ({ name })),
    menu_sets: [{ name: 'S', sub_menus: subMenus }],
    dishes: Array.from({ length: Math.floor((BODY_BYTES - 120_000) / dishBytes) }, (_, index) => ({
      sku: `${index}`,
      name: 'D',
      price: '1',
      category: 'P',
      menu_set: 'S',
    })),
  };
}

const multipliedMenu: BudgetCase = {
  name: 'menu-that-multiplies',
  what: 'a partner reads a menu of 1 MiB that is rendered as hundreds of MiB, in a process with a heap of 1 GiB',
  menu: smallMenu,
  heapMiB: 1_024,
  isUnrehearsed: true,
  pace: { atOnce: 10, after: 50, perSecond: 5 },
  async prepare(tenant) {
    await tenant.call('staff', 'PUT', STAFF_MENU, multiplyingMenu());
    return [get('partner', MENU), get('partner', `${MENU}?page_size=100`), get('staff', STAFF_MENU)];
  },
};

const largeOrdersListed: BudgetCase = {
  name: 'list-of-large-orders',
  what: `staff read a list of ${STORED_ORDERS} orders of 1 MiB`,
  pace: { atOnce: 20, after: 40, perSecond: 4 },
  async prepare(tenant) {
    await placeLargeOrders(tenant, STORED_ORDERS, BODY_BYTES);
    return [200, 50, 20].map((size) => get('staff', `${STAFF_ORDERS}?page_size=${size}`));
  },
};

/** Returns a menu that takes about 10 MiB in a response. */
const wideMenu = () => longMenu(ITEMS, 40);

const slowReaders: BudgetCase = {
  name: 'slow-readers',
  what: '140 callers read menus and a list of orders at 26 KiB per second, and 140 callers do not read their responses',
  menu: wideMenu,
  isUnrehearsed: true,
  pace: { atOnce: 280, after: 0, perSecond: 1 },
  async prepare(tenant) {
    await placeLargeOrders(tenant, 40, BODY_BYTES / 4);
    const lists = [get('partner', MENU), get('staff', `${STAFF_ORDERS}?page_size=200`), get('staff', STAFF_MENU)];
    return lists.flatMap((list) => [
      { ...list, name: `${list.name}, slowly`, reading: 'slowly' as const },
      { ...list, name: `${list.name}, never`, reading: 'never' as const },
    ]);
  },
};

export const readingCases: readonly BudgetCase[] = [multipliedMenu, largeOrdersListed, slowReaders];
