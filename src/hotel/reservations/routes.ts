import Type from 'typebox';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendLongList } from '#platform/http/list.ts';
import { PageQuery, pageOf } from '#platform/http/paging.ts';
import { listOfCredential } from './list-store.ts';
import { findOfCaller, partnerBooking, partnerShape, type Reservations } from './reservations.ts';
import {
  Availability,
  AvailabilityQuery,
  ExternalReservationPath,
  ReservationCreate,
  ReservationResponse,
  StayQuote,
  StayQuoteQuery,
} from './schema.ts';

interface Dependencies {
  db: Database;
  reservations: Reservations;
  callerGuard: Guard;
}

export function reservationRoutes(app: App, dependencies: Dependencies): void {
  availabilityRoute(app, dependencies);
  quoteRoute(app, dependencies);
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
        tags: ['Hotel'],
        operationId: 'getAvailability',
        summary: 'Read the sellable rooms of a room type, night by night',
        description:
          'The numbers are always current. The call reserves no room, so another booking may take a room that the response ' +
          'shows. A booking is then refused with `room_not_available`. A booking may also be refused because the stay is ' +
          'shorter than every rate plan allows.',
        querystring: AvailabilityQuery,
        response: { 200: Availability },
      },
    },
    async (request) =>
      await reservations.availability(request.caller.tenantId, request.query.room_type_id, request.query),
  );
}

function quoteRoute(app: App, { reservations, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/hotels/quote/',
    {
      onRequest: callerGuard,
      config: { errors: ['room_type_not_found', 'room_not_available'] },
      schema: {
        tags: ['Hotel'],
        operationId: 'quoteReservation',
        summary: 'Price a stay before you book it',
        description:
          'Returns the price that a booking of the same stay would charge now: the rate plan, the price of each night and the ' +
          'total. A stay that a booking would refuse is refused with the same error. The call changes nothing and reserves no ' +
          'room, so another booking may take the room, and the hotel may change its prices, before you book. The call counts ' +
          'against the budget of the credential.',
        querystring: StayQuoteQuery,
        response: { 200: StayQuote },
      },
    },
    async (request) => await reservations.quote(request.caller, request.query),
  );
}

function collectionRoutes(app: App, { db, reservations, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/hotels/reservations/',
    {
      onRequest: callerGuard,
      config: { place: 'long' },
      schema: {
        tags: ['Hotel'],
        operationId: 'listReservations',
        summary: 'List the reservations that this credential has booked',
        description:
          'Lists the newest reservation first. Without `page` and `page_size` the response holds all reservations. It is ' +
          'streamed, so the caller may read it slowly. To follow changes, read the events instead of this list.',
        querystring: PageQuery,
        response: { 200: Type.Union([Type.Array(ReservationResponse), pageOf(ReservationResponse)]) },
      },
    },
    (request, reply) => sendLongList(request, reply, listOfCredential(db, request.caller), partnerShape),
  );
  app.post(
    '/v1/third-party/hotels/reservations/',
    {
      onRequest: callerGuard,
      config: { isIdempotent: true, errors: ['room_type_not_found', 'room_not_available'] },
      schema: {
        tags: ['Hotel'],
        operationId: 'createReservation',
        summary: 'Book a stay, once for each external_reservation_id',
        description:
          'Books one room of the room type for all nights of the stay. If one night is full, the call books no night. A room ' +
          'type is never sold beyond its capacity by this call, even if many callers book at the same time. The price is that ' +
          'of the cheapest active rate plan that is open on all nights and allows the length of the stay. If the room type has ' +
          'no active plan, each night costs the `base_price` of the room type. The booking causes the event ' +
          '`reservation.created`.\n\n' +
          'The call is safe to repeat. If this credential has already booked a stay under the `external_reservation_id`, the ' +
          'response is 200 with the stored reservation and the header `Idempotent-Replayed: true`. The fields of the body must ' +
          'then still be valid, but their values have no effect. So send the same call again if its response was lost.',
        body: ReservationCreate,
        response: { 200: ReservationResponse, 201: ReservationResponse },
      },
    },
    async (request, reply) => {
      const { row, isReplayed } = await reservations.book(...partnerBooking(request.caller, request.body));
      const reservation = partnerShape(row);
      return isReplayed
        ? reply.header('idempotent-replayed', 'true').send(reservation)
        : reply.code(201).send(reservation);
    },
  );
}

function itemRoutes(app: App, { db, reservations, callerGuard }: Dependencies): void {
  app.get(
    '/v1/third-party/hotels/reservations/:external_reservation_id/',
    {
      onRequest: callerGuard,
      config: { errors: ['reservation_not_found'] },
      schema: {
        tags: ['Hotel'],
        operationId: 'getReservation',
        summary: 'Read a reservation',
        description:
          'Returns the present state of the reservation. A reservation of another credential gets the same response as an ' +
          'unknown one.',
        params: ExternalReservationPath,
        response: { 200: ReservationResponse },
      },
    },
    async (request) => partnerShape(await findOfCaller(db, request.caller, request.params.external_reservation_id)),
  );
  app.post(
    '/v1/third-party/hotels/reservations/:external_reservation_id/cancel/',
    {
      onRequest: callerGuard,
      config: { errors: ['reservation_not_found', 'invalid_status_transition'] },
      schema: {
        tags: ['Hotel'],
        operationId: 'cancelReservation',
        summary: 'Cancel a reservation',
        description:
          'Cancels the reservation and releases its nights immediately. Every status except `cancelled` and `completed` allows ' +
          'it. The change causes the event `reservation.cancelled`. If you repeat the call after its response was lost, it may ' +
          'be refused with `invalid_status_transition`, because the first call has already cancelled the reservation.',
        params: ExternalReservationPath,
        response: { 200: ReservationResponse },
      },
    },
    async (request) => await reservations.cancel(request.caller, request.params.external_reservation_id),
  );
}
