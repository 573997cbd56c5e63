import { EVENTS, type EventDescription } from '#webhooks/events/catalogue.ts';
import { REGISTERED } from '#webhooks/deliveries/schema.ts';
import { deliveryHeaders } from '#webhooks/deliveries/signature.ts';
import type { Components } from './components.ts';

/** Seconds from the time of an example event until the service signs the delivery of this event. */
const DELAY_SECONDS = 3;

/**
 * Returns the `webhooks` part of a document: each event as a receiver gets it, keyed by event name (contract §6).
 * @param brand the configurable part of the header names (rule 35)
 */
export function eventsOf(components: Components, brand: string): Record<string, object> {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([name, { summary, description, schema, example }]) => {
      const post = {
        operationId: `on_${name.replace('.', '_')}`,
        tags: ['Events'],
        summary,
        description,
        security: [],
        parameters: headerParameters(example, brand),
        requestBody: {
          required: true,
          content: {
            'application/json': { schema: components.refer(schema), examples: { example: { value: example } } },
          },
        },
        responses: {
          '2XX': {
            description:
              'The receiver has accepted the event, within 10 seconds. Roomservice does not read the body of the response.',
          },
          '4XX': {
            description:
              'The attempt has failed, as after any other status that is not 2xx. Roomservice sends the event at most five times in all.',
          },
        },
      };
      return [name, { post }];
    }),
  );
}

/**
 * Returns the headers of a delivery. The example of the signature is computed with an example secret. The documents show the same secret in
 * the response to the registration of a webhook.
 */
function headerParameters(event: EventDescription['example'], brand: string): object[] {
  const headers = deliveryHeaders(brand, {
    secret: REGISTERED.webhook_secret,
    eventId: event.event_id,
    timestampSeconds: Math.floor(Date.parse(event.occurred_at) / 1000) + DELAY_SECONDS,
    body: JSON.stringify(event),
  });
  const descriptions = [
    '`sha256=` and the HMAC-SHA-256, in hex, of `{timestamp}.{raw body}`, keyed with the `webhook_secret` exactly as the service showed it.',
    'Unix time in seconds at which this attempt was signed.',
    'The `event_id` of the body. It is equal in all attempts, so a receiver can recognise repeated events.',
  ];
  return Object.entries(headers).map(([name, example], index) => ({
    name,
    in: 'header',
    required: true,
    description: descriptions[index],
    schema: { type: 'string' },
    example,
  }));
}
