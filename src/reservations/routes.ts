import Type from 'typebox';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
import { sendLongList } from '../http/list.ts';
import { PageQuery, pageOf } from '../http/paging.ts';
import { partnerShape, type Reservations } from './reservations.ts';
import {
  Availability,
  AvailabilityQuery,
  ExternalReservationPath,
  ReservationCreate,
  ReservationResponse,
} from './schema.ts';

interface Dependencies {
  reservations: Reservations;
  publicUrl: string | null;
  callerGuard: Guard;
}

const SHARED = { tags: ['Hotel'], security: [{ apiKey: [], apiSecret: [] }] };

export function reservationRoutes(app: App, dependencies: Dependencies): void {
  availabilityRoute(app, dependencies);
  collectionRoutes(app, dependencies);
  itemRoutes(app, dependencies);
}

function availabilityRoute(app: App, { reservations, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/hotels/availability/',
    {
      onRequest: callerGuard,
      schema: {
        ...SHARED,
        operationId: 'getAvailability',
        summary: 'Read what can be sold of a room type, night by night',
        querystring: AvailabilityQuery,
        response: { 200: Availability },
      },
    },
    async (request) =>
      await reservations.availability(request.caller.tenantId, request.query.room_type_id, request.query),
  );
}

function collectionRoutes(app: App, { reservations, publicUrl, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/hotels/reservations/',
    {
      onRequest: callerGuard,
      schema: {
        ...SHARED,
        operationId: 'listReservations',
        summary: 'List the reservations this credential has booked',
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(ReservationResponse), pageOf(ReservationResponse)]) },
      },
    },
    (request, reply) => {
      const { tenantId, credentialId } = request.caller;
      return sendLongList(request, reply, publicUrl, reservations.list({ tenantId, credentialId }), partnerShape);
    },
  );
  app.post(
    '/v1/third-party/hotels/reservations/',
    {
      onRequest: callerGuard,
      schema: {
        ...SHARED,
        operationId: 'createReservation',
        summary: 'Book a stay, once per external_reservation_id',
        body: ReservationCreate,
        response: { 200: ReservationResponse, 201: ReservationResponse },
      },
    },
    async (request, reply) => {
      const { reservation, isReplayed } = await reservations.book(request.caller, request.body);
      return isReplayed
        ? reply.header('idempotent-replayed', 'true').send(reservation)
        : reply.code(201).send(reservation);
    },
  );
}

function itemRoutes(app: App, { reservations, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/hotels/reservations/:external_reservation_id/',
    {
      onRequest: callerGuard,
      schema: {
        ...SHARED,
        operationId: 'getReservation',
        summary: 'Read a reservation',
        params: ExternalReservationPath,
        response: { 200: ReservationResponse },
      },
    },
    async (request) => await reservations.find(request.caller, request.params.external_reservation_id),
  );
  app.post(
    '/v1/third-party/hotels/reservations/:external_reservation_id/cancel/',
    {
      onRequest: callerGuard,
      schema: {
        ...SHARED,
        operationId: 'cancelReservation',
        summary: 'Cancel a reservation',
        params: ExternalReservationPath,
        response: { 200: ReservationResponse },
      },
    },
    async (request) => await reservations.cancel(request.caller, request.params.external_reservation_id),
  );
}
