import Type from 'typebox';
import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
import { sendLongList } from '../http/list.ts';
import { pageOf } from '../http/paging.ts';
import { Delivery, DeliveryQuery } from './schema.ts';
import { deliveryShape, listDeliveries } from './webhooks.ts';

interface Dependencies {
  db: Database;
  publicUrl: string | null;
  staffGuard: Guard;
}

export function deliveryStaffRoutes(app: App, { db, publicUrl, staffGuard }: Dependencies): void {
  app.get(
    '/v1/staff/webhook-deliveries/',
    {
      onRequest: staffGuard,
      schema: {
        operationId: 'listWebhookDeliveries',
        summary: 'List the webhook deliveries with every attempt',
        tags: ['Webhooks'],
        security: [{ bearer: [] }],
        querystring: DeliveryQuery,
        response: { 200: Type.Union([Type.Array(Delivery), pageOf(Delivery)]) },
      },
    },
    (request, reply) => {
      const list = listDeliveries(db, request.person.tenant.id, request.query.status);
      return sendLongList(request, reply, publicUrl, list, deliveryShape);
    },
  );
}
