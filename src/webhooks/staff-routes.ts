import Type from 'typebox';
import type { Credentials } from '../credentials/credentials.ts';
import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
import { sendLongList, shortList } from '../http/list.ts';
import { PageQuery, pageOf } from '../http/paging.ts';
import { CredentialDeliveries, Delivery, DeliveryQuery } from './schema.ts';
import { deliveryShape, listCredentialsWithDeliveries, listDeliveries } from './webhooks.ts';

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

interface CredentialDependencies {
  credentials: Credentials;
  db: Database;
  publicUrl: string | null;
  ownerGuard: Guard;
  /** The read shape of a credential, which this list adds to. */
  shape: Type.TObject;
}

/**
 * Where an owner sees that a partner's deliveries wait, or end failed; the contract's own list of credentials has no
 * room.
 */
export function credentialStaffRoutes(app: App, dependencies: CredentialDependencies): void {
  const { credentials, db, publicUrl, ownerGuard, shape } = dependencies;
  const entry = Type.Object({ ...shape.properties, deliveries: CredentialDeliveries });
  app.get(
    '/v1/staff/credentials/',
    {
      onRequest: ownerGuard,
      schema: {
        operationId: 'listStaffCredentials',
        summary: 'List the third-party credentials with what their deliveries have come to',
        tags: ['Credentials'],
        security: [{ bearer: [] }],
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(entry), pageOf(entry)]) },
      },
    },
    async (request) => {
      const all = await listCredentialsWithDeliveries(db, credentials, request.person.tenant.id);
      return shortList(request, publicUrl, all);
    },
  );
}
