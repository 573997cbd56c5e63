import { EVENTS, type EventFacts } from '#webhooks/events/catalogue.ts';
import { REGISTERED } from '#webhooks/deliveries/schema.ts';
import { deliveryHeaders } from '#webhooks/deliveries/signature.ts';
import type { Components } from './components.ts';

/** The deliveries of the examples were signed so long after they happened. */
const DELAY_SECONDS = 3;

/** The events as a receiver meets them, by name (contract §6). @param brand stands in the names of the headers (decision 35) */
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
          '2XX': { description: 'Taken, within 10 seconds. The body of the answer is not looked at.' },
          '4XX': { description: 'Failed, as is whatever else is not 2xx: the event is sent again, five times in all.' },
        },
      };
      return [name, { post }];
    }),
  );
}

/** The headers of a delivery, signed with the secret that the registration's example shows. */
function headerParameters(event: EventFacts['example'], brand: string): object[] {
  const headers = deliveryHeaders(brand, {
    secret: REGISTERED.webhook_secret,
    eventId: event.event_id,
    timestampSeconds: Math.floor(Date.parse(event.occurred_at) / 1000) + DELAY_SECONDS,
    body: JSON.stringify(event),
  });
  const descriptions = [
    '`sha256=` and the HMAC-SHA-256, in hex, of `{timestamp}.{raw body}`, keyed with the `webhook_secret` as it was shown.',
    'Unix time in seconds at which this attempt was signed.',
    'The `event_id` of the body: the same at every attempt, to tell repeats by.',
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
