import Type from 'typebox';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
import { sendLongList } from '../http/list.ts';
import { pageOf } from '../http/paging.ts';
import { type Orders, staffShape } from './orders.ts';
import { OrderPath, StaffOrder, StaffOrderQuery, StatusChange } from './schema.ts';

interface Dependencies {
  orders: Orders;
  publicUrl: string | null;
  staffGuard: Guard;
}

export function orderStaffRoutes(app: App, { orders, publicUrl, staffGuard }: Dependencies): void {
  const shared = { tags: ['Orders'], security: [{ bearer: [] }] };
  app.get(
    '/v1/staff/orders/',
    {
      onRequest: staffGuard,
      schema: {
        ...shared,
        operationId: 'listStaffOrders',
        summary: "List the restaurant's orders",
        querystring: StaffOrderQuery,
        response: { 200: Type.Union([Type.Array(StaffOrder), pageOf(StaffOrder)]) },
      },
    },
    (request, reply) => {
      const list = orders.listOfTenant(request.person.tenant.id, request.query.status);
      return sendLongList(request, reply, publicUrl, list, staffShape);
    },
  );
  app.get(
    '/v1/staff/orders/:order_id/',
    {
      onRequest: staffGuard,
      schema: {
        ...shared,
        operationId: 'getStaffOrder',
        summary: 'Read an order with its lines',
        params: OrderPath,
        response: { 200: StaffOrder },
      },
    },
    async (request) => await orders.get(request.person.tenant.id, request.params.order_id),
  );
  app.post(
    '/v1/staff/orders/:order_id/status/',
    {
      onRequest: staffGuard,
      schema: {
        ...shared,
        operationId: 'changeOrderStatus',
        summary: 'Move an order along',
        params: OrderPath,
        body: StatusChange,
        response: { 200: StaffOrder },
      },
    },
    async (request) =>
      await orders.changeStatus(request.person.tenant.id, request.params.order_id, request.body.status),
  );
}
