import Type from 'typebox';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
import { sendLongList } from '../http/list.ts';
import { PageQuery, pageOf } from '../http/paging.ts';
import { type Orders, partnerShape } from './orders.ts';
import { ExternalOrderPath, OrderCreate, OrderResponse } from './schema.ts';

interface Dependencies {
  orders: Orders;
  publicUrl: string | null;
  callerGuard: Guard;
}

export function orderRoutes(app: App, { orders, publicUrl, callerGuard }: Dependencies): void {
  const shared = { tags: ['Restaurant'], security: [{ apiKey: [], apiSecret: [] }] };
  app.get(
    '/v1/third-party/orders/',
    {
      onRequest: callerGuard,
      schema: {
        ...shared,
        operationId: 'listOrders',
        summary: 'List the orders this credential has placed',
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(OrderResponse), pageOf(OrderResponse)]) },
      },
    },
    (request, reply) => sendLongList(request, reply, publicUrl, orders.listOfCaller(request.caller), partnerShape),
  );
  app.post(
    '/v1/third-party/orders/',
    {
      onRequest: callerGuard,
      schema: {
        ...shared,
        operationId: 'createOrder',
        summary: 'Place an order, once per external_order_id',
        body: OrderCreate,
        response: { 200: OrderResponse, 201: OrderResponse },
      },
    },
    async (request, reply) => {
      const { order, isReplayed } = await orders.place(request.caller, request.body);
      return isReplayed ? reply.header('idempotent-replayed', 'true').send(order) : reply.code(201).send(order);
    },
  );
  app.get(
    '/v1/third-party/orders/:external_order_id/',
    {
      onRequest: callerGuard,
      schema: {
        ...shared,
        operationId: 'getOrder',
        summary: 'Read an order',
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
      schema: {
        ...shared,
        operationId: 'cancelOrder',
        summary: 'Cancel an order',
        params: ExternalOrderPath,
        response: { 200: OrderResponse },
      },
    },
    async (request) => await orders.cancel(request.caller, request.params.external_order_id),
  );
}
