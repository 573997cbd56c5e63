import Type from 'typebox';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendLongList } from '#platform/http/list.ts';
import { pageOf } from '#platform/http/paging.ts';
import { deliveryShape, listDeliveries } from './deliveries.ts';
import { Delivery, DeliveryQuery } from './schema.ts';

interface Dependencies {
  db: Database;
  staffGuard: Guard;
}

export function deliveryStaffRoutes(app: App, { db, staffGuard }: Dependencies): void {
  app.get(
    '/v1/staff/webhook-deliveries/',
    {
      onRequest: staffGuard,
      config: { isStreamed: true },
      schema: {
        operationId: 'listWebhookDeliveries',
        summary: 'List the webhook deliveries with every attempt',
        description:
          'Lists the deliveries of all partners, newest first. Each attempt shows the status that the receiver answered, the duration, ' +
          'and why the attempt failed. An event that happened while no webhook was registered has no delivery. ' +
          'Deliveries that have ended are kept for 30 days, unless the operator has set another number of days.',
        tags: ['Webhooks'],
        querystring: DeliveryQuery,
        response: { 200: Type.Union([Type.Array(Delivery), pageOf(Delivery)]) },
      },
    },
    (request, reply) => {
      const list = listDeliveries(db, request.staff.tenant.id, request.query.status);
      return sendLongList(request, reply, list, deliveryShape);
    },
  );
}
