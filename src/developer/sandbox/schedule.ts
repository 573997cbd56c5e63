import { mayFollow, type OrderStatus, type OrderType } from '#restaurant/orders/orders.ts';
import type { ReservationStatus } from '#hotel/reservations/reservations.ts';

/** A status to come, and how long after the order was placed, or the stay booked, at life's own pace. */
export interface Step<Status> {
  status: Status;
  afterMs: number;
}

/** What the kitchen sees of an order. */
export interface KitchenOrder {
  id: string;
  status: OrderStatus;
  order_type: OrderType;
  portions: number;
  /** The sku of a dish that asks for a case of its own; null: an ordinary order. */
  special_sku: string | null;
}

/** What the front desk sees of a confirmed reservation. */
export interface ExpectedGuest {
  guest_name: string;
  created_at: Date;
  /** The moment of the check-out at the property. */
  leavesAt: Date;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** For one portion; each further one takes a minute more. */
const COOKING_MS = 10 * MINUTE_MS;
/** No order takes longer by more portions than this: they are cooked side by side. */
const MOST_EXTRA_PORTIONS = 10;
const SLOW_KITCHEN = 4;

/** Guests whose name, in any case, asks for a case of its own (docs/guides/sandbox.md). */
const STEP_BY_GUEST_NAME: ReadonlyMap<string, Step<ReservationStatus>> = new Map([
  ['cancelled by hotel', { status: 'cancelled', afterMs: 30 * SECOND_MS }],
  ['no show', { status: 'no_show', afterMs: MINUTE_MS }],
  ['early checkout', { status: 'completed', afterMs: MINUTE_MS }],
]);

/**
 * What happens next to an order in the status it has, whoever moved it there: never back, and `out_for_delivery` only
 * where it is delivered. It follows from the order alone, so any process at any time finds the same.
 * @returns null where nothing more happens by itself
 */
export function nextOrderStep(order: KitchenOrder): Step<OrderStatus> | null {
  return stepsOf(order).find(({ status }) => mayFollow(order.status, status, order.order_type)) ?? null;
}

function stepsOf(order: KitchenOrder): Step<OrderStatus>[] {
  const between = (least: number, most: number) => least + (most - least) * luckOf(order.id);
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
      const leaves = ready + between(2, 4) * MINUTE_MS;
      const arrives = isDelivered ? leaves + between(13, 17) * MINUTE_MS : ready + between(3, 8) * MINUTE_MS;
      return [
        confirmed,
        { status: 'preparing', afterMs: preparing },
        { status: 'ready', afterMs: ready },
        { status: 'out_for_delivery', afterMs: leaves },
        { status: 'completed', afterMs: arrives },
      ];
    }
  }
}

function cookingMs({ portions, special_sku }: KitchenOrder): number {
  const extraPortions = Math.min(Math.max(portions - 1, 0), MOST_EXTRA_PORTIONS);
  return (COOKING_MS + extraPortions * MINUTE_MS) * (special_sku === 'SANDBOX-SLOW-KITCHEN' ? SLOW_KITCHEN : 1);
}

/** From 0 to 1, and always the same for one order: the last bits of an id are random. */
function luckOf(id: string): number {
  return Number.parseInt(id.slice(-4), 16) / 0xffff;
}

/** What happens next to a confirmed reservation: what the guest's name asks for, else the check-out. */
export function nextStayStep(guest: ExpectedGuest): Step<ReservationStatus> {
  return (
    STEP_BY_GUEST_NAME.get(guest.guest_name.trim().toLowerCase()) ?? {
      status: 'completed',
      afterMs: guest.leavesAt.getTime() - guest.created_at.getTime(),
    }
  );
}
