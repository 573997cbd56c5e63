/** Types of an order. The type says how the food reaches the guest. */
export const ORDER_TYPES = ['delivery', 'take_away', 'pick_up'] as const;
export type OrderType = (typeof ORDER_TYPES)[number];

/**
 * Statuses in the order in which they follow each other. `cancelled` is not in this list, because it can follow every status except
 * `completed` (decision 20).
 */
const STEPS = ['pending', 'confirmed', 'preparing', 'ready', 'out_for_delivery', 'completed'] as const;

export const ORDER_STATUSES = [...STEPS, 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/**
 * Returns true if the status of an order may change from `from` to `to`. The status may change to any later status in `STEPS`, but
 * `out_for_delivery` is only for orders of the type `delivery`. Every status except `completed` and `cancelled` may change to `cancelled`.
 */
export function mayFollow(from: OrderStatus, to: OrderStatus, orderType: OrderType): boolean {
  if (from === 'cancelled' || from === 'completed') {
    return false;
  }
  if (to === 'cancelled') {
    return true;
  }
  if (to === 'out_for_delivery' && orderType !== 'delivery') {
    return false;
  }
  return STEPS.indexOf(to) > STEPS.indexOf(from);
}
