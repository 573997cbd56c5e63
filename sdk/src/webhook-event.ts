import type { Order } from './restaurant.ts';
import type { Reservation } from './hotel.ts';

interface EventOf<Name extends string, Data> {
  event: Name;
  /** The same at every attempt to deliver the event, and in the feed: what to tell repeated ones by. */
  event_id: string;
  /** When it happened: ISO 8601, UTC. */
  occurred_at: string;
  data: Data;
}

type OrderData = Pick<Order, 'order_id' | 'external_order_id' | 'status'>;
type ReservationData = Pick<Reservation, 'reservation_id' | 'external_reservation_id' | 'status'>;

export type OrderStatusChanged = EventOf<'order.status_changed', OrderData>;
export type ReservationCreated = EventOf<'reservation.created', ReservationData>;
export type ReservationModified = EventOf<'reservation.modified', ReservationData>;
export type ReservationCancelled = EventOf<'reservation.cancelled', ReservationData>;

/** Whatever a webhook brings; `event` tells which. A later service may send others: leave them be. */
export type WebhookEvent = OrderStatusChanged | ReservationCreated | ReservationModified | ReservationCancelled;
