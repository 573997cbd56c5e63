import Type from 'typebox';
import { PageQuery } from '../http/paging.ts';

export type { EventType } from './event-types.ts';

const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'stopped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const DeliveryStatus = Type.Enum([...DELIVERY_STATUSES], { type: 'string' });

const Attempt = Type.Object({
  at: Type.String({ format: 'date-time' }),
  http_status: Type.Union([Type.Integer(), Type.Null()]),
  duration_ms: Type.Union([Type.Integer(), Type.Null()]),
  error: Type.Union([Type.String(), Type.Null()]),
});
export type Attempt = Type.Static<typeof Attempt>;

/** Decision 36. */
export const Delivery = Type.Object({
  id: Type.String({ format: 'uuid' }),
  event: Type.String(),
  event_id: Type.String({ format: 'uuid' }),
  status: DeliveryStatus,
  attempts: Type.Array(Attempt),
  created_at: Type.String({ format: 'date-time' }),
});
export type Delivery = Type.Static<typeof Delivery>;

export const DeliveryQuery = Type.Object({ ...PageQuery.properties, status: Type.Optional(DeliveryStatus) });

const nullableTime = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description });

/** What a credential's deliveries have come to, for its owner. */
export const CredentialDeliveries = Type.Object({
  pending: Type.Integer(),
  failed: Type.Integer(),
  last_failed_at: nullableTime('the last attempt of the newest delivery that failed'),
  oldest_pending_at: nullableTime('when the event of the oldest waiting delivery happened'),
});
export type CredentialDeliveries = Type.Static<typeof CredentialDeliveries>;

/** Stands for the end of the feed where a cursor is asked for. */
export const LATEST = 'latest';

export const FeedQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: `^(?:[0-9]{0,15}|${LATEST})$`,
      description:
        '`next` of the answer before; without it, or empty, the feed begins with the oldest event there is; `latest` shows ' +
        'no event, and its `next` is where the feed ends: what happens after the answer comes after it',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
});

/**
 * `event` to `data` are the event as it is signed: serialised compactly, in this order, they are its body byte for
 * byte.
 */
const FeedEntry = Type.Object({
  cursor: Type.String(),
  event: Type.String(),
  event_id: Type.String({ format: 'uuid' }),
  occurred_at: Type.String({ format: 'date-time' }),
  data: Type.Record(Type.String(), Type.String()),
  delivery: Type.Union([Type.Object({ status: DeliveryStatus, attempts: Type.Array(Attempt) }), Type.Null()], {
    description: 'null where no webhook was registered when it happened',
  }),
});
export type FeedEntry = Type.Static<typeof FeedEntry>;

export const FeedPage = Type.Object({
  results: Type.Array(FeedEntry),
  next: Type.String({ description: 'where to go on: `after` of the next call' }),
});
export type FeedPage = Type.Static<typeof FeedPage>;

/** Contract §2, webhook registration. */
export const WebhookRegister = Type.Object({
  webhook_url: Type.String({ minLength: 1, description: 'an https URL of at most 2,048 characters' }),
});

export const WebhookRegisterResponse = Type.Object({
  webhook_url: Type.String(),
  webhook_secret: Type.String({ description: 'shown once; empty when the URL was registered already' }),
});
