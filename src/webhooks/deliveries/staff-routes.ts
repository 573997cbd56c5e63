import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { keysetPageOf, sendPart } from '#platform/http/keyset-page.ts';
import { deliveryShape, listDeliveries, readDelivery } from './staff-deliveries.ts';
import { Delivery, DeliveryDetail, DeliveryPath, DeliveryQuery } from './staff-schema.ts';

const NOT_FOUND = { status: 404, code: 'error', message: 'No such delivery.' } as const;

interface Dependencies {
  db: Database;
  staffGuard: Guard;
  headerBrand: string;
}

export function deliveryStaffRoutes(app: App, { db, staffGuard, headerBrand }: Dependencies): void {
  app.get(
    '/v1/staff/webhook-deliveries/',
    {
      onRequest: staffGuard,
      schema: {
        operationId: 'listWebhookDeliveries',
        summary: 'List the webhook deliveries with every attempt',
        description:
          'Lists the deliveries of all partners, newest first. Each attempt shows the status that the receiver answered, the duration, ' +
          'and why the attempt failed. An event that happened while no webhook was registered has no delivery. ' +
          'The filters may be combined. Then the list has only the deliveries that pass all of them. A filter by an unknown id gives ' +
          'an empty list. ' +
          'Deliveries that have ended are kept for 30 days, unless the operator has set another number of days.',
        tags: ['Webhooks'],
        querystring: DeliveryQuery,
        response: { 200: keysetPageOf(Delivery) },
      },
    },
    async ({ staff, query }, reply) => sendPart(reply, await listDeliveries(db, staff.tenant.id, query), deliveryShape),
  );
  app.get(
    '/v1/staff/webhook-deliveries/:id/',
    {
      onRequest: staffGuard,
      config: { errors: [NOT_FOUND] },
      schema: {
        operationId: 'getWebhookDelivery',
        summary: 'Read a delivery with its request and the responses',
        description:
          'Returns a delivery with the body as it is signed, the headers of the last attempt without the signature, and the begin of ' +
          'the response to each failed attempt. So staff and partner can compare what was sent with what was received.',
        tags: ['Webhooks'],
        params: DeliveryPath,
        response: { 200: DeliveryDetail },
      },
    },
    async (request) => await readDelivery(db, request.staff.tenant.id, request.params.id, headerBrand),
  );
}
