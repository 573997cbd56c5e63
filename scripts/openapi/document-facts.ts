import { CONSOLE_HEADER, SECURE_NAME } from '#access/sessions/console-cookie.ts';
import type { SecurityScheme } from '#platform/http/guard.ts';

export interface DocumentFacts {
  title: string;
  version: string;
  description: string;
  prefixes: readonly string[];
  hasEvents?: boolean;
}

const ALL = `
Request bodies may be JSON, \`application/x-www-form-urlencoded\` or \`multipart/form-data\`. Responses are JSON. Times are ISO 8601 in UTC,
days are \`YYYY-MM-DD\`, and an amount of money is a string with two decimals. Every error from 400 to 499 has the body
\`{code, message}\`. Decide by \`code\` and the status, because the message is for people. It is safe to send a request again
after a 5xx.`;

export const DOCUMENTS: Record<string, DocumentFacts> = {
  'third-party': {
    title: 'Roomservice: third-party integration',
    version: '1.0.0',
    description: `Orders for a restaurant's kitchen and stays in a hotel's rooms, for delivery services, booking sites, POS systems and
marketplaces. A credential gives access to one tenant, which has a restaurant, a hotel, or both. No request names the
tenant, because it follows from the credential. It is safe to repeat a call that creates something, because the call carries
an id of the caller and takes effect once. Signed webhooks report later changes of an order or a reservation. The feed of
events shows the same changes.
${ALL}`,
    prefixes: ['/v1/third-party/'],
    hasEvents: true,
  },
  pms: {
    title: 'Roomservice: PMS integration',
    version: '1.0.0',
    description: `For property management systems and channel managers: properties, room types, inventory, rates, restrictions and
reservations of one tenant. A PMS has its own kind of credentials. The document also has the owner's operations, which issue these
credentials and connect OTAs, and the receiver to which an OTA sends its reservations.
${ALL}`,
    prefixes: ['/v1/channel-manager/'],
  },
  staff: {
    title: 'Roomservice: owner and staff',
    version: '1.0.0',
    description: `For the owner and the staff of a tenant: sign-in, the menu, the status of orders and reservations, the deliveries of
webhooks, and credentials.

Staff and displays have areas: \`orders\`, \`menu\`, \`hotel\`, \`rates\` and \`deliveries\`. An owner has all of them. An operation
that needs an area names it in its response 403. A program sends a bearer token. A console in a browser sends a session cookie and the header
\`${CONSOLE_HEADER}: 1\`. If a call has the header \`Authorization\`, its cookie does not count.
${ALL}`,
    prefixes: ['/v1/staff/', '/v1/auth/'],
  },
};

/**
 * Description of each tag that routes have. A document lists only the tags that its operations use, in the order given
 * here.
 */
export const TAGS: Record<string, string> = {
  Restaurant: 'The menu, and orders for the kitchen. The tenant needs the restaurant feature.',
  Hotel: 'Room types, availability and stays. The tenant needs the hotel feature.',
  Webhook: 'The URL that receives events, and the feed, in which events can be read again.',
  Events:
    'Requests that Roomservice sends to the registered URL. Verify the signature over the raw bytes first. To receive a real ' +
    'event during development, run [`roomservice trigger`](/docs/guides/tools/) beside the sandbox.',
  PMS: 'Rooms, inventory, rates, restrictions and reservations, for a property management system.',
  Credentials: 'Operations of the owner, which issue, rotate and revoke the credentials of partners.',
  Channels: 'Operations of the owner, which connect the OTAs that may report reservations.',
  Receiver: 'The URL to which a connected OTA reports its reservations.',
  'Sign-in': 'Tokens and session cookies for the owner and the staff.',
  Sessions: 'The caller, and the sessions in browsers.',
  People: 'The people and the displays of the tenant, as its owners manage them.',
  Menu: 'The menu as the staff edit it.',
  Orders: 'Orders of all partners, and changes of their status.',
  Opening: 'The pause and the opening hours of the restaurant.',
  Properties: 'The properties of the hotel, with their room types and rate plans.',
  Calendar: 'The rooms, prices and closed nights of a property, night by night.',
  Rates: 'The prices and restrictions of nights, and the rate plans.',
  Reservations: 'Reservations of all partners and channels, and changes of their status.',
  Webhooks: 'Deliveries of events, and the result of each attempt.',
  'Live changes': 'Hints that data of the tenant has changed, as they happen.',
  Reports: 'The state of the house now, and numbers of orders and stays by day.',
  Audit: 'The audit trail, which records each change and who made it.',
  Sandbox: 'Simulated guests of the demo tenant.',
};

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description }) as const;

/**
 * Returns the security schemes of all documents.
 * @param brand the configurable part of the signature header names, such as `Service` in `X-Service-Signature` (rule 35)
 */
export function securitySchemes(brand: string): Record<SecurityScheme, object> {
  return {
    apiKey: header('X-API-Key', 'The `api_key` of a third-party credential. Sent together with its secret.'),
    apiSecret: header(
      'X-API-Secret',
      'The `api_secret` of the same credential. The service shows it once, when it makes or rotates the credential.',
    ),
    pmsApiKey: header('X-PMS-API-Key', 'The `api_key` of a PMS credential. Sent together with its secret.'),
    pmsApiSecret: header(
      'X-PMS-API-Secret',
      'The `api_secret` of the same PMS credential. The service shows it once, when it makes or rotates the credential.',
    ),
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description:
        'The token of an owner or a staff member, from `POST /v1/auth/token/`, or of a configured identity provider.',
    },
    sessionCookie: {
      type: 'apiKey',
      in: 'cookie',
      name: SECURE_NAME,
      description:
        'The session cookie of a console, from `POST /v1/auth/session/`. Over plain HTTP it is named `roomservice`. It counts only beside ' +
        `\`${CONSOLE_HEADER}\`, and only if no other site has caused the call (\`Sec-Fetch-Site\`).`,
    },
    consoleHeader: header(CONSOLE_HEADER, 'Always `1`. Sent together with the session cookie.'),
    channelKey: header('X-Channel-Key', 'The `channel_key` of the channel.'),
    channelTimestamp: header(
      `X-${brand}-Timestamp`,
      'Unix time in seconds at which the call was signed. It may differ from the clock of the service by at most 5 minutes.',
    ),
    channelSignature: header(
      `X-${brand}-Signature`,
      '`sha256=` and the HMAC-SHA-256, in hex, of `{timestamp}.{raw body}`, keyed with the `channel_secret`.',
    ),
  };
}
