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
          'The reservations of all partners and OTAs, newest first. The whole list is streamed and may be long: ask ' +
          'by `status`, or for a page.',
        querystring: StaffReservationQuery,
        response: { 200: Type.Union([Type.Array(StaffReservation), pageOf(StaffReservation)]) },
      },
    },
    (request, reply) => {
      const list = reservations.list({ tenantId: request.person.tenant.id, status: request.query.status });
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
        description: 'One reservation by our id of it, whoever booked it.',
        params: ReservationPath,
        response: { 200: StaffReservation },
      },
    },
    async (request) => staffShape(await reservations.get(request.person.tenant.id, request.params.id)),
  );
  app.post(
    '/v1/staff/reservations/:id/status/',
    {
      onRequest: staffGuard,
      config: { errors: [NOT_FOUND, 'invalid_status_transition'] },
      schema: {
        ...shared,
        operationId: 'changeReservationStatus',
        summary: 'Move a reservation along',
        description:
          'From `pending` to `confirmed`, `expired` or `cancelled`; from `confirmed` to `completed`, `no_show` or ' +
          '`cancelled`; from `no_show` and `expired` to `cancelled`. `completed` and `cancelled` are final.\n\n' +
          '`cancelled` and `expired` give the nights back, once; a no-show keeps them. The partner that booked is ' +
          'told by a `reservation.cancelled` or `reservation.modified` event; an OTA is not. The same status again ' +
          'is refused with 409, so after a lost answer read the reservation before you repeat the call.',
        params: ReservationPath,
        body: ReservationStatusChange,
        response: { 200: StaffReservation },
      },
    },
    async (request) =>
      await reservations.changeStatus(request.person.tenant.id, request.params.id, request.body.status),
  );
}
