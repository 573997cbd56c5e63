import Type from 'typebox';
import type { App } from '../http/app.ts';
import type { Guard } from '../http/guard.ts';
import { sendLongList } from '../http/list.ts';
import { pageOf } from '../http/paging.ts';
import { type Reservations, staffShape } from './reservations.ts';
import { ReservationPath, ReservationStatusChange, StaffReservation, StaffReservationQuery } from './schema.ts';

interface Dependencies {
  reservations: Reservations;
  publicUrl: string | null;
  staffGuard: Guard;
}

export function reservationStaffRoutes(app: App, { reservations, publicUrl, staffGuard }: Dependencies): void {
  const shared = { tags: ['Reservations'], security: [{ bearer: [] }] };
  app.get(
    '/v1/staff/reservations/',
    {
      onRequest: staffGuard,
      schema: {
        ...shared,
        operationId: 'listStaffReservations',
        summary: "List the hotel's reservations",
        querystring: StaffReservationQuery,
        response: { 200: Type.Union([Type.Array(StaffReservation), pageOf(StaffReservation)]) },
      },
    },
    (request, reply) => {
      const list = reservations.list({ tenantId: request.person.tenant.id, status: request.query.status });
      return sendLongList(request, reply, publicUrl, list, staffShape);
    },
  );
  app.get(
    '/v1/staff/reservations/:id/',
    {
      onRequest: staffGuard,
      schema: {
        ...shared,
        operationId: 'getStaffReservation',
        summary: 'Read a reservation',
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
      schema: {
        ...shared,
        operationId: 'changeReservationStatus',
        summary: 'Move a reservation along',
        params: ReservationPath,
        body: ReservationStatusChange,
        response: { 200: StaffReservation },
      },
    },
    async (request) =>
      await reservations.changeStatus(request.person.tenant.id, request.params.id, request.body.status),
  );
}
