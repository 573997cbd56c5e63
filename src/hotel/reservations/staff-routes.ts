import { changeActorOf } from '#access/actors/actors.ts';
import type { Database } from '#platform/db/database.ts';
import { noSuch } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { keysetPageOf, readPart, sendPart } from '#platform/http/keyset-page.ts';
import { listForStaff } from './list-store.ts';
import { showNight } from './night.ts';
import { Night, NightPath } from './night-schema.ts';
import { houseBooking, type Reservations } from './reservations.ts';
import { showStay, staffShape } from './shapes.ts';
import { filterOf, StaffReservationQuery } from './staff-query.ts';
import {
  Arrival,
  HouseBooking,
  HouseChange,
  ReservationPath,
  ReservationStatusChange,
  StaffReservation,
  StaffReservationWithHistory,
} from './staff-schema.ts';
import { changeStay, setArrival } from './staff-stays.ts';

interface Dependencies {
  db: Database;
  reservations: Reservations;
  staffGuard: Guard;
}

export function reservationStaffRoutes(app: App, dependencies: Dependencies): void {
  readingRoutes(app, dependencies);
  bookingRoute(app, dependencies);
  changeRoute(app, dependencies);
  statusRoute(app, dependencies);
  arrivalRoute(app, dependencies);
  nightRoute(app, dependencies);
}

function readingRoutes(app: App, { db, staffGuard }: Dependencies): void {
  app.get(
    '/v1/staff/reservations/',
    {
      onRequest: staffGuard,
      schema: {
        tags: ['Reservations'],
        operationId: 'listStaffReservations',
        summary: "List the hotel's reservations",
        description:
          'Lists the reservations of all partners and OTAs and of the hotel itself, newest first. A reservation is listed if ' +
          'it passes all filters of the query. A filter by an unknown id gives an empty list.',
        querystring: StaffReservationQuery,
        response: { 200: keysetPageOf(StaffReservation) },
      },
    },
    async ({ staff, query }, reply) => {
      const list = listForStaff(staff.tenant.id, filterOf(query));
      return sendPart(reply, await readPart(db, list, query), staffShape);
    },
  );
  app.get(
    '/v1/staff/reservations/:id/',
    {
      onRequest: staffGuard,
      config: { errors: [noSuch('reservation')] },
      schema: {
        tags: ['Reservations'],
        operationId: 'getStaffReservation',
        summary: 'Read a reservation',
        description:
          'Returns one reservation by its Roomservice id, with its history. A partner, an OTA or the hotel itself may have ' +
          'booked it.',
        params: ReservationPath,
        response: { 200: StaffReservationWithHistory },
      },
    },
    async (request) => await showStay(db, request.staff.tenant.id, request.params.id),
  );
}

function bookingRoute(app: App, { db, reservations, staffGuard }: Dependencies): void {
  app.post(
    '/v1/staff/reservations/',
    {
      onRequest: staffGuard,
      config: {
        isIdempotent: true,
        errors: ['room_type_not_found', 'room_not_available', noSuch('rate plan of this room type')],
      },
      schema: {
        tags: ['Reservations'],
        operationId: 'bookStay',
        summary: 'Book a stay for the hotel itself, once for each request_id',
        description:
          'Books one room of the room type for all nights of the stay, for example for a guest who walks in. The stay is ' +
          '`confirmed`, and its source is `house`. It causes no event. The PMS API shows null for its `external_source` and ' +
          '`external_id`.\n\n' +
          'The call is safe to repeat. If an earlier call of the tenant had the same `request_id`, the response is 200 with ' +
          'the stored reservation and the header `Idempotent-Replayed: true`.',
        body: HouseBooking,
        response: { 200: StaffReservationWithHistory, 201: StaffReservationWithHistory },
      },
    },
    async (request, reply) => {
      const { row, isReplayed } = await reservations.book(...houseBooking(request.staff, request.body));
      const reservation = await showStay(db, request.staff.tenant.id, row.id);
      return isReplayed
        ? reply.header('idempotent-replayed', 'true').send(reservation)
        : reply.code(201).send(reservation);
    },
  );
}

function changeRoute(app: App, { db, staffGuard }: Dependencies): void {
  app.patch(
    '/v1/staff/reservations/:id/',
    {
      onRequest: staffGuard,
      config: {
        errors: [noSuch('reservation'), 'room_type_not_found', 'room_not_available', 'invalid_status_transition'],
      },
      schema: {
        tags: ['Reservations'],
        operationId: 'changeStay',
        summary: 'Change a stay that the hotel itself booked, or end any stay early',
        description:
          'Changes the fields that the body names. All other fields keep their values. The stay must be `pending` or ' +
          '`confirmed`, and its source must be `house`. Otherwise the response is 409.\n\n' +
          'If the guests leave early, send only the new `check_out`, with or without `expected_changed_at`. This also works for the ' +
          'stay of a partner or an OTA, and for a `completed` stay. The new `check_out` is today at the property or later, and at ' +
          'least one night remains. The nights after it become free. The amount stays the same, and `nightly_prices` becomes null. A ' +
          'later call of the OTA may move the dates again.\n\n' +
          'If a stay of the hotel itself has not begun yet, or if the body names other fields, an earlier `check_out` is an ordinary ' +
          'change, and the service calculates the price again.\n\n' +
          'The present rate plan of the stay may be closed on nights that the stay had before the change. The call causes no event.',
        params: ReservationPath,
        body: HouseChange,
        response: { 200: StaffReservationWithHistory },
      },
    },
    async ({ staff, params, body }) => {
      await changeStay(db, staff, params.id, body);
      return await showStay(db, staff.tenant.id, params.id);
    },
  );
}

function statusRoute(app: App, { db, reservations, staffGuard }: Dependencies): void {
  app.post(
    '/v1/staff/reservations/:id/status/',
    {
      onRequest: staffGuard,
      config: { errors: [noSuch('reservation'), 'invalid_status_transition'] },
      schema: {
        tags: ['Reservations'],
        operationId: 'changeReservationStatus',
        summary: 'Change the status of a reservation',
        description:
          'A `pending` reservation may become `confirmed`, `expired` or `cancelled`. A `confirmed` reservation may become ' +
          '`completed`, `no_show` or `cancelled`. A `no_show` or `expired` reservation may become `cancelled`. `completed` ' +
          'and `cancelled` are final.\n\n' +
          'The statuses `cancelled` and `expired` release the nights. The status `no_show` keeps them. The partner that ' +
          'booked gets the event `reservation.cancelled` or `reservation.modified`. An OTA gets no event.\n\n' +
          'A change to the present status is refused with 409, except with the same `request_id`. So repeat the call with the ' +
          'same `request_id` if the response was lost. The repeat causes no second event.',
        params: ReservationPath,
        body: ReservationStatusChange,
        response: { 200: StaffReservationWithHistory },
      },
    },
    async ({ staff, params, body }) => {
      await reservations.changeStatus(staff.tenant.id, params.id, body, changeActorOf(staff));
      return await showStay(db, staff.tenant.id, params.id);
    },
  );
}

function arrivalRoute(app: App, { db, staffGuard }: Dependencies): void {
  app.post(
    '/v1/staff/reservations/:id/arrival/',
    {
      onRequest: staffGuard,
      config: { errors: [noSuch('reservation'), 'invalid_status_transition'] },
      schema: {
        tags: ['Reservations'],
        operationId: 'setArrival',
        summary: 'Report that the guests have arrived',
        description:
          'Sets `arrived_at` of a `confirmed` reservation to the present time, or back to null. The status stays as it is. The ' +
          'same value again changes nothing. The call causes no event.',
        params: ReservationPath,
        body: Arrival,
        response: { 200: StaffReservationWithHistory },
      },
    },
    async ({ staff, params, body }) => {
      await setArrival(db, staff, params.id, body.arrived);
      return await showStay(db, staff.tenant.id, params.id);
    },
  );
}

function nightRoute(app: App, { db, staffGuard }: Dependencies): void {
  app.get(
    '/v1/staff/nights/:room_type_id/:date/',
    {
      onRequest: staffGuard,
      config: { errors: [noSuch('room type')] },
      schema: {
        operationId: 'getNight',
        summary: 'Read the stays and the history of a night',
        description:
          'Returns the number of rooms of the room type, the stays that hold a room in the night that begins on the date, and ' +
          'the changes that concern the night. So it explains why a night is full, or how it was oversold.',
        tags: ['Reservations'],
        params: NightPath,
        response: { 200: Night },
      },
    },
    async ({ staff, params }) => await showNight(db, staff.tenant.id, params.room_type_id, params.date),
  );
}
