import Type from 'typebox';
import { PageQuery } from '#platform/http/paging.ts';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { Attempt, DELIVERY_STATUSES, DeliveryStatus } from '../events/events.ts';

/** Delivery as the staff API shows it (decision 36). */
export const Delivery = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The id of the delivery.' }),
    event: Type.String({ description: 'The name of the event.' }),
    event_id: Type.String({ format: 'uuid', description: 'The id of the event. The receiver gets the same id.' }),
    status: DeliveryStatus,
    attempts: Type.Array(Attempt, { description: 'All attempts, oldest first. There are at most five.' }),
    created_at: Type.String({ format: 'date-time', description: 'Time at which the event was written.' }),
  },
  {
    title: 'Delivery',
    description: 'Delivery of one event to the webhook of a partner.',
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

/** Body of a webhook registration (contract §2, webhook registration). */
export const WebhookRegister = Type.Object(
  {
    webhook_url: Type.String({
      minLength: 1,
      [DOCUMENTED]: { format: 'uri', maxLength: 2_048 },
      description:
        'HTTPS URL of at most 2,048 characters, without user name, password or fragment. The port is 443, or 1024 or above.',
    }),
  },
  {
    title: 'WebhookRegister',
    description: 'The URL to which events are sent.',
    examples: [{ webhook_url: 'https://partner.example/hooks/roomservice' }],
  },
);

/** Example of a webhook registration. Its secret signs the sample deliveries in the documentation. */
export const REGISTERED = {
  webhook_url: 'https://partner.example/hooks/roomservice',
  webhook_secret: 'rss_an-example-which-signs-the-deliveries-shown',
};

export const WebhookRegisterResponse = Type.Object(
  {
    webhook_url: Type.String({ description: 'The URL that is registered now.' }),
    webhook_secret: Type.String({
      description:
        'Secret that signs the deliveries. It is shown only once. It is empty if the same URL was already registered.',
    }),
  },
  {
    title: 'WebhookRegisterResponse',
    description: 'The registered URL with its secret.',
    examples: [REGISTERED, { ...REGISTERED, webhook_secret: '' }],
  },
);
