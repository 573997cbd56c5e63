import { changeActorOf } from '#access/actors/actors.ts';
import { noSuch } from '#platform/errors.ts';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { keysetPageOf } from '#platform/http/keyset-page.ts';
import { sendJsonBytes, sendTexts } from '#platform/http/list.ts';
import type { TransactionWithEvents } from '#webhooks/events/events.ts';
import { changeOrderStatus, listOrders, showOrder } from './staff-orders.ts';
import { OrderPath, StaffOrder, StaffOrderQuery, StatusChange } from './staff-schema.ts';

interface Dependencies {
  db: Database;
  transactionWithEvents: TransactionWithEvents;
  staffGuard: Guard;
}

const SHARED = { tags: ['Orders'] };

export function orderStaffRoutes(app: App, dependencies: Dependencies): void {
  readingRoutes(app, dependencies);
  statusRoute(app, dependencies);
}

function readingRoutes(app: App, { db, staffGuard }: Dependencies): void {
  app.get(
    '/v1/staff/orders/',
    {
      onRequest: staffGuard,
      config: { place: 'long' },
      schema: {
        ...SHARED,
        operationId: 'listStaffOrders',
        summary: "List the restaurant's orders",
        description:
          'Lists the orders of all partners with their lines, newest first. The filters may be combined. Then the list has ' +
          'only the orders that pass all of them. A filter by an unknown id gives an empty list.',
        querystring: StaffOrderQuery,
        response: { 200: keysetPageOf(StaffOrder) },
      },
    },
    async (request, reply) => {
      const texts = await listOrders(db, request.staff.tenant.id, request.query);
      return await sendTexts(request, reply, () => texts);
    },
  );
  app.get(
    '/v1/staff/orders/:order_id/',
    {
      onRequest: staffGuard,
      config: { errors: [noSuch('order')] },
      schema: {
        ...SHARED,
        operationId: 'getStaffOrder',
        summary: 'Read an order with its lines and its history',
        description: 'Returns an order of any partner by its id in Roomservice, with all changes of its status.',
        params: OrderPath,
        response: { 200: StaffOrder },
      },
    },
    async (request, reply) =>
      sendJsonBytes(reply, await showOrder(db, request.staff.tenant.id, request.params.order_id)),
  );
}

function statusRoute(app: App, { staffGuard, ...parts }: Dependencies): void {
  app.post(
    '/v1/staff/orders/:order_id/status/',
    {
      onRequest: staffGuard,
      config: { errors: [noSuch('order'), 'invalid_status_transition'] },
      schema: {
        ...SHARED,
        operationId: 'changeOrderStatus',
        summary: 'Change the status of an order',
        description:
          'The statuses follow each other in this order: `pending`, `confirmed`, `preparing`, `ready`, ' +
          '`out_for_delivery`, `completed`. A status may be skipped, but the order never goes back to an earlier status. ' +
          'Only an order of type `delivery` may become `out_for_delivery`. Every status except `completed` may change to ' +
          '`cancelled`. `completed` and `cancelled` are final.\n\n' +
          'The partner receives an `order.status_changed` event. The same status again is refused with 409, except with ' +
          'the same `request_id`. So repeat the call with the same `request_id` if the response was lost. The repeat causes ' +
          'no second event.',
        params: OrderPath,
        body: StatusChange,
        response: { 200: StaffOrder },
      },
    },
    async (request, reply) => {
      const { staff, params, body } = request;
      const change = { ...body, by: changeActorOf(staff) };
      return sendJsonBytes(reply, await changeOrderStatus(parts, staff.tenant.id, params.order_id, change));
    },
  );
}
