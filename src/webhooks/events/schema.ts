import Type from 'typebox';
import { EVENTS, OrderEventData, ReservationEventData } from './catalogue.ts';
import { EVENT_TYPES } from './event-types.ts';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'stopped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export const DeliveryStatus = Type.Enum([...DELIVERY_STATUSES], {
  type: 'string',
  description:
    '`pending`: it waits for its next attempt. `delivered`: the receiver answered 2xx. `failed`: the fifth attempt failed, and ' +
    'there is no other. `stopped`: the credential was revoked.',
});

export const Attempt = Type.Object(
  {
    at: Type.String({ format: 'date-time', description: 'When it began.' }),
    http_status: Type.Union([Type.Integer(), Type.Null()], {
      description: 'What the receiver answered; null where no answer came.',
    }),
    duration_ms: Type.Union([Type.Integer(), Type.Null()], {
      description: 'How long it took, in milliseconds; null where that is not known.',
    }),
    error: Type.Union([Type.String(), Type.Null()], { description: 'Why it failed; null where it did not.' }),
  },
  { title: 'DeliveryAttempt', description: 'One attempt to deliver an event.' },
);
export type Attempt = Type.Static<typeof Attempt>;

/** Stands for the end of the feed where a cursor is asked for. */
export const LATEST = 'latest';

export const FeedQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      description:
        'The `next` of the answer before. Left out, or empty: from the oldest event that is still kept. `latest`: no event, and ' +
        '`next` is where the feed ends; what happens after the answer comes after it. A cursor that this feed never gave, or ' +
        'that is older than a restore of the service from a backup, is refused: begin again without it.',
      examples: ['0'],
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      default: 50,
      description: 'How many events are wanted at most.',
      examples: [50],
    }),
  ),
});

/**
 * `event` to `data` are the event as it is signed: serialised compactly, in this order, they are its body byte for
 * byte.
 */
const FeedEntry = Type.Object(
  {
    cursor: Type.String({ description: 'Its place in the feed; a text to keep as it is.' }),
    event: Type.Enum([...EVENT_TYPES], { type: 'string', description: 'What happened.' }),
    event_id: Type.String({ format: 'uuid', description: 'The same as in the delivery.' }),
    occurred_at: Type.String({ format: 'date-time', description: 'When it happened.' }),
    data: Type.Union([OrderEventData, ReservationEventData], {
      description: 'Which order or reservation, and its status.',
    }),
    delivery: Type.Union(
      [
        Type.Object(
          {
            status: DeliveryStatus,
            attempts: Type.Array(Attempt, { description: 'Every attempt, oldest first; five at most.' }),
          },
          { title: 'FeedDelivery', description: 'What has become of its delivery.' },
        ),
        Type.Null(),
      ],
      { description: 'Null where no webhook was registered when it happened.' },
    ),
  },
  { title: 'FeedEntry', description: 'An event, and what has become of its delivery.' },
);
export type FeedEntry = Type.Static<typeof FeedEntry>;

export const FeedPage = Type.Object(
  {
    results: Type.Array(FeedEntry, { description: 'Oldest first; empty where nothing new has happened.' }),
    next: Type.String({ description: 'Where to go on: `after` of the next call, also where `results` is empty.' }),
  },
  {
    title: 'FeedPage',
    description: "The credential's events after the cursor.",
    examples: [
      {
        results: [
          {
            cursor: '1042',
            ...EVENTS['order.status_changed'].example,
            delivery: {
              status: 'delivered',
              attempts: [{ at: '2026-11-20T18:49:15.211Z', http_status: 204, duration_ms: 38, error: null }],
            },
          },
        ],
        next: '1042',
      },
    ],
  },
);
export type FeedPage = Type.Static<typeof FeedPage>;
