import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '#platform/lib/ids.ts';
import type { OrderStatus } from '#restaurant/orders/orders.ts';
import { type KitchenOrder, nextOrderStep, nextStayStep } from './schedule.ts';

const QUICK = '01900000-0000-7000-8000-000000000000';
const LATE = '01900000-0000-7000-8000-00000000ffff';
const ORDER: KitchenOrder = {
  id: QUICK,
  status: 'pending',
  order_type: 'delivery',
  portions: 1,
  special_sku: null,
};

/** Every step of an order that nobody else touches, in seconds since it was placed. */
function story(changes: Partial<KitchenOrder> = {}): [OrderStatus, number][] {
  const steps: [OrderStatus, number][] = [];
  let order: KitchenOrder = { ...ORDER, ...changes };
  for (let step = nextOrderStep(order); step !== null; step = nextOrderStep(order)) {
    steps.push([step.status, step.afterMs / 1_000]);
    order = { ...order, status: step.status };
  }
  return steps;
}

describe('an order', () => {
  const ways: [string, Partial<KitchenOrder>, [OrderStatus, number][]][] = [
    [
      'a quick delivery',
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
      'a late delivery',
      { id: LATE },
      [
        ['confirmed', 30],
        ['preparing', 150],
        ['ready', 750],
        ['out_for_delivery', 990],
        ['completed', 2_010],
      ],
    ],
    [
      'one that is picked up',
      { order_type: 'pick_up' },
      [
        ['confirmed', 10],
        ['preparing', 70],
        ['ready', 670],
        ['completed', 850],
      ],
    ],
    [
      'one that is taken away',
      { order_type: 'take_away', id: LATE },
      [
        ['confirmed', 30],
        ['preparing', 150],
        ['ready', 750],
        ['completed', 1_230],
      ],
    ],
    ['rejected', { special_sku: 'SANDBOX-REJECTED' }, [['cancelled', 5]]],
    [
      'cancelled',
      { special_sku: 'SANDBOX-CANCELLED' },
      [
        ['confirmed', 10],
        ['cancelled', 40],
      ],
    ],
    ['unanswered', { special_sku: 'SANDBOX-UNANSWERED' }, []],
  ];
  for (const [name, order, expected] of ways) {
    it(`${name}: goes its way in its time`, () => assert.deepEqual(story(order), expected));
  }

  const cooking: [string, Partial<KitchenOrder>, number][] = [
    ['one portion', { portions: 1 }, 10],
    ['two', { portions: 2 }, 11],
    ['eleven', { portions: 11 }, 20],
    ['two billion', { portions: 2_147_483_647 }, 20],
    ['none that is known', { portions: 0 }, 10],
    ['one of a slow kitchen', { special_sku: 'SANDBOX-SLOW-KITCHEN' }, 40],
    ['two of it', { special_sku: 'SANDBOX-SLOW-KITCHEN', portions: 2 }, 44],
    ['one under a sku that means nothing', { special_sku: 'SANDBOX-ELSE' }, 10],
  ];
  for (const [name, order, minutes] of cooking) {
    it(`${name}: is cooked in ${minutes} minutes`, () => {
      const at = new Map(story(order));
      assert.equal((at.get('ready') ?? 0) - (at.get('preparing') ?? 0), minutes * 60);
    });
  }

  const found: [OrderStatus, Partial<KitchenOrder>, OrderStatus | null][] = [
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
  for (const [status, order, next] of found) {
    it(`${[status, ...Object.values(order)].join(', ')}: goes on to ${next}`, () => {
      assert.equal(nextOrderStep({ ...ORDER, ...order, status })?.status ?? null, next);
    });
  }

  it('of any id: lies between the quick and the late one, and has the same times whenever it is asked for', () => {
    const [quick, late] = [story(), story({ id: LATE })];
    const seen = new Set<number>();
    for (let count = 0; count < 1_000; count += 1) {
      const id = newId();
      const steps = story({ id });
      assert.deepEqual(story({ id }), steps);
      steps.forEach(([, atSeconds], index) => {
        assert.ok(atSeconds >= (quick[index]?.[1] ?? 0) && atSeconds <= (late[index]?.[1] ?? 0));
      });
      seen.add(steps[0]?.[1] ?? 0);
    }
    assert.ok(seen.size > 900, 'ids differ in their times');
  });
});

describe('a stay', () => {
  const bookedAt = new Date('2026-05-01T12:00:00Z');
  const nextOf = (guest_name: string, leavesAt = '2026-05-04T10:00:00Z') =>
    nextStayStep({ guest_name, created_at: bookedAt, leavesAt: new Date(leavesAt) });

  it('ends at the check-out', () => {
    assert.deepEqual(nextOf('Ana Silva'), { status: 'completed', afterMs: 70 * 3_600_000 });
  });
  it('that is over already is due', () => {
    assert.equal(nextOf('Ana Silva', '2026-05-01T11:59:00Z').afterMs, -60_000);
  });
  it('of a name that asks for it is forced, however the name is written', () => {
    assert.deepEqual(nextOf('No Show'), { status: 'no_show', afterMs: 60_000 });
    assert.deepEqual(nextOf(' no SHOW '), { status: 'no_show', afterMs: 60_000 });
    assert.deepEqual(nextOf('Cancelled By Hotel'), { status: 'cancelled', afterMs: 30_000 });
    assert.deepEqual(nextOf('Early Checkout'), { status: 'completed', afterMs: 60_000 });
  });
  it('of a name that only holds such a name is not', () => {
    assert.equal(nextOf('Mr No Show').status, 'completed');
  });
});
