import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '#platform/lib/ids.ts';
import type { OrderStatus } from '#restaurant/orders/orders.ts';
import { type KitchenOrder, nextOrderStep, nextStayStep } from './schedule.ts';

/** Order ids that give the shortest and the longest waits between two statuses. The last 16 bits of an id decide the waits. */
const SHORTEST = '01900000-0000-7000-8000-000000000000';
const LONGEST = '01900000-0000-7000-8000-00000000ffff';
const ORDER: KitchenOrder = {
  id: SHORTEST,
  status: 'pending',
  order_type: 'delivery',
  portions: 1,
  special_sku: null,
};

/**
 * Returns all statuses that the sandbox gives to an order if no person changes the order, each with its time in seconds after the order was
 * placed.
 */
function stepsOf(changes: Partial<KitchenOrder> = {}): [OrderStatus, number][] {
  const steps: [OrderStatus, number][] = [];
  let order: KitchenOrder = { ...ORDER, ...changes };
  for (let step = nextOrderStep(order); step !== null; step = nextOrderStep(order)) {
    steps.push([step.status, step.afterMs / 1_000]);
    order = { ...order, status: step.status };
  }
  return steps;
}

describe('nextOrderStep, the next status of an order', () => {
  const courses: [string, Partial<KitchenOrder>, [OrderStatus, number][]][] = [
    [
      'a delivery order with the shortest waits',
      {},
      [
        ['confirmed', 10],
        ['preparing', 70],
        ['ready', 670],
        ['out_for_delivery', 790],
        ['completed', 1_570],
      ],
    ],
    [
      'a delivery order with the longest waits',
      { id: LONGEST },
      [
        ['confirmed', 30],
        ['preparing', 150],
        ['ready', 750],
        ['out_for_delivery', 990],
        ['completed', 2_010],
      ],
    ],
    [
      'a pick-up order with the shortest waits',
      { order_type: 'pick_up' },
      [
        ['confirmed', 10],
        ['preparing', 70],
        ['ready', 670],
        ['completed', 850],
      ],
    ],
    [
      'a take-away order with the longest waits',
      { order_type: 'take_away', id: LONGEST },
      [
        ['confirmed', 30],
        ['preparing', 150],
        ['ready', 750],
        ['completed', 1_230],
      ],
    ],
    ['an order of the dish SANDBOX-REJECTED', { special_sku: 'SANDBOX-REJECTED' }, [['cancelled', 5]]],
    [
      'an order of the dish SANDBOX-CANCELLED',
      { special_sku: 'SANDBOX-CANCELLED' },
      [
        ['confirmed', 10],
        ['cancelled', 40],
      ],
    ],
    ['an order of the dish SANDBOX-UNANSWERED', { special_sku: 'SANDBOX-UNANSWERED' }, []],
  ];
  for (const [kindOfOrder, order, expected] of courses) {
    it(`for ${kindOfOrder}, each status comes at the expected time after the order was placed`, () =>
      assert.deepEqual(stepsOf(order), expected));
  }

  const cooking: [string, Partial<KitchenOrder>, number][] = [
    ['one portion', { portions: 1 }, 10],
    ['two portions', { portions: 2 }, 11],
    ['eleven portions', { portions: 11 }, 20],
    ['two billion portions', { portions: 2_147_483_647 }, 20],
    ['zero portions', { portions: 0 }, 10],
    ['one portion and the dish SANDBOX-SLOW-KITCHEN', { special_sku: 'SANDBOX-SLOW-KITCHEN' }, 40],
    ['two portions and the dish SANDBOX-SLOW-KITCHEN', { special_sku: 'SANDBOX-SLOW-KITCHEN', portions: 2 }, 44],
    ['one portion and the unknown special dish SANDBOX-ELSE', { special_sku: 'SANDBOX-ELSE' }, 10],
  ];
  for (const [dishes, order, minutes] of cooking) {
    it(`an order with ${dishes} is ready ${minutes} minutes after its preparation begins`, () => {
      const at = new Map(stepsOf(order));
      assert.equal((at.get('ready') ?? 0) - (at.get('preparing') ?? 0), minutes * 60);
    });
  }

  const nextStatuses: [OrderStatus, Partial<KitchenOrder>, OrderStatus | null][] = [
    ['confirmed', {}, 'preparing'],
    ['ready', {}, 'out_for_delivery'],
    ['ready', { order_type: 'pick_up' }, 'completed'],
    ['out_for_delivery', {}, 'completed'],
    ['completed', {}, null],
    ['cancelled', {}, null],
    ['preparing', { special_sku: 'SANDBOX-CANCELLED' }, 'cancelled'],
    ['completed', { special_sku: 'SANDBOX-CANCELLED' }, null],
    ['cancelled', { special_sku: 'SANDBOX-REJECTED' }, null],
  ];
  for (const [status, order, next] of nextStatuses) {
    const kind = Object.values(order).join() || 'delivery';
    it(`if the status of an order (${kind}) is ${status}, its next status is ${next ?? 'null'}`, () => {
      assert.equal(nextOrderStep({ ...ORDER, ...order, status })?.status ?? null, next);
    });
  }

  it('each status of 1,000 random orders is due between its earliest and latest possible time, and a second computation for the same order returns the same times', () => {
    const [shortest, longest] = [stepsOf(), stepsOf({ id: LONGEST })];
    const seen = new Set<number>();
    for (let count = 0; count < 1_000; count += 1) {
      const id = newId();
      const steps = stepsOf({ id });
      assert.deepEqual(stepsOf({ id }), steps);
      steps.forEach(([, atSeconds], index) => {
        assert.ok(atSeconds >= (shortest[index]?.[1] ?? 0) && atSeconds <= (longest[index]?.[1] ?? 0));
      });
      seen.add(steps[0]?.[1] ?? 0);
    }
    assert.ok(seen.size > 900, 'most ids have a time of confirmation of their own');
  });
});

describe('nextStayStep, the next status of a stay', () => {
  const bookedAt = new Date('2026-05-01T12:00:00Z');
  const nextOf = (guest_name: string, checkOutAt = '2026-05-04T10:00:00Z') =>
    nextStayStep({ guest_name, created_at: bookedAt, checkOutAt: new Date(checkOutAt) });

  it('for an ordinary guest name, the next status of a stay is "completed", which is due at the check-out', () => {
    assert.deepEqual(nextOf('Ana Silva'), { status: 'completed', afterMs: 70 * 3_600_000 });
  });
  it('if a stay was booked one minute after its check-out, the time from the booking to the next status (afterMs) is -60,000 ms', () => {
    assert.equal(nextOf('Ana Silva', '2026-05-01T11:59:00Z').afterMs, -60_000);
  });
  it('for the guest name "No Show", in any letter case and with spaces around it, the next status of a stay is no_show', () => {
    assert.deepEqual(nextOf('No Show'), { status: 'no_show', afterMs: 60_000 });
    assert.deepEqual(nextOf(' no SHOW '), { status: 'no_show', afterMs: 60_000 });
    assert.deepEqual(nextOf('Cancelled By Hotel'), { status: 'cancelled', afterMs: 30_000 });
    assert.deepEqual(nextOf('Early Checkout'), { status: 'completed', afterMs: 60_000 });
  });
  it('if the guest name has a word besides "No Show", as in "Mr No Show", the next status of the stay is "completed", not "no_show"', () => {
    assert.equal(nextOf('Mr No Show').status, 'completed');
  });
});
