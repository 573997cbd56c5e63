import Type from 'typebox';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { text } from '#platform/lib/fields.ts';

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
