export const ORDER_TYPES = ['delivery', 'take_away', 'pick_up'] as const;
export type OrderType = (typeof ORDER_TYPES)[number];

/** `cancelled` is not in this list, because it can follow every status except `completed` (rule 20). */
const STEPS = ['pending', 'confirmed', 'preparing', 'ready', 'out_for_delivery', 'completed'] as const;

export const ORDER_STATUSES = [...STEPS, 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

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
