/** How the food reaches the guest. */
export const ORDER_TYPES = ['delivery', 'take_away', 'pick_up'] as const;
export type OrderType = (typeof ORDER_TYPES)[number];

/** In the order an order goes through them; `cancelled` stands beside the way (decision 20). */
const WAY = ['pending', 'confirmed', 'preparing', 'ready', 'out_for_delivery', 'completed'] as const;

export const ORDER_STATUSES = [...WAY, 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/**
 * Whether an order may go from one status to the other: forward along the way, steps left out or not, and to `cancelled`
 * from everywhere but the two ends. Only a delivery goes out for delivery.
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
  return WAY.indexOf(to) > WAY.indexOf(from);
}
