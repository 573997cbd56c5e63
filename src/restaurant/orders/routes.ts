import Type from 'typebox';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendLongList } from '#platform/http/list.ts';
import { PageQuery, pageOf } from '#platform/http/paging.ts';
import { type Orders, partnerShape } from './orders.ts';
import { ExternalOrderPath, OrderCreate, OrderResponse } from './schema.ts';

interface Dependencies {
  orders: Orders;
  callerGuard: Guard;
}

const SHARED = { tags: ['Restaurant'] };

export function orderRoutes(app: App, dependencies: Dependencies): void {
  collectionRoutes(app, dependencies);
  itemRoutes(app, dependencies);
}

function collectionRoutes(app: App, { orders, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/orders/',
    {
      onRequest: callerGuard,
      schema: {
        ...SHARED,
        operationId: 'listOrders',
        summary: 'List the orders this credential has placed',
        description:
          'Newest first. Without `page` and `page_size` all of them are answered, as a stream that the caller may read as slowly ' +
          'as it likes. To follow changes, take the events: this list is for a look back.',
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(OrderResponse), pageOf(OrderResponse)]) },
      },
    },
    (request, reply) => sendLongList(request, reply, orders.listOfCaller(request.caller), partnerShape),
  );
  app.post(
    '/v1/third-party/orders/',
    {
      onRequest: callerGuard,
      config: {
        isIdempotent: true,
        errors: ['item_not_found', 'variant_not_found', 'addon_not_found'],
        exampleSummaries: ['A plain dish', 'With a variant and an add-on: put in their ids from your menu'],
      },
      schema: {
        ...SHARED,
        operationId: 'createOrder',
        summary: 'Place an order, once per external_order_id',
        description:
          'The items are priced by the menu of this moment, and the order keeps those prices. Of several faults in the items ' +
          'the first is told.\n\n' +
          'Safe to repeat: where this credential has used the `external_order_id` before, the stored order is answered with ' +
          '200 and `Idempotent-Replayed: true`, and nothing else of the body is looked at beyond its form. So send the same ' +
          'call again whenever its answer was lost.\n\n' +
          'Placing an order sends no event; every later change of its status does.',
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
        description: 'Always as it stands now. Orders of other credentials are answered as if they did not exist.',
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
          'Possible from every status but `cancelled` and `completed`. The event `order.status_changed` follows. Sent again ' +
          'after its answer was lost, it is refused with `invalid_status_transition`: the order is cancelled then.',
        params: ExternalOrderPath,
        response: { 200: OrderResponse },
      },
    },
    async (request) => await orders.cancel(request.caller, request.params.external_order_id),
  );
}
