import Type from 'typebox';
import { KeysetQuery } from '#platform/http/keyset-page.ts';
import { idsQuery } from '#platform/http/search-query.ts';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { integer, oneOf, orNull, text, textOrNull, time, timeOrNull, uuid } from '#platform/lib/fields.ts';
import {
  Attempt,
  attemptsOf,
  DELIVERY_STATUSES,
  DeliveryStatus,
  EVENT_TYPES,
  EVENTS,
  EventSubject,
  SUCCESSFUL_ATTEMPT,
} from '../events/events.ts';

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
    webhook_url: text('The URL that is registered now.'),
    webhook_secret: text(
      'Secret that signs the deliveries. It is shown only once. It is empty if the same URL was already registered.',
    ),
  },
  {
    title: 'WebhookRegisterResponse',
    description: 'The registered URL with its secret.',
    examples: [REGISTERED, { ...REGISTERED, webhook_secret: '' }],
  },
);

const CREDENTIAL = '01a19b98-4e38-7e26-9b6f-564601a1fe8d';

const FAILED_ATTEMPT = { at: '2026-11-20T19:05:31.215Z', http_status: 503, duration_ms: 84, error: 'http_status' };
const FAILING = {
  id: '01a1fa59-7d48-74f7-a938-62d0e5f3b19c',
  event: 'reservation.created',
  event_id: '01a1fa59-7d48-74f7-a938-62d0e5f3b19c',
  status: 'pending' as const,
  attempts: [FAILED_ATTEMPT],
  created_at: '2026-11-20T19:05:31.208Z',
  credential_id: CREDENTIAL,
  credential_label: 'City Delivery',
  next_attempt_at: '2026-11-20T19:05:32.841Z',
  subject: {
    type: 'reservation' as const,
    id: '01a1fa59-7d47-72d5-b816-c40f93e7a52d',
    external_id: 'CD-STAY-5521',
  },
};

export const Delivery = Type.Object(
  {
    id: uuid('The id of the delivery.'),
    event: text('The name of the event.'),
    event_id: uuid('The id of the event. The receiver gets the same id.'),
    status: DeliveryStatus,
    attempts: attemptsOf(Attempt),
    created_at: time('Time at which the event was written.'),
    credential_id: uuid('The id of the credential that the event belongs to.'),
    credential_label: text('The label of this credential. It may be empty.'),
    next_attempt_at: timeOrNull(
      'Time from which the next attempt may begin. If it has passed, the attempt waits for its turn or is under way. Null if ' +
        'no attempt follows.',
    ),
    subject: EventSubject,
  },
  {
    title: 'Delivery',
    description: 'Delivery of one event to the webhook of a partner.',
    examples: [
      FAILING,
      {
        id: '01a1fa4a-98c4-73e6-8f27-15b9a4c8d07e',
        event: 'order.status_changed',
        event_id: '01a1fa4a-98c4-73e6-8f27-15b9a4c8d07e',
        status: 'delivered',
        attempts: [SUCCESSFUL_ATTEMPT],
        created_at: '2026-11-20T18:49:15.204Z',
        credential_id: CREDENTIAL,
        credential_label: 'City Delivery',
        next_attempt_at: null,
        subject: { type: 'order', id: '01a1fa44-1218-71c4-9e05-7a36d8b1f240', external_id: 'CD-2026-1187' },
      },
    ],
  },
);
export type Delivery = Type.Static<typeof Delivery>;

const AnsweredAttempt = Type.Object(
  {
    ...Attempt.properties,
    answer: textOrNull(
      'The first 1,024 bytes of the response, as text. Null if the attempt succeeded, if the receiver did not answer, or if the ' +
        'operator allows receivers in private networks.',
    ),
  },
  { title: 'AnsweredAttempt', description: 'One attempt to deliver an event, with the begin of the response.' },
);

export const DeliveryDetail = Type.Object(
  {
    ...Delivery.properties,
    attempts: attemptsOf(AnsweredAttempt),
    body: text('The body of all attempts, as it is signed.'),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        'The headers of the last attempt without its signature, and without headers that depend on the connection, for example ' +
        '`host`. The header with the timestamp is missing if the last attempt signed no request, or has no outcome.',
    }),
  },
  {
    title: 'DeliveryDetail',
    description: 'Delivery of one event, with the request and the responses.',
    examples: [
      {
        ...FAILING,
        attempts: [{ ...FAILED_ATTEMPT, answer: '{"error": "maintenance"}' }],
        body: JSON.stringify(EVENTS['reservation.created'].example),
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Roomservice/1.0',
          'X-Service-Timestamp': '1795201531',
          'X-Service-Event-Id': '01a1fa59-7d48-74f7-a938-62d0e5f3b19c',
        },
      },
    ],
  },
);

export const DeliveryPath = Type.Object({
  id: text('The id of the delivery, from the list.', FAILING.id),
});

export const DeliveryQuery = Type.Object({
  ...KeysetQuery.properties,
  status: Type.Optional(oneOf(DELIVERY_STATUSES, 'Only deliveries in this status.', 'failed')),
  credential_id: Type.Optional(uuid('Only deliveries of the events of this credential.', CREDENTIAL)),
  event: Type.Optional(oneOf(EVENT_TYPES, 'Only deliveries of events with this name.', 'order.status_changed')),
  ids: idsQuery('Only the deliveries with these ids: up to 50 ids with commas between them.', FAILING.id),
  created_from: Type.Optional(
    time('Only deliveries whose `created_at` is this time or later.', '2026-11-20T00:00:00Z'),
  ),
  created_to: Type.Optional(time('Only deliveries whose `created_at` is before this time.', '2026-11-21T00:00:00Z')),
});
export type DeliveryQuery = Type.Static<typeof DeliveryQuery>;

export const TestCallOutcome = Type.Object(
  {
    http_status: orNull(Type.Integer(), 'The HTTP status of the response. Null if no response was received.'),
    duration_ms: integer('Milliseconds until the status of the response was read, or until the call failed.'),
    error: textOrNull(
      'Reason why the call failed, as in the attempts of a delivery. Null if the receiver answered with a 2xx. `aborted`: the ' +
        'service stopped during the call.',
    ),
    answer: textOrNull(
      'The first 1,024 bytes of the body of the response, as text. Null if no response was received, or if the operator allows ' +
        'webhooks in private networks.',
    ),
  },
  {
    title: 'TestCallOutcome',
    description: 'The response of the receiver to a test call.',
    examples: [
      { http_status: 204, duration_ms: 41, error: null, answer: '' },
      { http_status: 401, duration_ms: 38, error: 'http_status', answer: 'bad signature' },
      { http_status: null, duration_ms: 10_000, error: 'timeout', answer: null },
    ],
  },
);
export type TestCallOutcome = Type.Static<typeof TestCallOutcome>;
