/** Ways in which the food reaches the guest. */
export const ORDER_TYPES = ['delivery', 'take_away', 'pick_up'] as const;
export type OrderType = (typeof ORDER_TYPES)[number];

/**
 * Statuses in the order in which they follow each other. `cancelled` is not in this list, because it can follow several of them (decision
 * 20).
 */
const STEPS = ['pending', 'confirmed', 'preparing', 'ready', 'out_for_delivery', 'completed'] as const;

export const ORDER_STATUSES = [...STEPS, 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/**
 * Returns true if an order may change from one status to the other. The status may go forward, and may skip steps. It may change to
 * `cancelled` from every status except `completed` and `cancelled`. Only a delivery may become `out_for_delivery`.
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
