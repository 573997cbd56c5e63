import type { Order } from './restaurant.ts';
import type { Reservation } from './hotel.ts';

interface EventOf<Name extends string, Data> {
  event: Name;
  /** Id of the event. The id is the same in every delivery attempt and in the feed. Use it to recognize an event that arrives again. */
  event_id: string;
  /** Time of the change that the event reports, in ISO 8601 and UTC. */
  occurred_at: string;
  data: Data;
}

type OrderData = Pick<Order, 'order_id' | 'external_order_id' | 'status'>;
type ReservationData = Pick<Reservation, 'reservation_id' | 'external_reservation_id' | 'status'>;

export type OrderStatusChanged = EventOf<'order.status_changed', OrderData>;
export type ReservationCreated = EventOf<'reservation.created', ReservationData>;
export type ReservationModified = EventOf<'reservation.modified', ReservationData>;
export type ReservationCancelled = EventOf<'reservation.cancelled', ReservationData>;

/**
 * Event of a webhook. The field `event` names its type. A later version of the service may send new types. Ignore events of unknown types.
 */
export type WebhookEvent = OrderStatusChanged | ReservationCreated | ReservationModified | ReservationCancelled;

/**
 * Test call: a signed request that the hotel or restaurant sends to try your receiver. Respond with 204, and do not process it further. A
 * test call is not an event: the service sends it only once, and it is not in the feed. The body of a test call has no `event` and no
 * `data`. The SDK adds both fields, so that a program can read `event` and `data` of every delivery.
 */
export interface WebhookTest {
  event: 'test';
  test: true;
  /** Id of the test call. Each test call has its own id. */
  event_id: string;
  /** Time of the test call, in ISO 8601 and UTC. */
  occurred_at: string;
  /** Data of the test call, always empty. */
  data: Record<string, never>;
}
