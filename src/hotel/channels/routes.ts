import Type from 'typebox';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { shortList } from '#platform/http/list.ts';
import { PageQuery, pageOf } from '#platform/http/paging.ts';
import { PmsReservation, type Reservations } from '../reservations/reservations.ts';
import { actorOf } from '#access/tenants/tenants.ts';
import { type Channels, receiveReservation } from './channels.ts';
import { channelGuard, channelKeyGuard } from './guard.ts';
import { Channel, ChannelCreate, ChannelPath, ChannelSecret, OtaReservation } from './schema.ts';

const NOT_FOUND = { status: 404, code: 'error' } as const;

interface OwnerDependencies {
  channels: Channels;
  ownerGuard: Guard;
}

export function channelRoutes(app: App, { channels, ownerGuard }: OwnerDependencies): void {
  const shared = { tags: ['Channels'] };
  app.get(
    '/v1/channel-manager/channels/',
    {
      onRequest: ownerGuard,
      schema: {
        ...shared,
        operationId: 'listChannels',
        summary: 'List the channels',
        description: 'Every channel ever made, newest first, revoked ones included. No secret is shown.',
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(Channel), pageOf(Channel)]) },
      },
    },
    async (request) => shortList(request, await channels.list(request.person.tenant.id)),
  );
  app.post(
    '/v1/channel-manager/channels/',
    {
      onRequest: ownerGuard,
      schema: {
        ...shared,
        operationId: 'createChannel',
        summary: 'Create a channel; its secret is in this answer alone',
        description:
          'Makes the key and secret with which an OTA, or a channel manager on its behalf, brings its reservations. ' +
          'Not idempotent: each call makes one more channel, so after a lost answer look at the list and revoke ' +
          'what nobody holds the secret of.',
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
      config: { errors: [{ ...NOT_FOUND, message: 'No such channel.' }] },
      schema: {
        ...shared,
        operationId: 'revokeChannel',
        summary: 'Revoke a channel for good',
        description:
          'Its calls are refused from now on; the reservations that it brought stay. There is no way back: make a ' +
          'new channel of the same source instead. Revoking again changes nothing and answers the same.',
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

const RECEIVER_DESCRIPTION =
  'The call says how the whole reservation stands now: it is created (201) or changed (200) by the source of the ' +
  'channel and `external_id`. It is never refused for want of rooms, so the inventory may fall below zero, and it ' +
  'sends no webhook.\n\n' +
  'The headers prove where it comes from. The signature is HMAC-SHA-256 over the timestamp, a dot and the bytes of ' +
  "the body as they are sent, keyed with the text of the channel's secret, as webhooks are signed. Whatever is " +
  'wrong with them is answered alike.\n\n' +
  'Of several calls for one reservation the latest timestamp wins. A call that is older than the last one applied, ' +
  'or that was applied already, changes nothing and is answered with the reservation as it stands: so resend ' +
  'whenever an answer is lost, and never mind the order. The room type must be active only where the reservation is ' +
  'new.';

/** Where OTAs tell of reservations (decision 30). */
export function receiverRoutes(app: App, { db, channels, reservations, headerBrand }: ReceiverDependencies): void {
  app.post(
    '/v1/channel-manager/receiver/reservations/',
    {
      onRequest: channelKeyGuard(channels, headerBrand),
      preParsing: channelGuard(),
      config: {
        errors: [
          { ...NOT_FOUND, message: 'No such room type.' },
          { ...NOT_FOUND, message: 'No such rate plan.' },
        ],
      },
      schema: {
        operationId: 'receiveReservation',
        summary: 'Create or change a reservation of an OTA',
        description: RECEIVER_DESCRIPTION,
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
