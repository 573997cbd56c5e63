/**
 * Intended changes of the OpenAPI documents that the contract check would report, because they can break clients. The check does not report
 * the changes in this list. An entry stays in the list after the changed document is published, because later runs of the check compare the
 * same change again.
 */
export interface Accepted {
  /** Date of the decision to accept the changes. */
  date: string;
  why: string;
  /** Accepted changes, keyed by the name of the document. Each change is a text exactly as `breakingChanges` returns it. */
  changes: Record<string, string[]>;
}

const PRICE_PATTERN = String.raw`^\d{1,8}(\.\d{1,2})?$`;
const PRICE_PATTERN_ADDED =
  '`anyOf` subschema of `base_price` was added. ' + JSON.stringify({ type: 'string', pattern: PRICE_PATTERN });

const removed415 = (path: string) =>
  `#/paths/${path.replaceAll('/', '~1')}/post/responses/415: Response \`415\` was removed.`;

const maxItems = (schema: string, field: string, count: number) =>
  `#/components/schemas/${schema}/properties/${field}/maxItems: \`maxItems\` of \`${field}\` was set to '${count}'.`;

const lessItems = (schema: string, field: string, before: number, after: number) =>
  `#/components/schemas/${schema}/properties/${field}/maxItems: \`maxItems\` of \`${field}\` changed from '${before}' to '${after}'.`;

const priceBounds = (schema: string, field: string) => [
  `#/components/schemas/${schema}/properties/${field}/maximum: Upper bound of \`${field}\` was set to '<= 99999999.99'.`,
  `#/components/schemas/${schema}/properties/${field}/minimum: Lower bound of \`${field}\` was set to '>= 0'.`,
  `#/components/schemas/${schema}/properties/${field}/pattern: \`pattern\` of \`${field}\` was set to '${PRICE_PATTERN}'.`,
];

const newCode = (code: string) =>
  `#/components/schemas/Error/properties/code/enum: Enum of \`code\` gained values: '${code}'.`;

export const ACCEPTED: Accepted[] = [
  {
    date: '2026-11-22',
    why: 'An operation that takes no body ignores every body. So it no longer refuses a body that is not JSON.',
    changes: {
      'third-party': [
        removed415('/v1/third-party/credentials/{id}/revoke/'),
        removed415('/v1/third-party/credentials/{id}/rotate/'),
        removed415('/v1/third-party/hotels/reservations/{external_reservation_id}/cancel/'),
        removed415('/v1/third-party/orders/{external_order_id}/cancel/'),
      ],
      pms: [
        removed415('/v1/channel-manager/channels/{id}/revoke/'),
        removed415('/v1/channel-manager/credentials/{id}/revoke/'),
        removed415('/v1/channel-manager/credentials/{id}/rotate/'),
      ],
    },
  },
  {
    date: '2026-11-22',
    why: 'The documents now state bounds and formats that the service has always had in requests and responses.',
    changes: {
      'third-party': [
        `#/components/schemas/AvailabilityResponse/properties/base_price/anyOf/0: ${PRICE_PATTERN_ADDED}`,
        "#/components/schemas/WebhookRegister/properties/webhook_url/format: `format` of `webhook_url` was set to 'uri'.",
        "#/components/schemas/WebhookRegister/properties/webhook_url/maxLength: `maxLength` of `webhook_url` was set to '2048'.",
      ],
      pms: [
        `#/components/schemas/PmsRoomType/properties/base_price/anyOf/0: ${PRICE_PATTERN_ADDED}`,
        ...priceBounds('RateWrite', 'price'),
        ...priceBounds('OtaReservation', 'total_amount'),
      ],
      staff: [`#/components/schemas/StaffRoomType/properties/base_price/anyOf/0: ${PRICE_PATTERN_ADDED}`],
    },
  },
  {
    date: '2026-11-22',
    why: 'With an unbounded list, one request could delay the service for all callers. Each bound is a setting.',
    changes: {
      'third-party': [maxItems('OrderCreate', 'items', 1_000), maxItems('OrderItemInput', 'addons', 100)],
      staff: [
        maxItems('MenuDocument', 'dishes', 10_000),
        ...['DishDocument', 'DishChange'].flatMap((schema) =>
          ['price_variants', 'addons', 'ingredients'].map((field) => maxItems(schema, field, 200)),
        ),
      ],
    },
  },
  {
    date: '2026-11-25',
    why: 'A display may do what staff with its areas may do. So the audit trail names it as the actor.',
    changes: {
      staff: [
        "#/components/schemas/AuditEntry/properties/actor/properties/type/enum: Enum of `type` gained values: 'display'.",
      ],
    },
  },
  {
    date: '2026-11-25',
    why: 'A closed restaurant has an error code of its own (decision 40). It is sent only after somebody has set a pause or opening hours.',
    changes: {
      'third-party': [newCode('restaurant_closed')],
      pms: [newCode('restaurant_closed')],
      staff: [newCode('restaurant_closed')],
    },
  },
  {
    date: '2026-11-25',
    why: 'The response of a dry run has another schema. It is sent only for the new parameter `dry_run`. `MenuDocument` itself is unchanged.',
    changes: {
      staff: [
        '#/paths/~1v1~1staff~1menu~1/put/responses/200/content/application~1json/schema: Properties are no longer required: `dishes`.',
        "#/paths/~1v1~1staff~1menu~1/put/responses/200/content/application~1json/schema: Type widened from 'object' to 'any'.",
        '#/components/schemas/MenuDocument/properties: All properties were removed.',
      ],
    },
  },
  {
    date: '2026-11-28',
    why: 'The receiver takes more values of a stay that an OTA has sold. Each value that it took before is still allowed.',
    changes: {
      pms: [
        '#/components/schemas/OtaReservation/properties/guests/anyOf: `anyOf` of `guests` was added. ' +
          '[{"type":"integer","minimum":0,"maximum":2147483647},{"type":"null"}]',
        '#/components/schemas/OtaReservation/properties/rate_plan_id/anyOf/0: `anyOf` subschema of `rate_plan_id` was removed.',
        '#/components/schemas/OtaReservation/properties/total_amount/pattern: `pattern` of `total_amount` changed from ' +
          String.raw`'^\d{1,8}(\.\d{1,2})?$' to '^(\d{1,8}(\.\d+)?)?$'.`,
      ],
    },
  },
  {
    date: '2026-11-28',
    why: 'With lower bounds, no order and no change of prices can delay other callers.',
    changes: {
      'third-party': ['OrderCreate', 'OrderQuoteRequest'].map((schema) => lessItems(schema, 'items', 1_000, 500)),
      staff: [lessItems('RateChanges', 'changes', 5_000, 1_000)],
    },
  },
  {
    date: '2026-11-29',
    why: 'A menu has at most 5,000 dishes. The lists of a dish may be longer than before.',
    changes: {
      staff: [
        "#/components/schemas/MenuDocument/properties/dishes/maxItems: `maxItems` of `dishes` changed from '10000' to '5000'.",
        ...['price_variants', 'addons', 'ingredients'].map(
          (field) =>
            `#/components/schemas/DishDocument/properties/${field}/maxItems: \`maxItems\` of \`${field}\` changed from '200' to '1000'.`,
        ),
      ],
    },
  },
  {
    date: '2026-11-29',
    why: 'A list waits for a place, and gets no 429 any more.',
    changes: {
      staff: [
        'audit',
        'calendar',
        'displays',
        'menu',
        'nights~1oversold',
        'orders',
        'people',
        'reservations',
        'webhook-deliveries',
      ].map((path) => `#/paths/~1v1~1staff~1${path}~1/get/responses/429: Response \`429\` was removed.`),
    },
  },
  {
    date: '2026-11-29',
    why: 'A hint of live changes names topics only, and each stream begins with `resync`. The stream is not part of a published version.',
    changes: {
      staff: [
        '#/paths/~1v1~1staff~1changes~1/get/parameters: All parameters were removed.',
        '#/components/schemas/LiveChange/required: Properties of `LiveChange` are no longer required: `order_ids`, `reservation_ids`.',
        ...['order_ids', 'reservation_ids'].map(
          (field) =>
            `#/components/schemas/LiveChange/properties/${field}: Property \`${field}\` of \`LiveChange\` was removed.`,
        ),
      ],
    },
  },
];

/** Returns those of the given breaking changes that `ACCEPTED` does not list for the document. */
export function notAccepted(document: string, breaking: string[]): string[] {
  const accepted = new Set(ACCEPTED.flatMap(({ changes }) => changes[document] ?? []));
  return breaking.filter((change) => !accepted.has(change));
}
