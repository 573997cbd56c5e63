import Type from 'typebox';
import { KeysetQuery } from '#platform/http/keyset-page.ts';
import { idsQuery } from '#platform/http/search-query.ts';
import { oneOf, orNull, text, textOrNull, time, uuid } from '#platform/lib/fields.ts';
import { EVENTS, OrderEventData, ReservationEventData } from './catalogue.ts';
import { EVENT_TYPES } from './event-types.ts';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'stopped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export const DeliveryStatus = oneOf(
  DELIVERY_STATUSES,
  '`pending`: the delivery waits for its next attempt. `delivered`: the receiver answered 2xx. `failed`: the fifth attempt ' +
    'failed, and the service does not try again. `stopped`: the credential was revoked, or its webhook URL was removed.',
);

export const EventSubject = Type.Object(
  {
    type: oneOf(['order', 'reservation'], 'The kind of object that the event reports.'),
    id: uuid('The id of the order or the reservation in Roomservice.'),
    external_id: text("The platform's id of the order or the reservation."),
  },
  { title: 'EventSubject', description: 'The order or the reservation that the event reports.' },
);
export type EventSubject = Type.Static<typeof EventSubject>;

export const Attempt = Type.Object(
  {
    at: time('Time at which the attempt began.'),
    http_status: orNull(Type.Integer(), 'HTTP status of the response. Null if the receiver did not answer.'),
    duration_ms: orNull(Type.Integer(), 'Duration of the attempt in milliseconds. Null if it is not known.'),
    error: textOrNull('Reason why the attempt failed. Null if it succeeded.'),
  },
  { title: 'DeliveryAttempt', description: 'One attempt to deliver an event.' },
);
export type Attempt = Type.Static<typeof Attempt>;

const { example } = EVENTS['order.status_changed'];
/** Attempt of this example. */
export const SUCCESSFUL_ATTEMPT = { at: '2026-11-20T18:49:15.211Z', http_status: 204, duration_ms: 38, error: null };
const DELIVERED = { status: 'delivered' as const, attempts: [SUCCESSFUL_ATTEMPT] };

export function attemptsOf<T extends Type.TSchema>(attempt: T) {
  return Type.Array(attempt, { description: 'All attempts, oldest first. There are at most five.' });
}

export const FeedQuery = Type.Object({
  after: Type.Optional(
    text(
      'The `next` of the previous response. If it is missing or empty, the response begins with the oldest event that is still ' +
        'kept. With `latest` the response has no events, and `next` is the end of the feed. Later events come after it. The service ' +
        'refuses a cursor that lies beyond the end of this feed, or that was given before the service was restored from a backup. ' +
        'In that case begin again without `after`.',
      '0',
    ),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      default: 50,
      description: 'Maximum number of events in the response.',
      examples: [50],
    }),
  ),
});

export type FeedQuery = Type.Static<typeof FeedQuery>;

/**
 * Entry of the feed. The fields `event`, `event_id`, `occurred_at` and `data`, serialised as compact JSON in this order, give exactly the
 * bytes of the signed body of the delivery.
 */
export const FeedEntry = Type.Object(
  {
    cursor: text('Position of the event in the feed. Keep this text unchanged.'),
    event: oneOf(EVENT_TYPES, 'The name of the event.'),
    event_id: uuid('The id of the event. It is the same in the delivery.'),
    occurred_at: time('The time of the event.'),
    data: Type.Union([OrderEventData, ReservationEventData], {
      description: 'The order or reservation and its new status.',
    }),
    delivery: orNull(
      Type.Object(
        { status: DeliveryStatus, attempts: attemptsOf(Attempt) },
        { title: 'FeedDelivery', description: 'The state of the delivery of this event.' },
      ),
      'Null if no webhook was registered when the event happened.',
    ),
  },
  { title: 'FeedEntry', description: 'An event and the state of its delivery.' },
);
export type FeedEntry = Type.Static<typeof FeedEntry>;

export const FeedPage = Type.Object(
  {
    results: Type.Array(FeedEntry, { description: 'The events, oldest first. Empty if there are no new events.' }),
    next: text('Send this as `after` in the next call, also if `results` is empty.'),
  },
  {
    title: 'FeedPage',
    description: "The credential's events after the cursor.",
    examples: [
      {
        results: [{ cursor: '1042', ...example, delivery: DELIVERED }],
        next: '1042',
      },
    ],
  },
);
export type FeedPage = Type.Static<typeof FeedPage>;

const { event, event_id, occurred_at, data, delivery } = FeedEntry.properties;
const PARTNER = '01a19b98-4e38-7e26-9b6f-564601a1fe8d';

export const StaffEvent = Type.Object(
  {
    event_id,
    event,
    occurred_at,
    data,
    credential_id: uuid('The id of the credential that the event belongs to.'),
    delivery,
  },
  {
    title: 'StaffEvent',
    description: 'An event of any partner, and the state of its delivery.',
    examples: [
      {
        event_id: example.event_id,
        event: example.event,
        occurred_at: example.occurred_at,
        data: example.data,
        credential_id: PARTNER,
        delivery: DELIVERED,
      },
    ],
  },
);
export type StaffEvent = Type.Static<typeof StaffEvent>;

export const StaffEventQuery = Type.Object({
  ...KeysetQuery.properties,
  credential_id: Type.Optional(uuid('Lists only events of this credential.', PARTNER)),
  type: Type.Optional(oneOf(EVENT_TYPES, 'Lists only events with this name.', example.event)),
  ids: idsQuery(
    'Lists only the events with these ids: up to 50 `event_id`s with commas between them.',
    example.event_id,
  ),
});
export type StaffEventQuery = Type.Static<typeof StaffEventQuery>;
