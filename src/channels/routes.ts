import Type from 'typebox';
import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
import { shortList } from '../http/list.ts';
import { PageQuery, pageOf } from '../http/paging.ts';
import { PmsReservation, type Reservations } from '../reservations/reservations.ts';
import { actorOf } from '../tenants/tenants.ts';
import { type Channels, receiveReservation } from './channels.ts';
import { channelGuard } from './guard.ts';
import { Channel, ChannelCreate, ChannelPath, ChannelSecret, OtaReservation } from './schema.ts';

interface OwnerDependencies {
  channels: Channels;
  publicUrl: string | null;
  ownerGuard: Guard;
}

export function channelRoutes(app: App, { channels, publicUrl, ownerGuard }: OwnerDependencies): void {
  const shared = { tags: ['Channels'], security: [{ bearer: [] }] };
  app.get(
    '/v1/channel-manager/channels/',
    {
      onRequest: ownerGuard,
      schema: {
        ...shared,
        operationId: 'listChannels',
        summary: 'List the channels',
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(Channel), pageOf(Channel)]) },
      },
    },
    async (request) => shortList(request, publicUrl, await channels.list(request.person.tenant.id)),
  );
  app.post(
    '/v1/channel-manager/channels/',
    {
      onRequest: ownerGuard,
      schema: {
        ...shared,
        operationId: 'createChannel',
        summary: 'Create a channel; its secret is in this answer alone',
        body: ChannelCreate,
        response: { 201: ChannelSecret },
      },
    },
    async (request, reply) => reply.code(201).send(await channels.create(actorOf(request.person), request.body.source)),
  );
  app.post(
    '/v1/channel-manager/channels/:id/revoke/',
    {
      onRequest: ownerGuard,
      schema: {
        ...shared,
        operationId: 'revokeChannel',
        summary: 'Revoke a channel for good',
        params: ChannelPath,
        response: { 200: Channel },
      },
    },
    async (request) => await channels.revoke(actorOf(request.person), request.params.id),
  );
}

interface ReceiverDependencies {
  db: Database;
  channels: Channels;
  reservations: Reservations;
  headerBrand: string;
}

/** Where OTAs tell of reservations (decision 30). */
export function receiverRoutes(app: App, { db, channels, reservations, headerBrand }: ReceiverDependencies): void {
  app.post(
    '/v1/channel-manager/receiver/reservations/',
    {
      preParsing: channelGuard(channels, headerBrand),
      schema: {
        operationId: 'receiveReservation',
        summary: 'Create or change a reservation of an OTA',
        tags: ['Receiver'],
        body: OtaReservation,
        response: { 200: PmsReservation, 201: PmsReservation },
      },
    },
    async (request, reply) => {
      const received = await receiveReservation({ db, reservations }, request.channelCall, request.body);
      return reply.code(received.isNew ? 201 : 200).send(received.reservation);
    },
  );
}
