import { mayFollow, type OrderStatus, type OrderType } from '#restaurant/orders/orders.ts';
import type { ReservationStatus } from '#hotel/reservations/reservations.ts';

/** `afterMs` is the time since the creation of the order or stay, in milliseconds of simulated time. */
export interface Step<Status> {
  status: Status;
  afterMs: number;
}

export interface KitchenOrder {
  id: string;
  status: OrderStatus;
  order_type: OrderType;
  portions: number;
  /** SKU that decides the next statuses (docs/guides/sandbox.md). Null for an order without a special dish. */
  special_sku: string | null;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** Cooking time of an order with one portion. Each further portion adds one minute, for at most `MOST_EXTRA_PORTIONS` further portions. */
const COOKING_MS = 10 * MINUTE_MS;
/** Extra portions above this number add no time, because the kitchen cooks several portions at the same time. */
const MOST_EXTRA_PORTIONS = 10;
/** Factor by which the dish SANDBOX-SLOW-KITCHEN lengthens the cooking time. */
const SLOW_KITCHEN = 4;

/** Next status of a stay for special guest names, in lower case (docs/guides/sandbox.md). */
const STEP_BY_GUEST_NAME: ReadonlyMap<string, Step<ReservationStatus>> = new Map([
  ['cancelled by hotel', { status: 'cancelled', afterMs: 30 * SECOND_MS }],
  ['no show', { status: 'no_show', afterMs: MINUTE_MS }],
  ['early checkout', { status: 'completed', afterMs: MINUTE_MS }],
]);

/** The result depends only on the order, so every process returns the same result. */
export function nextOrderStep(order: KitchenOrder): Step<OrderStatus> | null {
  return stepsOf(order).find(({ status }) => mayFollow(order.status, status, order.order_type)) ?? null;
}

function stepsOf(order: KitchenOrder): Step<OrderStatus>[] {
  const between = (least: number, most: number) => least + (most - least) * randomShareOf(order.id);
  const confirmed = { status: 'confirmed' as const, afterMs: between(10, 30) * SECOND_MS };
  switch (order.special_sku) {
    case 'SANDBOX-UNANSWERED':
      return [];
    case 'SANDBOX-REJECTED':
      return [{ status: 'cancelled', afterMs: 5 * SECOND_MS }];
    case 'SANDBOX-CANCELLED':
      return [confirmed, { status: 'cancelled', afterMs: confirmed.afterMs + 30 * SECOND_MS }];
    default: {
      const isDelivered = order.order_type === 'delivery';
      const preparing = confirmed.afterMs + between(1, 2) * MINUTE_MS;
      const ready = preparing + cookingMs(order);
      const outForDelivery = ready + between(2, 4) * MINUTE_MS;
      const completed = isDelivered ? outForDelivery + between(13, 17) * MINUTE_MS : ready + between(3, 8) * MINUTE_MS;
      return [
        confirmed,
        { status: 'preparing', afterMs: preparing },
        { status: 'ready', afterMs: ready },
        { status: 'out_for_delivery', afterMs: outForDelivery },
        { status: 'completed', afterMs: completed },
      ];
    }
  }
}

function cookingMs({ portions, special_sku }: KitchenOrder): number {
  const extraPortions = Math.min(Math.max(portions - 1, 0), MOST_EXTRA_PORTIONS);
  return (COOKING_MS + extraPortions * MINUTE_MS) * (special_sku === 'SANDBOX-SLOW-KITCHEN' ? SLOW_KITCHEN : 1);
}

/** Returns a number from 0 to 1, computed from the last 16 bits of the order id, which are random. */
function randomShareOf(id: string): number {
  return Number.parseInt(id.slice(-4), 16) / 0xffff;
}

export function nextStayStep(stay: {
  guest_name: string;
  created_at: Date;
  checkOutAt: Date;
}): Step<ReservationStatus> {
  return (
    STEP_BY_GUEST_NAME.get(stay.guest_name.trim().toLowerCase()) ?? {
      status: 'completed',
      afterMs: stay.checkOutAt.getTime() - stay.created_at.getTime(),
    }
  );
}
