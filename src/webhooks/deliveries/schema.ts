import Type from 'typebox';
import { PageQuery } from '#platform/http/paging.ts';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { EVENT_TYPES } from '../events/event-types.ts';
import { EVENTS, OrderEventData, ReservationEventData } from '../events/catalogue.ts';

const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'stopped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const DeliveryStatus = Type.Enum([...DELIVERY_STATUSES], {
  type: 'string',
  description:
    '`pending`: it waits for its next attempt. `delivered`: the receiver answered 2xx. `failed`: the fifth attempt failed, and ' +
    'there is no other. `stopped`: the credential was revoked.',
});

const Attempt = Type.Object(
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

/** Decision 36. */
export const Delivery = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The id of the delivery.' }),
    event: Type.String({ description: 'The name of the event.' }),
    event_id: Type.String({ format: 'uuid', description: 'The id of the event, as its receiver sees it.' }),
    status: DeliveryStatus,
    attempts: Type.Array(Attempt, { description: 'Every attempt, oldest first; five at most.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the event was written.' }),
  },
  {
    title: 'Delivery',
    description: 'An event on its way to the webhook of a partner.',
    examples: [
      {
        id: '01a1fa59-7d48-74f7-a938-62d0e5f3b19c',
        event: 'reservation.created',
        event_id: '01a1fa59-7d48-74f7-a938-62d0e5f3b19c',
        status: 'pending',
        attempts: [{ at: '2026-11-20T19:05:31.215Z', http_status: 503, duration_ms: 84, error: 'http_status' }],
        created_at: '2026-11-20T19:05:31.208Z',
      },
      {
        id: '01a1fa4a-98c4-73e6-8f27-15b9a4c8d07e',
        event: 'order.status_changed',
        event_id: '01a1fa4a-98c4-73e6-8f27-15b9a4c8d07e',
        status: 'delivered',
        attempts: [{ at: '2026-11-20T18:49:15.211Z', http_status: 204, duration_ms: 38, error: null }],
        created_at: '2026-11-20T18:49:15.204Z',
      },
    ],
  },
);
export type Delivery = Type.Static<typeof Delivery>;

export const DeliveryQuery = Type.Object({
  ...PageQuery.properties,
  status: Type.Optional(
    Type.Enum([...DELIVERY_STATUSES], {
      type: 'string',
      description: 'Only deliveries in this status.',
      examples: ['failed'],
    }),
  ),
});

const nullableTime = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description });

/** What a credential's deliveries have come to, for its owner. */
export const CredentialDeliveries = Type.Object(
  {
    pending: Type.Integer({ description: 'How many wait for their next attempt.' }),
    failed: Type.Integer({ description: 'How many ended failed, of those that are still kept.' }),
    last_failed_at: nullableTime('The last attempt of the newest delivery that failed; null: none did.'),
    oldest_pending_at: nullableTime('When the event of the oldest waiting delivery happened; null: none waits.'),
  },
  { title: 'CredentialDeliveries', description: "What the partner's deliveries have come to." },
);
export type CredentialDeliveries = Type.Static<typeof CredentialDeliveries>;

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

/** Contract §2, webhook registration. */
export const WebhookRegister = Type.Object(
  {
    webhook_url: Type.String({
      minLength: 1,
      [DOCUMENTED]: { format: 'uri', maxLength: 2_048 },
      description:
        'An https URL of at most 2,048 characters, without user name, password or fragment, on port 443 or from 1024 up.',
    }),
  },
  {
    title: 'WebhookRegister',
    description: 'Where events are to be sent.',
    examples: [{ webhook_url: 'https://partner.example/hooks/roomservice' }],
  },
);

/** Its secret signs the deliveries that the documents show. */
export const REGISTERED = {
  webhook_url: 'https://partner.example/hooks/roomservice',
  webhook_secret: 'rss_an-example-which-signs-the-deliveries-shown',
};

export const WebhookRegisterResponse = Type.Object(
  {
    webhook_url: Type.String({ description: 'The URL that is registered now.' }),
    webhook_secret: Type.String({
      description: 'What deliveries are signed with. Shown once: empty where this very URL was registered already.',
    }),
  },
  {
    title: 'WebhookRegisterResponse',
    description: 'The registered URL with its secret.',
    examples: [REGISTERED, { ...REGISTERED, webhook_secret: '' }],
  },
);
