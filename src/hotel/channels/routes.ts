import Type from 'typebox';
import type { Database } from '#platform/db/database.ts';
import { noSuch } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { PmsReservation, type Reservations } from '../reservations/reservations.ts';
import { actorOf } from '#access/tenants/tenants.ts';
import { type Channels, receiveReservation } from './channels.ts';
import { channelGuard, channelKeyGuard } from './guard.ts';
import { Channel, ChannelCreate, ChannelPath, ChannelSecret, OtaReservation } from './schema.ts';

interface OwnerDependencies {
  channels: Channels;
  ownerGuard: Guard;
}

export function channelRoutes(app: App, dependencies: OwnerDependencies): void {
  listAndCreate(app, dependencies);
  revokeAndRotate(app, dependencies);
}

function listAndCreate(app: App, { channels, ownerGuard }: OwnerDependencies): void {
  app.get(
    '/v1/channel-manager/channels/',
    {
      onRequest: ownerGuard,
      schema: {
        tags: ['Channels'],
        operationId: 'listChannels',
        summary: 'List the channels',
        description: 'Lists all channels, also revoked ones, with the newest first. The list shows no secrets.',
        response: { 200: Type.Array(Channel) },
      },
    },
    async (request) => await channels.list(request.staff.tenant.id),
  );
  app.post(
    '/v1/channel-manager/channels/',
    {
      onRequest: ownerGuard,
      schema: {
        tags: ['Channels'],
        operationId: 'createChannel',
        summary: 'Create a channel and show its secret once',
        description:
          'Creates a channel with a key and a secret. An OTA, or a channel manager for it, sends its reservations with them. ' +
          'Each call creates another channel. If a response was lost, read the list and revoke the channel whose secret you do ' +
          'not have.',
        body: ChannelCreate,
        response: { 201: ChannelSecret },
      },
    },
    async (request, reply) => reply.code(201).send(await channels.create(actorOf(request.staff), request.body.source)),
  );
}

function revokeAndRotate(app: App, { channels, ownerGuard }: OwnerDependencies): void {
  app.post(
    '/v1/channel-manager/channels/:id/revoke/',
    {
      onRequest: ownerGuard,
      config: { errors: [noSuch('channel')] },
      schema: {
        tags: ['Channels'],
        operationId: 'revokeChannel',
        summary: 'Revoke a channel permanently',
        description:
          'Refuses all later calls of the channel. Its reservations stay. A revoked channel cannot become active again. Create ' +
          'a new channel with the same source instead. Revoking a channel again changes nothing and gets the same response.',
        params: ChannelPath,
        response: { 200: Channel },
      },
    },
    async (request) => await channels.revoke(actorOf(request.staff), request.params.id),
  );
  app.post(
    '/v1/channel-manager/channels/:id/rotate/',
    {
      onRequest: ownerGuard,
      config: { errors: [noSuch('channel'), 'invalid_status_transition'] },
      schema: {
        tags: ['Channels'],
        operationId: 'rotateChannel',
        summary: 'Replace the key and the secret of a channel',
        description:
          'Enter the new key and the new secret at the OTA. Every call with the old key that starts after this response is refused, ' +
          'so the OTA has to send it again with the new key. The source and the reservations of the channel stay the same. If the ' +
          'response is lost, call the operation again. A revoked channel cannot be rotated.',
        params: ChannelPath,
        response: { 200: ChannelSecret },
      },
    },
    async (request) => await channels.rotate(actorOf(request.staff), request.params.id),
  );
}

interface ReceiverDependencies {
  db: Database;
  channels: Channels;
  reservations: Reservations;
  headerBrand: string;
}

const RECEIVER_DESCRIPTION =
  'The body holds the present state of the whole reservation. The source of the channel and the `external_id` identify it. ' +
  'A new reservation is created (201), and a known one is changed (200). The call is never refused because rooms are ' +
  'missing, so the inventory may become negative. The call sends no webhook.\n\n' +
  'The headers prove who sends the call. The signature is HMAC-SHA-256 over the timestamp, a dot and the bytes of the body as ' +
  "they are sent. Its key is the text of the channel's secret. Webhooks are signed in the same way. Every fault of these " +
  'headers gets the same response.\n\n' +
  'If several calls concern one reservation, the call with the latest timestamp wins. A call changes nothing if it is older ' +
  'than the last applied call, or if it was applied before. Its response then shows the present reservation. So if a ' +
  'response was lost, resend the same bytes with the same timestamp and signature. A call that is signed anew counts as the ' +
  'latest one. The room type must be active only if the reservation is new.';

export function receiverRoutes(app: App, { db, channels, reservations, headerBrand }: ReceiverDependencies): void {
  app.post(
    '/v1/channel-manager/receiver/reservations/',
    {
      onRequest: channelKeyGuard(channels, headerBrand),
      preParsing: channelGuard(),
      config: { place: 'channel', errors: [noSuch('room type'), noSuch('rate plan of this room type')] },
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
