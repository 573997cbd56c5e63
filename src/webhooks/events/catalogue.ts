import Type from 'typebox';
import { oneOf, text, time, uuid } from '#platform/lib/fields.ts';
import type { EventType } from './event-types.ts';

/** `data` of an order event: identifiers and the new status, and no other field (contract §6). */
export const OrderEventData = Type.Object(
  {
    order_id: text('The id of the order in Roomservice.'),
    external_order_id: text("The platform's id of the order."),
    status: text('The new status of the order.'),
  },
  { title: 'OrderEventData', description: 'The order and its new status.' },
);

/** `data` of a reservation event: identifiers and the new status, and no other field (contract §6). */
export const ReservationEventData = Type.Object(
  {
    reservation_id: text('The id of the reservation in Roomservice.'),
    external_reservation_id: text("The platform's id of the reservation."),
    status: text('The new status of the reservation.'),
  },
  { title: 'ReservationEventData', description: 'The reservation and its new status.' },
);

interface Facts {
  summary: string;
  description: string;
  /** The event of the example. */
  event_id: string;
  occurred_at: string;
  data: Record<string, string>;
}

export type EventDescription = ReturnType<typeof eventOf>;

const STAY = { reservation_id: '01a1fa59-7d47-72d5-b816-c40f93e7a52d', external_reservation_id: 'CD-STAY-5521' };

export const EVENTS: Record<EventType, EventDescription> = {
  'order.status_changed': eventOf('order.status_changed', 'OrderStatusChanged', OrderEventData, {
    summary: 'The status of an order has changed',
    description: 'The platform or the restaurant has changed the status of an order. Placing an order causes no event.',
    event_id: '01a1fa4a-98c4-73e6-8f27-15b9a4c8d07e',
    occurred_at: '2026-11-20T18:49:15.204Z',
    data: {
      order_id: '01a1fa44-1218-71c4-9e05-7a36d8b1f240',
      external_order_id: 'CD-2026-1187',
      status: 'preparing',
    },
  }),
  'reservation.created': eventOf('reservation.created', 'ReservationCreated', ReservationEventData, {
    summary: 'A stay was booked',
    description: 'A call of `createReservation` has booked a stay.',
    event_id: '01a1fa59-7d48-74f7-a938-62d0e5f3b19c',
    occurred_at: '2026-11-20T19:05:31.208Z',
    data: { ...STAY, status: 'confirmed' },
  }),
  'reservation.modified': eventOf('reservation.modified', 'ReservationModified', ReservationEventData, {
    summary: 'The status of a reservation has changed',
    description: 'The status of a reservation has changed to a status other than `cancelled`.',
    event_id: '01bb973a-65ff-7508-ba49-73e1f604c2ad',
    occurred_at: '2030-05-04T10:12:44.031Z',
    data: { ...STAY, status: 'completed' },
  }),
  'reservation.cancelled': eventOf('reservation.cancelled', 'ReservationCancelled', ReservationEventData, {
    summary: 'A reservation was cancelled',
    description: 'The platform or the hotel has cancelled a reservation. Its nights are free again.',
    event_id: '01a20298-4284-7619-8b5a-84f20715d3be',
    occurred_at: '2026-11-22T09:31:02.660Z',
    data: { ...STAY, status: 'cancelled' },
  }),
};

/** The body of a delivery is this schema as compact JSON, with the fields in this order (contract §6). */
function eventOf(event: EventType, title: string, data: Type.TObject, { summary, description, ...facts }: Facts) {
  const example = { event, ...facts };
  const schema = Type.Object(
    {
      event: oneOf([event], 'The name of the event.'),
      event_id: uuid(
        'The id of the event. It is the same at every attempt. Ignore an id that you have already handled.',
      ),
      occurred_at: time('The time of the event. Events may arrive out of order.'),
      data,
    },
    { title, description, examples: [example] },
  );
  return { summary, description, schema, example };
}
