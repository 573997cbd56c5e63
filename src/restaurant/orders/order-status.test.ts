import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayFollow, ORDER_STATUSES, ORDER_TYPES, type OrderStatus } from './order-status.ts';

/**
 * For each status of an order of the type `delivery`, the statuses that may follow it. For the other order types, the test leaves out
 * `out_for_delivery`.
 */
const FOLLOWERS: Record<OrderStatus, OrderStatus[]> = {
  pending: ['confirmed', 'preparing', 'ready', 'out_for_delivery', 'completed', 'cancelled'],
  confirmed: ['preparing', 'ready', 'out_for_delivery', 'completed', 'cancelled'],
  preparing: ['ready', 'out_for_delivery', 'completed', 'cancelled'],
  ready: ['out_for_delivery', 'completed', 'cancelled'],
  out_for_delivery: ['completed', 'cancelled'],
  completed: [],
  cancelled: [],
};

describe('mayFollow', () => {
  for (const orderType of ORDER_TYPES) {
    it(`mayFollow allows a ${orderType} order only the later statuses of its type, and no status after completed or cancelled`, () => {
      for (const from of ORDER_STATUSES) {
        const allowed = ORDER_STATUSES.filter((to) => mayFollow(from, to, orderType));
        const expected = FOLLOWERS[from].filter((to) => orderType === 'delivery' || to !== 'out_for_delivery');
        assert.deepEqual(allowed, expected, `${orderType} from ${from}`);
      }
    });
  }
});
