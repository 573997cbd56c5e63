import Type from 'typebox';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendJsonBytes, sendLongListInParts } from '#platform/http/list.ts';
import { pageOf } from '#platform/http/paging.ts';
import type { Orders } from './orders.ts';
import { OrderPath, StaffOrder, StaffOrderQuery, StatusChange } from './schema.ts';

const NOT_FOUND = { status: 404, code: 'error', message: 'No such order.' } as const;

interface Dependencies {
  orders: Orders;
  staffGuard: Guard;
}

export function orderStaffRoutes(app: App, { orders, staffGuard }: Dependencies): void {
  const shared = { tags: ['Orders'] };
  app.get(
    '/v1/staff/orders/',
    {
      onRequest: staffGuard,
      config: { isStreamed: true },
      schema: {
        ...shared,
        operationId: 'listStaffOrders',
        summary: "List the restaurant's orders",
        description:
          'Lists the orders of all partners with their lines, newest first. The response is a stream. The whole list may ' +
          'be long, so filter by `status` or read it in pages.',
        querystring: StaffOrderQuery,
        response: { 200: Type.Union([Type.Array(StaffOrder), pageOf(StaffOrder)]) },
      },
    },
    (request, reply) => {
      const { id } = request.staff.tenant;
      const list = orders.listOfTenant(id, request.query.status);
      return sendLongListInParts(request, reply, list, (listed) => orders.textsOf(id, listed));
    },
  );
  app.get(
    '/v1/staff/orders/:order_id/',
    {
      onRequest: staffGuard,
      config: { errors: [NOT_FOUND] },
      schema: {
        ...shared,
        operationId: 'getStaffOrder',
        summary: 'Read an order with its lines',
        description: 'Returns an order of any partner by its id in Roomservice.',
        params: OrderPath,
        response: { 200: StaffOrder },
      },
    },
    async (request, reply) => sendJsonBytes(reply, await orders.get(request.staff.tenant.id, request.params.order_id)),
  );
  app.post(
    '/v1/staff/orders/:order_id/status/',
    {
      onRequest: staffGuard,
      config: { errors: [NOT_FOUND, 'invalid_status_transition'] },
      schema: {
        ...shared,
        operationId: 'changeOrderStatus',
        summary: 'Change the status of an order',
        description:
          'The statuses follow each other in this order: `pending`, `confirmed`, `preparing`, `ready`, ' +
          '`out_for_delivery`, `completed`. A status may be skipped, but the order never goes back to an earlier status. ' +
          'Only an order of type `delivery` may become `out_for_delivery`. Every status except `completed` may change to ' +
          '`cancelled`. `completed` and `cancelled` are final.\n\n' +
          'The partner receives an `order.status_changed` event. The same status again is refused with 409, except with ' +
          'the same `request_id`. So send a `request_id`, and repeat the call with the same `request_id` if the response ' +
          'was lost. The repeat changes nothing, and causes no second event.',
        params: OrderPath,
        body: StatusChange,
        response: { 200: StaffOrder },
      },
    },
    async (request, reply) => {
      const { staff, params, body } = request;
      return sendJsonBytes(reply, await orders.changeStatus(staff.tenant.id, params.order_id, body));
    },
  );
}
