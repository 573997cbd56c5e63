import Type from 'typebox';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendLongList } from '#platform/http/list.ts';
import { PageQuery, pageOf } from '#platform/http/paging.ts';
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
  callerGuard: Guard;
}

const SHARED = { tags: ['Hotel'] };

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
      config: { errors: ['room_type_not_found'] },
      schema: {
        ...SHARED,
        operationId: 'getAvailability',
        summary: 'Read what can be sold of a room type, night by night',
        description:
          'Never stale: it counts what is booked at this moment. It reserves nothing, so a room that was seen here may be gone ' +
          'when it is booked; the booking says so with `room_not_available`. A stay may also be refused because no rate plan ' +
          'is sold for so few nights.',
        querystring: AvailabilityQuery,
        response: { 200: Availability },
      },
    },
    async (request) =>
      await reservations.availability(request.caller.tenantId, request.query.room_type_id, request.query),
  );
}

function collectionRoutes(app: App, { reservations, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/hotels/reservations/',
    {
      onRequest: callerGuard,
      schema: {
        ...SHARED,
        operationId: 'listReservations',
        summary: 'List the reservations this credential has booked',
        description:
          'Newest first. Without `page` and `page_size` all of them are answered, as a stream that the caller may read as slowly ' +
          'as it likes. To follow changes, take the events: this list is for a look back.',
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(ReservationResponse), pageOf(ReservationResponse)]) },
      },
    },
    (request, reply) => {
      const { tenantId, credentialId } = request.caller;
      return sendLongList(request, reply, reservations.list({ tenantId, credentialId }), partnerShape);
    },
  );
  app.post(
    '/v1/third-party/hotels/reservations/',
    {
      onRequest: callerGuard,
      config: { isIdempotent: true, errors: ['room_type_not_found', 'room_not_available'] },
      schema: {
        ...SHARED,
        operationId: 'createReservation',
        summary: 'Book a stay, once per external_reservation_id',
        description:
          'Books one room of the type for all nights, or none: a room type is never sold beyond its capacity, however many ask ' +
          'at once. The price is that of the cheapest rate plan which is open on all nights and is sold for so many; ' +
          'without any plan it is the `base_price` of each night. The event `reservation.created` follows.\n\n' +
          'Safe to repeat: where this credential has used the `external_reservation_id` before, the stored reservation is ' +
          'answered with 200 and `Idempotent-Replayed: true`, and nothing else of the body is looked at beyond its form. So ' +
          'send the same call again whenever its answer was lost.',
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
      config: { errors: ['reservation_not_found'] },
      schema: {
        ...SHARED,
        operationId: 'getReservation',
        summary: 'Read a reservation',
        description:
          'Always as it stands now. Reservations of other credentials are answered as if they did not exist.',
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
      config: { errors: ['reservation_not_found', 'invalid_status_transition'] },
      schema: {
        ...SHARED,
        operationId: 'cancelReservation',
        summary: 'Cancel a reservation',
        description:
          'Gives the nights back at once. Possible from every status but `cancelled` and `completed`. The event ' +
          '`reservation.cancelled` follows. Sent again after its answer was lost, it is refused with ' +
          '`invalid_status_transition`: the reservation is cancelled then.',
        params: ExternalReservationPath,
        response: { 200: ReservationResponse },
      },
    },
    async (request) => await reservations.cancel(request.caller, request.params.external_reservation_id),
  );
}
