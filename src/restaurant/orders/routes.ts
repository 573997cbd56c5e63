import Type from 'typebox';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendJsonBytes, sendLongList } from '#platform/http/list.ts';
import { PageQuery, pageOf } from '#platform/http/paging.ts';
import { type Orders, partnerShape } from './orders.ts';
import { ExternalOrderPath, OrderCreate, OrderQuote, OrderQuoteRequest, OrderResponse } from './schema.ts';
import { listOfCredential } from './store.ts';

interface Dependencies {
  db: Database;
  orders: Orders;
  callerGuard: Guard;
}

const SHARED = { tags: ['Restaurant'] };
const PRICED = {
  errors: ['item_not_found', 'variant_not_found', 'addon_not_found', 'restaurant_closed'],
  exampleSummaries: ['A plain dish', 'With a variant and an add-on: use the ids from your menu'],
} as const;

export function orderRoutes(app: App, dependencies: Dependencies): void {
  collectionRoutes(app, dependencies);
  quoteRoute(app, dependencies);
  itemRoutes(app, dependencies);
}

function collectionRoutes(app: App, { db, orders, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/orders/',
    {
      onRequest: callerGuard,
      config: { place: 'long' },
      schema: {
        ...SHARED,
        operationId: 'listOrders',
        summary: 'List the orders of this credential',
        description:
          'Lists all orders that this credential has placed, newest first. Without `page` and `page_size`, the response is a ' +
          'stream of all orders, which the caller may read slowly. Use this list for past orders. To follow changes, use the ' +
          'events.',
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(OrderResponse), pageOf(OrderResponse)]) },
      },
    },
    (request, reply) => sendLongList(request, reply, listOfCredential(db, request.caller), partnerShape),
  );
  app.post(
    '/v1/third-party/orders/',
    {
      onRequest: callerGuard,
      config: { isIdempotent: true, ...PRICED },
      schema: {
        ...SHARED,
        operationId: 'createOrder',
        summary: 'Place an order once per external_order_id',
        description:
          'Places an order. The items are priced by the current menu, and the order keeps these prices. If several items are ' +
          'invalid, the response reports the first one.\n\n' +
          'This call is safe to repeat. If this credential has used the `external_order_id` before, the response is 200 with the ' +
          'stored order and `Idempotent-Replayed: true`. The fields must still be valid, but the items are not checked against ' +
          'the menu, and the stored order does not change. So send the same call again if its response was lost.\n\n' +
          'While the restaurant is closed, a new order gets 409 `restaurant_closed`.\n\n' +
          'Placing an order sends no event. Every later change of its status does.',
        body: OrderCreate,
        response: { 200: OrderResponse, 201: OrderResponse },
      },
    },
    async (request, reply) => {
      const { order, isReplayed } = await orders.place(request.caller, request.body);
      return isReplayed ? reply.header('idempotent-replayed', 'true').send(order) : reply.code(201).send(order);
    },
  );
}

function quoteRoute(app: App, { orders, callerGuard }: Dependencies): void {
  app.post(
    '/v1/third-party/orders/quote/',
    {
      onRequest: callerGuard,
      config: PRICED,
      schema: {
        ...SHARED,
        operationId: 'quoteOrder',
        summary: 'Price an order before it is placed',
        description:
          'Returns the lines and the total that an order of these items has now. The call places no order and changes ' +
          'nothing. Its body is the body of a new order without `external_order_id`, and it gets the errors of a new order. ' +
          'The menu may change before the order is placed, and the order then has the new prices.',
        body: OrderQuoteRequest,
        response: { 200: OrderQuote },
      },
    },
    async (request, reply) => sendJsonBytes(reply, await orders.quote(request.caller, request.body)),
  );
}

function itemRoutes(app: App, { orders, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/orders/:external_order_id/',
    {
      onRequest: callerGuard,
      config: { errors: ['order_not_found'] },
      schema: {
        ...SHARED,
        operationId: 'getOrder',
        summary: 'Read an order',
        description:
          'Returns the order in its current status. An order of another credential gets 404, like an unknown order.',
        params: ExternalOrderPath,
        response: { 200: OrderResponse },
      },
    },
    async (request) => await orders.find(request.caller, request.params.external_order_id),
  );
  app.post(
    '/v1/third-party/orders/:external_order_id/cancel/',
    {
      onRequest: callerGuard,
      config: { errors: ['order_not_found', 'invalid_status_transition'] },
      schema: {
        ...SHARED,
        operationId: 'cancelOrder',
        summary: 'Cancel an order',
        description:
          'Cancels an order in any status except `cancelled` and `completed`. The event `order.status_changed` follows. If ' +
          'the response was lost and you repeat the call, it is refused with `invalid_status_transition`, because the order ' +
          'is cancelled already.',
        params: ExternalOrderPath,
        response: { 200: OrderResponse },
      },
    },
    async (request) => await orders.cancel(request.caller, request.params.external_order_id),
  );
}
