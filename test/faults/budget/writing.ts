import { MENU, ORDERS, STAFF_MENU } from '../../support/restaurant.ts';
import { dayAhead, RESERVATIONS } from '../../support/hotel.ts';
import { RECEIVER } from '../../support/channel.ts';
import type { MenuDocument } from '#restaurant/menu/schema.ts';
import { type BudgetCase, get, json } from './case.ts';
import { UNIQUE } from './call.ts';
import { type BudgetTenant, longMenu, smallMenu } from './house.ts';
import { BODY_BYTES, ITEMS, largeOrder } from './large-order.ts';

const PLAN_RATES = '/v1/channel-manager/pms/rates/';
const PLAN_RESTRICTIONS = '/v1/channel-manager/pms/restrictions/';

/**
 * Returns a body of about 1 MiB that contains a list of empty objects.
 * @param around returns the body that contains the given list
 * @param bytesEach the number of bytes that one element of the list takes in the body
 */
function emptyElements(around: (list: string) => string, bytesEach = 3): string {
  return around(`[${'{},'.repeat(Math.floor((BODY_BYTES - 300) / bytesEach) - 1)}{}]`);
}

const emptyOrder = (list: string) => `{"external_order_id":"${UNIQUE}","items":${list}}`;
const emptyRates = (tenant: BudgetTenant) => (list: string) => `{"rate_plan_id":"${tenant.planId}","rates":${list}}`;

const emptyElementsInLists: BudgetCase = {
  name: 'empty-elements',
  what: 'bodies of 1 MiB with lists of empty elements: an order, prices of nights, a menu, and an order as a form',
  isShort: true,
  async prepare(tenant) {
    const field = `external_order_id=${UNIQUE}&items=`;
    const form = emptyElements((list) => field + list.replaceAll('{}', '%7B%7D').replaceAll(',', '%2C'), 9);
    return [
      json('an order', 'partner', 'POST', ORDERS, emptyElements(emptyOrder)),
      json('prices', 'pms', 'PUT', PLAN_RATES, emptyElements(emptyRates(tenant))),
      json(
        'a menu',
        'staff',
        'PUT',
        STAFF_MENU,
        emptyElements((list) => `{"dishes":${list}}`),
      ),
      {
        name: 'an order as a form',
        who: 'partner',
        method: 'POST',
        path: ORDERS,
        type: 'application/x-www-form-urlencoded',
        body: Buffer.from(form),
      },
    ];
  },
};

const manyDishes: BudgetCase = {
  name: 'order-of-many-dishes',
  what: '75 orders in 15 s, each with 1,000 dishes or with as many items as fit into 1 MiB',
  isShort: true,
  pace: { atOnce: 0, after: 75, perSecond: 5 },
  async prepare(tenant) {
    const item = (index: number) => ({ item_id: tenant.dishes[index % ITEMS]?.sku, quantity: 1 });
    const items = Array.from({ length: Math.floor(BODY_BYTES / 36) }, (_, index) => item(index));
    const many = json('an order with items up to 1 MiB', 'partner', 'POST', ORDERS, {
      external_order_id: UNIQUE,
      items,
    });
    return [many, { ...largeOrder(tenant, 0), name: 'an order of 1,000 dishes' }];
  },
};

const largeOrdersAtOnce: BudgetCase = {
  name: 'large-orders-at-once',
  what: '290 concurrent orders of 1 MiB',
  isShort: true,
  pace: { atOnce: 290, after: 0, perSecond: 1 },
  prepare: async (tenant) => [largeOrder(tenant, BODY_BYTES)],
};

const strangersAtReceiver: BudgetCase = {
  name: 'strangers-at-the-receiver',
  what: '400 calls to the receiver of reservations without credentials, each with a body of 1 MiB whose last byte comes 3 s late',
  menu: smallMenu,
  pace: { atOnce: 400, after: 0, perSecond: 1 },
  async prepare() {
    const body = Buffer.from(JSON.stringify({ external_id: UNIQUE, notes: 'x'.repeat(BODY_BYTES - 100) }));
    const call = { who: 'anonymous', method: 'POST', path: RECEIVER, type: 'application/json', body } as const;
    return [{ ...call, name: 'a reservation without credentials', isHeldBack: true }];
  },
};

/** Returns a menu document of about 15 MiB: 150 dishes with the maximum of 200 add-ons each. The add-ons have long names. */
function heavyMenu(): MenuDocument {
  const name = (index: number) => `Add-on number ${index} ${'x'.repeat(480)}`;
  const { dishes, ...rest } = longMenu(150, 0);
  const addons = Array.from({ length: 200 }, (_, index) => ({ name: name(index), price: '0.50' }));
  return { ...rest, dishes: dishes.map((dish) => ({ ...dish, addons })) };
}

const heavyDishes: BudgetCase = {
  name: 'dishes-with-long-add-ons',
  what: 'orders, pages and changes of dishes with 200 add-ons under long names',
  menu: heavyMenu,
  async prepare(tenant) {
    const items = tenant.dishes.flatMap(({ sku, addons }) =>
      Array.from({ length: 5 }, (_, index) => ({
        item_id: sku,
        quantity: 1,
        addons: addons.slice(index * 3, index * 3 + 3).map(({ id }) => ({ addon_id: id, quantity: 2 })),
      })),
    );
    return [
      json('an order of each dish five times', 'partner', 'POST', ORDERS, { external_order_id: UNIQUE, items }),
      get('partner', `${MENU}?page_size=100`),
      json('a change of a dish', 'staff', 'PATCH', '/v1/staff/dishes/DISH-7/', { price: '1.20' }),
      get('partner', MENU),
      get('staff', STAFF_MENU),
    ];
  },
};

const LONGEST_RANGE_NIGHTS = 730;

const largestBodies: BudgetCase = {
  name: 'largest-good-bodies',
  what: 'a menu of 1 MiB, 1,000 prices and restrictions, a dish with 200 add-ons, a stay of 730 nights',
  async prepare({ planId, roomTypeId }) {
    const nights = Array.from({ length: 1_000 }, (_, index) => dayAhead(index % LONGEST_RANGE_NIGHTS));
    const rates = nights.map((date) => ({ date, price: '96.00' }));
    const restrictions = nights.map((date, index) => ({ date, stop_sell: index % 2 === 0 }));
    const addons = Array.from({ length: 200 }, (_, index) => ({ name: `${index} `.padEnd(512, 'x'), price: '1' }));
    const stay = { room_type_id: roomTypeId, check_in: dayAhead(1), check_out: dayAhead(LONGEST_RANGE_NIGHTS) };
    const guest = { name: 'Ana Lima', phone: '+351 912 000 000' };
    const reservation = { external_reservation_id: UNIQUE, ...stay, guest };
    return [
      json('a menu', 'staff', 'PUT', STAFF_MENU, longMenu()),
      json('prices', 'pms', 'PUT', PLAN_RATES, { rate_plan_id: planId, rates }),
      json('restrictions', 'pms', 'PUT', PLAN_RESTRICTIONS, { rate_plan_id: planId, restrictions }),
      json('a dish', 'staff', 'PATCH', '/v1/staff/dishes/DISH-7/', { addons }),
      json('a stay', 'partner', 'POST', RESERVATIONS, reservation),
      get('partner', MENU),
    ];
  },
};

/**
 * Ordinary calls, which show if the machine is fast enough. If this case breaks a guarantee, the machine is too slow or too busy, and the
 * results of the other cases prove no fault of the service.
 */
const ordinaryCalls: BudgetCase = {
  name: 'ordinary-calls',
  what: 'orders of one dish, and reads of orders and of the menu',
  menu: smallMenu,
  async prepare({ dishes }) {
    const items = [{ item_id: dishes[0]?.sku, quantity: 1 }];
    return [
      json('an order', 'partner', 'POST', ORDERS, { external_order_id: UNIQUE, items }),
      get('partner', `${ORDERS}?page_size=20`),
      get('partner', MENU),
    ];
  },
};

export const writingCases: readonly BudgetCase[] = [
  ordinaryCalls,
  emptyElementsInLists,
  manyDishes,
  largeOrdersAtOnce,
  strangersAtReceiver,
  heavyDishes,
  largestBodies,
];
