/**
 * What the collection calls, in an order in which it can be run from top to bottom: every request takes what it needs from the
 * answers before. Which request an operation is follows from the documents; here stands only what they cannot know.
 */

export interface Step {
  /** The id of the operation in its document. */
  operation: string;
  /** Follows the summary in the request's name, where an operation is called more than once. */
  suffix?: string;
  /** The status that a run meets. Where it is left out: 201 where the operation can answer it, otherwise 200. */
  status?: number;
  /** Variables without which the request is skipped; those that its authentication takes need not be named. */
  needs?: string[];
  /** A variable with which the request is skipped. */
  unless?: string;
  /** Fields that take the place of the example's. `{{{name}}}` becomes the variable without quotes around it. */
  body?: Record<string, unknown>;
  /** Lines of JavaScript that are run before the call. */
  before?: string[];
  /** Lines that are run once the status is right; `answer` is the parsed body. */
  after?: string[];
}

/** What holds that which proves who calls, by the security scheme of the documents. */
const SCHEME_VARIABLES: Record<string, string> = {
  apiKey: 'apiKey',
  apiSecret: 'apiSecret',
  pmsApiKey: 'pmsApiKey',
  pmsApiSecret: 'pmsApiSecret',
  bearer: 'ownerToken',
};

/** The steps by document, the documents in the order of the run. */
export const STORY: Record<string, Step[]> = {
  staff: [
    {
      operation: 'signIn',
      needs: ['ownerEmail', 'ownerPassword'],
      body: { email: '{{ownerEmail}}', password: '{{ownerPassword}}' },
      after: [keep('ownerToken', 'answer.access_token')],
    },
  ],
  'third-party': [
    {
      operation: 'createCredential',
      unless: 'apiKey',
      body: { label: 'Postman' },
      after: [store('apiKey', 'answer.api_key'), store('apiSecret', 'answer.api_secret')],
    },
    { operation: 'listCredentials' },
    { operation: 'getMenu', after: [keep('itemId', 'answer[0].sku')] },
    { operation: 'createOrder', before: [freshId('externalOrderId')], body: orderBody() },
    { operation: 'createOrder', suffix: 'repeated', status: 200, body: orderBody(), after: [replayed()] },
    { operation: 'getOrder' },
    { operation: 'listOrders' },
    { operation: 'cancelOrder' },
    { operation: 'listRoomTypes', after: [keep('roomTypeId', 'answer[0].room_type_id')] },
    { operation: 'getAvailability', before: stayAhead() },
    { operation: 'createReservation', before: [freshId('externalReservationId')], body: reservationBody() },
    { operation: 'createReservation', suffix: 'repeated', status: 200, body: reservationBody(), after: [replayed()] },
    { operation: 'getReservation' },
    { operation: 'listReservations' },
    { operation: 'cancelReservation' },
    { operation: 'registerWebhook', needs: ['webhookUrl'], body: { webhook_url: '{{webhookUrl}}' } },
    { operation: 'listEvents' },
  ],
  pms: [
    {
      operation: 'createPmsCredential',
      unless: 'pmsApiKey',
      body: { label: 'Postman' },
      after: [store('pmsApiKey', 'answer.api_key'), store('pmsApiSecret', 'answer.api_secret')],
    },
    { operation: 'listPmsCredentials' },
    { operation: 'pmsListProperties', after: [keep('propertyId', 'answer[0].id')] },
    {
      operation: 'pmsListRoomTypes',
      after: [
        'const roomType = answer.find(({ rate_plans: plans }) => plans.length > 0);',
        keep('roomTypeId', 'roomType.id'),
        keep('ratePlanId', 'roomType.rate_plans[0].id'),
        keep('minNights', 'roomType.rate_plans[0].min_nights'),
      ],
    },
    { operation: 'pmsGetInventory', before: stayAhead() },
    { operation: 'pmsGetRates', after: [keep('price', 'answer[0].price'), keep('isSoldOut', 'answer[0].is_sold_out')] },
    // Both writes say what was read: the run leaves the prices and the restrictions of the house as they were.
    {
      operation: 'pmsPutRates',
      body: {
        rate_plan_id: '{{ratePlanId}}',
        rates: [{ date: '{{checkIn}}', price: '{{price}}', is_sold_out: '{{{isSoldOut}}}' }],
      },
    },
    {
      operation: 'pmsPutRestrictions',
      body: {
        rate_plan_id: '{{ratePlanId}}',
        restrictions: [{ date: '{{checkIn}}', stop_sell: '{{{isSoldOut}}}', min_nights: '{{{minNights}}}' }],
      },
    },
    // A house without any reservation has none to read.
    { operation: 'pmsListReservations', after: [keep('bookingId', "answer[0]?.id ?? ''")] },
    { operation: 'pmsGetReservation', needs: ['bookingId'] },
  ],
};

/** Operations of the partners' documents that no run may call, or none can: id → why. */
export const LEFT_OUT: Record<string, string> = {
  rotateCredential: 'would end the secret that a partner works with',
  revokeCredential: 'would shut a partner out for good',
  rotatePmsCredential: 'would end the secret that a PMS works with',
  revokePmsCredential: 'would shut a PMS out for good',
  listChannels: "the owner's, no part of an integration",
  createChannel: "the owner's, no part of an integration",
  revokeChannel: "the owner's, no part of an integration",
  receiveReservation: 'an OTA signs it, with the secret of its channel',
};

/** The variable that a security scheme's value comes from. */
export function schemeVariable(scheme: string): string {
  const variable = SCHEME_VARIABLES[scheme];
  if (variable === undefined) throw new Error(`no variable holds what the security scheme "${scheme}" asks for`);
  return variable;
}

function orderBody(): Record<string, unknown> {
  return { external_order_id: '{{externalOrderId}}', items: [{ item_id: '{{itemId}}', quantity: 1 }] };
}

/** One guest: any room type takes as many. */
function reservationBody(): Record<string, unknown> {
  return {
    external_reservation_id: '{{externalReservationId}}',
    room_type_id: '{{roomTypeId}}',
    check_in: '{{checkIn}}',
    check_out: '{{checkOut}}',
    guests: 1,
  };
}

/** Three nights from thirty days ahead, which lie in the future in every zone. */
function stayAhead(): string[] {
  return [
    'const dayAhead = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);',
    keep('checkIn', 'dayAhead(30)'),
    keep('checkOut', 'dayAhead(33)'),
  ];
}

function freshId(variable: string): string {
  return keep(variable, "`postman-${pm.variables.replaceIn('{{$guid}}')}`");
}

function replayed(): string {
  return "pm.response.to.have.header('Idempotent-Replayed', 'true');";
}

/** Remembers a value for the requests that follow. */
function keep(variable: string, expression: string): string {
  return `pm.collectionVariables.set('${variable}', ${expression});`;
}

/** Remembers a value in the environment, where the next run finds it too. */
function store(variable: string, expression: string): string {
  return `pm.environment.set('${variable}', ${expression});`;
}
