import Type from 'typebox';
import { PageQuery } from '../http/paging.ts';

/** Contract §6. */
export type EventType =
  | 'order.status_changed'
  | 'reservation.created'
  | 'reservation.modified'
  | 'reservation.cancelled';

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

/** Contract §2, webhook registration. */
export const WebhookRegister = Type.Object({
  webhook_url: Type.String({ minLength: 1, description: 'an https URL of at most 2,048 characters' }),
});

export const WebhookRegisterResponse = Type.Object({
  webhook_url: Type.String(),
  webhook_secret: Type.String({ description: 'shown once; empty when the URL was registered already' }),
});
