import Type from 'typebox';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendLongList } from '#platform/http/list.ts';
import { pageOf } from '#platform/http/paging.ts';
import { type Reservations, staffShape } from './reservations.ts';
import { ReservationPath, ReservationStatusChange, StaffReservation, StaffReservationQuery } from './schema.ts';

const NOT_FOUND = { status: 404, code: 'error', message: 'No such reservation.' } as const;

interface Dependencies {
  reservations: Reservations;
  staffGuard: Guard;
}

export function reservationStaffRoutes(app: App, { reservations, staffGuard }: Dependencies): void {
  const shared = { tags: ['Reservations'] };
  app.get(
    '/v1/staff/reservations/',
    {
      onRequest: staffGuard,
      config: { isStreamed: true },
      schema: {
        ...shared,
        operationId: 'listStaffReservations',
        summary: "List the hotel's reservations",
        description:
          'Lists the reservations of all partners and OTAs, newest first. The whole list is streamed and may be long. Use ' +
          '`status`, or `page` and `page_size`, to read only a part of it.',
        querystring: StaffReservationQuery,
        response: { 200: Type.Union([Type.Array(StaffReservation), pageOf(StaffReservation)]) },
      },
    },
    (request, reply) => {
      const list = reservations.list({ tenantId: request.staff.tenant.id, status: request.query.status });
      return sendLongList(request, reply, list, staffShape);
    },
  );
  app.get(
    '/v1/staff/reservations/:id/',
    {
      onRequest: staffGuard,
      config: { errors: [NOT_FOUND] },
      schema: {
        ...shared,
        operationId: 'getStaffReservation',
        summary: 'Read a reservation',
        description: 'Returns one reservation by its Roomservice id. A partner or an OTA may have booked it.',
        params: ReservationPath,
        response: { 200: StaffReservation },
      },
    },
    async (request) => staffShape(await reservations.get(request.staff.tenant.id, request.params.id)),
  );
  app.post(
    '/v1/staff/reservations/:id/status/',
    {
      onRequest: staffGuard,
      config: { errors: [NOT_FOUND, 'invalid_status_transition'] },
      schema: {
        ...shared,
        operationId: 'changeReservationStatus',
        summary: 'Change the status of a reservation',
        description:
          'A `pending` reservation may become `confirmed`, `expired` or `cancelled`. A `confirmed` reservation may become ' +
          '`completed`, `no_show` or `cancelled`. A `no_show` or `expired` reservation may become `cancelled`. `completed` ' +
          'and `cancelled` are final.\n\n' +
          'The statuses `cancelled` and `expired` release the nights. The status `no_show` keeps them. The partner that ' +
          'booked gets the event `reservation.cancelled` or `reservation.modified`. An OTA gets no event.\n\n' +
          'A change to the present status is refused with 409, except with the same `request_id`. So send a `request_id`, ' +
          'and repeat the call with the same `request_id` if the response was lost. The repeat changes nothing, and ' +
          'causes no second event.',
        params: ReservationPath,
        body: ReservationStatusChange,
        response: { 200: StaffReservation },
      },
    },
    async (request) => await reservations.changeStatus(request.staff.tenant.id, request.params.id, request.body),
  );
}
