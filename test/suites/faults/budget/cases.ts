import {
  MAX_BODY_BYTES,
  MAX_DISHES,
  MAX_ENTRIES,
  MAX_ORDER_ITEMS,
  MAX_STRANGER_BODY_BYTES,
} from '#platform/lib/bounds.ts';
import type { MenuDocument } from '#restaurant/menu/schema.ts';
import { RECEIVER } from '../../../support/channel.ts';
import { dayAhead } from '../../../support/hotel.ts';
import { PMS } from '../../../support/pms.ts';
import { MENU, ORDERS, STAFF_MENU, STAFF_ORDERS } from '../../../support/restaurant.ts';
import { type Call, get, json, UNIQUE } from './call.ts';
import type { Load } from './hog.ts';
import { type BudgetTenant, times } from './house.ts';

/** Test case in which one busy tenant makes expensive calls within its budget. These calls must not slow down other tenants. */
export interface BudgetCase {
  name: string;
  what: string;
  /** If missing, the tenant gets a small menu. */
  menu?: () => MenuDocument;
  load: Load;
  /** True if every call of the busy tenant must get a status 2xx. */
  mustAnswer?: boolean;
  /** Allowed growth of the memory, by default `GROWTH_MIB`. */
  growthMiB?: number;
  prepare(tenant: BudgetTenant): Promise<Call[]>;
}

const SIGN_IN = '/v1/auth/token/';
const LONGEST_RANGE_NIGHTS = 730;
const ADDONS_OF_AN_ITEM = 3;
const STORED_ORDERS = 100;

/** Returns a menu for the largest orders. Its names are short, because an order repeats them, and its priced lines are bounded. */
function menuOfLargestOrders(): MenuDocument {
  const addons = Array.from({ length: ADDONS_OF_AN_ITEM }, (_, index) => ({ name: `${index}`, price: '0.50' }));
  const dishes = Array.from({ length: MAX_ORDER_ITEMS }, (_, index) => ({
    sku: `D${index}`,
    name: `${index}`,
    price: '9.00',
    category: 'Pizza',
    addons,
  }));
  return { categories: [{ name: 'Pizza' }], dishes };
}

/** Returns an order of each dish of `menuOfLargestOrders` with all add-ons. It has 2,000 items and add-ons, and 120 KB of priced lines. */
function largestOrder({ dishes }: BudgetTenant) {
  const items = dishes.map(({ sku, addons }) => ({
    item_id: sku,
    quantity: 1,
    addons: addons.map(({ id }) => ({ addon_id: id })),
  }));
  return { external_order_id: UNIQUE, items };
}

function smallOrder({ dishes: [dish] }: BudgetTenant) {
  return { external_order_id: UNIQUE, items: [{ item_id: dish?.sku, quantity: 1 }] };
}

async function placeLargestOrders(tenant: BudgetTenant): Promise<void> {
  const order = largestOrder(tenant);
  await times(STORED_ORDERS, async (index) => {
    await tenant.call('partner', 'POST', ORDERS, { ...order, external_order_id: `large ${index}` });
  });
}

/**
 * Returns a menu of the largest number of dishes. Its document has nearly 4 MiB. Its response has nearly 16 MiB, because each dish repeats
 * its category and its kitchen.
 */
function largestMenu(): MenuDocument {
  const dishes = Array.from({ length: MAX_DISHES }, (_, index) => ({
    sku: `D${index}`,
    name: `Dish ${index}`,
    description: 'With all that belongs to it. '.repeat(25),
    price: '9.00',
    category: 'Pizza',
  }));
  return { categories: [{ name: 'Pizza', description: 'x'.repeat(1_510) }], kitchens: [{ name: UNIQUE }], dishes };
}

const SHORT_ORDERS = 4_000;
/** Longest `external_order_id`, so that a list of short orders has many bytes. */
const LONGEST_ID = '𝄞'.repeat(140);

const ADDRESSES = 10;

export const CASES: readonly BudgetCase[] = [
  {
    name: 'largest-orders',
    what: '200 of the largest orders at once, beside 200 small ones of another credential of the tenant',
    menu: menuOfLargestOrders,
    load: { callers: 400, calls: 400 },
    prepare: async (tenant) => [
      json('partner', 'POST', ORDERS, largestOrder(tenant)),
      json('secondPartner', 'POST', ORDERS, { ...smallOrder(tenant), external_order_id: `small ${UNIQUE}` }),
    ],
  },
  {
    name: 'small-calls',
    what: '300 small calls of one credential at once, each of which must get a status 2xx',
    load: { callers: 300, calls: 300 },
    mustAnswer: true,
    prepare: async (tenant) => [
      json('partner', 'POST', ORDERS, smallOrder(tenant)),
      get('partner', `${ORDERS}?page_size=20`),
      get('partner', MENU),
    ],
  },
  {
    name: 'largest-menu',
    what: 'the largest menu is written and read in turns',
    menu: largestMenu,
    load: { callers: 16, calls: 60 },
    // V8 frees buffers outside its heap only when 64 MiB of them are unused, and the thread for menus takes 80 MiB. Half the menu takes as much.
    growthMiB: 240,
    prepare: async () => [
      json('owner', 'PUT', STAFF_MENU, largestMenu()),
      get('partner', MENU),
      get('owner', STAFF_MENU),
      get('partner', `${MENU}?page_size=100`),
    ],
  },
  {
    name: 'lists-read-slowly',
    what: 'long lists and a menu: 30 callers read 26 KiB per second, and 30 do not read at all',
    menu: menuOfLargestOrders,
    load: { callers: 60, calls: 60 },
    async prepare(tenant) {
      const order = smallOrder(tenant);
      await times(SHORT_ORDERS, async (index) => {
        await tenant.call('partner', 'POST', ORDERS, { ...order, external_order_id: LONGEST_ID + index });
      });
      // The list of staff begins with the newest orders.
      await placeLargestOrders(tenant);
      const lists = [get('partner', ORDERS), get('owner', STAFF_ORDERS), get('partner', MENU)];
      return lists.flatMap<Call>((list) => [
        { ...list, reading: 'slowly' },
        { ...list, reading: 'never' },
      ]);
    },
  },
  {
    name: 'longest-calendars',
    what: '300 calendars of 730 dates at once: prices of a rate plan, and rooms of a room type',
    load: { callers: 300, calls: 300 },
    async prepare({ planId, roomTypeId }) {
      const range = `check_in=${dayAhead(0)}&check_out=${dayAhead(LONGEST_RANGE_NIGHTS)}`;
      return [
        get('pms', `${PMS}/rates/?rate_plan_id=${planId}&${range}`),
        get('pms', `${PMS}/inventory/?room_type_id=${roomTypeId}&${range}`),
      ];
    },
  },
  {
    name: 'staff-lists',
    what: `staff read lists of ${STORED_ORDERS}, 50 and 20 of the largest orders`,
    menu: menuOfLargestOrders,
    load: { callers: 30, calls: 70 },
    async prepare(tenant) {
      await placeLargestOrders(tenant);
      return [STORED_ORDERS, 50, 20].map((limit) => get('owner', `${STAFF_ORDERS}?limit=${limit}`));
    },
  },
  {
    name: 'unfinished-bodies',
    what: '280 bodies at once that never end, half of them from strangers',
    load: { callers: 280, calls: 280 },
    async prepare() {
      const bodyOf = (bytes: number) => ({ notes: 'x'.repeat(bytes - 100) });
      const calls = [
        json('anonymous', 'POST', SIGN_IN, bodyOf(MAX_STRANGER_BODY_BYTES)),
        json('partner', 'POST', ORDERS, bodyOf(MAX_BODY_BYTES)),
        json('anonymous', 'POST', RECEIVER, bodyOf(MAX_BODY_BYTES)),
        json('owner', 'PUT', STAFF_MENU, bodyOf(MAX_BODY_BYTES)),
      ];
      return calls.map((call) => ({ ...call, isUnfinished: true }));
    },
  },
  {
    name: 'sign-ins',
    what: `300 sign-ins at once with wrong passwords, from ${ADDRESSES} addresses`,
    load: { callers: 300, calls: 300 },
    async prepare() {
      const signIn = json('anonymous', 'POST', SIGN_IN, { email: `${UNIQUE}@house.example`, password: 'a wrong one' });
      return Array.from({ length: ADDRESSES }, (_, index) => ({ ...signIn, from: `192.0.2.${index + 1}` }));
    },
  },
  {
    name: 'longest-rate-changes',
    what: '100 changes of 1,000 prices at once, of a PMS and of staff',
    load: { callers: 100, calls: 150 },
    async prepare({ planId: rate_plan_id }) {
      // Equal prices are not written again, so each call has a price of its own.
      return Array.from({ length: 20 }, (_, index) => {
        const price = `${100 + index}.00`;
        const nights = Array.from({ length: MAX_ENTRIES }, (__, night) => ({ date: dayAhead(night), price }));
        const changes = nights.map((night) => ({ rate_plan_id, ...night }));
        return index % 2 === 0
          ? json('pms', 'PUT', `${PMS}/rates/`, { rate_plan_id, rates: nights })
          : json('owner', 'PATCH', '/v1/staff/rates/', { changes });
      });
    },
  },
];
