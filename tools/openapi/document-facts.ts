import type { SecurityScheme } from '#platform/http/guard.ts';

export interface DocumentFacts {
  title: string;
  version: string;
  /** In Markdown. */
  description: string;
  /** Which paths belong to it. */
  prefixes: readonly string[];
  /** Whether it tells of the events, under `webhooks`. */
  hasEvents?: boolean;
}

const ALL = `
Bodies may be JSON, \`application/x-www-form-urlencoded\` or \`multipart/form-data\`; answers are JSON. Times are ISO 8601 in UTC,
days are \`YYYY-MM-DD\`, money is a decimal text with two decimals. Every refusal is \`{code, message}\`: rely on \`code\` and the
status, the message is for people. A 5xx is safe to try again after a moment.`;

/** The documents by file name. */
export const DOCUMENTS: Record<string, DocumentFacts> = {
  'third-party': {
    title: 'Roomservice: third-party integration',
    version: '1.0.0',
    description: `Orders for a restaurant's kitchen and stays in a hotel's rooms, for delivery services, booking sites, POS systems and
marketplaces. One credential opens one tenant: its restaurant, its hotel, or both; whose data it is follows from the
credential alone. Creates are safe to repeat: each carries an id of the caller's own and is carried out once. What happens
to an order or a reservation afterwards is told by signed webhooks, and can be read from the feed of events.
${ALL}`,
    prefixes: ['/v1/third-party/'],
    hasEvents: true,
  },
  pms: {
    title: 'Roomservice: PMS integration',
    version: '1.0.0',
    description: `For property management systems and channel managers: properties, room types, inventory, rates, restrictions and
reservations of one tenant, under credentials of their own. Beside it stand the owner's operations that issue those
credentials and connect OTAs, and the receiver that takes an OTA's reservations.
${ALL}`,
    prefixes: ['/v1/channel-manager/'],
  },
  staff: {
    title: 'Roomservice: owner and staff',
    version: '1.0.0',
    description: `For the people of the house: signing in, the menu, orders and reservations as they are moved along, and what
becomes of webhooks and credentials.
${ALL}`,
    prefixes: ['/v1/staff/', '/v1/auth/'],
  },
};

/** What each tag of a route stands for; a document lists those that it uses, in this order. */
export const TAGS: Record<string, string> = {
  Restaurant: 'The menu, and orders for the kitchen. Needs the restaurant feature of the tenant.',
  Hotel: 'Room types, availability and stays. Needs the hotel feature of the tenant.',
  Webhook: 'Where events are sent, and the feed in which they can be read again.',
  Events:
    'What Roomservice posts to the registered URL. Verify the signature over the raw bytes before anything else. To have a real ' +
    'one sent while you build, run [`roomservice trigger`](/docs/guides/tools/) beside the sandbox.',
  PMS: 'Rooms, inventory, rates, restrictions and reservations, for a property management system.',
  Credentials: "The owner's: issue, rotate and revoke what partners call with.",
  Channels: "The owner's: OTAs that may report reservations.",
  Receiver: 'Where a connected OTA reports its reservations.',
  'Sign-in': 'A token for owner and staff.',
  Menu: 'The menu as the house keeps it.',
  Orders: 'Orders of all partners, and their way through the kitchen.',
  Properties: 'The hotels with their room types and rate plans.',
  Reservations: 'Reservations from everywhere, and what becomes of them.',
  Webhooks: 'What became of the events that were sent.',
  Audit: 'Who changed what.',
};

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description }) as const;

/** @param brand stands in the names of the signature's headers (decision 35) */
export function securitySchemes(brand: string): Record<SecurityScheme, object> {
  return {
    apiKey: header('X-API-Key', 'The `api_key` of a third-party credential. Sent together with its secret.'),
    apiSecret: header(
      'X-API-Secret',
      'The `api_secret` of the same credential, shown once when it was made or rotated.',
    ),
    pmsApiKey: header('X-PMS-API-Key', 'The `api_key` of a PMS credential. Sent together with its secret.'),
    pmsApiSecret: header('X-PMS-API-Secret', 'The `api_secret` of the same PMS credential, shown once.'),
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description:
        'The token of an owner or a staff member, from `POST /v1/auth/token/`, or of a configured identity provider.',
    },
    channelKey: header('X-Channel-Key', 'The `channel_key` of the channel.'),
    channelTimestamp: header(
      `X-${brand}-Timestamp`,
      'Unix time in seconds at which the call was signed; at most 5 minutes from the clock of the service.',
    ),
    channelSignature: header(
      `X-${brand}-Signature`,
      '`sha256=` and the HMAC-SHA-256, in hex, of `{timestamp}.{raw body}`, keyed with the `channel_secret`.',
    ),
  };
}
