/**
 * Calls of the Postman collection. They can run in this order, because each request takes the values that it needs from earlier responses.
 * This file holds only the parts of a request that the OpenAPI documents do not contain.
 */

export interface Step {
  operation: string;
  /**
   * Text at the end of the request's name, after the summary of the operation. It is needed only if two requests call the same operation,
   * because both names would otherwise be equal.
   */
  suffix?: string;
  /** Expected status of the response. The default is 201 if the OpenAPI document lists this status for the operation, and otherwise 200. */
  status?: number;
  /**
   * Variables that the request needs, in addition to its credentials. If one of these variables or a credential is empty, Postman skips the
   * request.
   */
  needs?: string[];
  /** Variable that must be empty. The request is skipped if this variable has a value. */
  unless?: string;
  /**
   * Fields that replace fields in the example body of the OpenAPI document. Postman replaces `{{name}}` with the value of the variable
   * `name`. Write a variable in one of two ways:
   * - If its value is a text, write `'{{name}}'`. The request body then has quotes around the value.
   * - If its value is a number or a boolean, write `'{{{name}}}'` with three braces. `bodyOf` in `requests.ts` then removes the quotes and
   *   one pair of braces, so the request body has no quotes around the value.
   */
  body?: Record<string, unknown>;
  /** Lines of JavaScript that run before the request is sent. */
  before?: string[];
  /** Lines of JavaScript that run after the status of the response is checked. `answer` is the parsed body of the response. */
  after?: string[];
}

/** Variables that hold the credentials. The keys are the names of security schemes in the OpenAPI documents. */
const SCHEME_VARIABLES: Record<string, string> = {
  apiKey: 'apiKey',
  apiSecret: 'apiSecret',
  pmsApiKey: 'pmsApiKey',
  pmsApiSecret: 'pmsApiSecret',
  bearer: 'ownerToken',
};

/** Steps (calls of the collection) for each OpenAPI document. The documents are in the order in which their steps run. */
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
    { operation: 'quoteOrder', body: { items: [{ item_id: '{{itemId}}', quantity: 1 }] } },
    { operation: 'createOrder', before: [freshId('externalOrderId')], body: orderBody() },
    { operation: 'createOrder', suffix: 'repeated', status: 200, body: orderBody(), after: [replayed()] },
    { operation: 'getOrder' },
    { operation: 'listOrders' },
    { operation: 'cancelOrder' },
    { operation: 'listRoomTypes', after: [keep('roomTypeId', 'answer[0].room_type_id')] },
    { operation: 'getAvailability', before: stayAhead() },
    { operation: 'quoteReservation' },
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
    // The next two writes send back the prices and restrictions that earlier requests have read, so they change no value.
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
    // If the hotel has no reservation, this step stores an empty id, and the next request is skipped.
    { operation: 'pmsListReservations', after: [keep('bookingId', "answer[0]?.id ?? ''")] },
    { operation: 'pmsGetReservation', needs: ['bookingId'] },
  ],
};

/** Operations for partners and PMSs that the collection leaves out. Each value is the reason. */
export const LEFT_OUT: Record<string, string> = {
  rotateCredential: 'would invalidate the secret that a partner uses',
  revokeCredential: 'would permanently block a partner',
  rotatePmsCredential: 'would invalidate the secret that a PMS uses',
  revokePmsCredential: 'would permanently block a PMS',
  listChannels: 'an operation of the owner, which is not part of an integration',
  createChannel: 'an operation of the owner, which is not part of an integration',
  revokeChannel: 'an operation of the owner, which is not part of an integration',
  rotateChannel: 'an operation of the owner, which is not part of an integration',
  receiveReservation: 'needs the signature of an OTA with the secret of its channel',
};

export function schemeVariable(scheme: string): string {
  const variable = SCHEME_VARIABLES[scheme];
  if (variable === undefined)
    throw new Error(
      `The security scheme "${scheme}" has no variable. Add one to SCHEME_VARIABLES in scripts/postman/story.ts.`,
    );
  return variable;
}

function orderBody(): Record<string, unknown> {
  return { external_order_id: '{{externalOrderId}}', items: [{ item_id: '{{itemId}}', quantity: 1 }] };
}

/** Returns the body of a booking. The booking is for one guest, because one guest fits in every room type. */
function reservationBody(): Record<string, unknown> {
  return {
    external_reservation_id: '{{externalReservationId}}',
    room_type_id: '{{roomTypeId}}',
    check_in: '{{checkIn}}',
    check_out: '{{checkOut}}',
    guests: 1,
  };
}

/**
 * Returns script lines that store the dates of a stay of three nights. The stay begins in thirty days, so its dates are in the future in
 * every time zone.
 */
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

function keep(variable: string, expression: string): string {
  return `pm.collectionVariables.set('${variable}', ${expression});`;
}

/** Returns a script line that stores a value in the environment, so that later runs can use it too. */
function store(variable: string, expression: string): string {
  return `pm.environment.set('${variable}', ${expression});`;
}
