import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { showNight } from './night.ts';
import { Night, NightPath } from './night-schema.ts';

interface Dependencies {
  db: Database;
  /** Guard that accepts owners, and staff that may see stays. */
  staffGuard: Guard;
}

export function nightHistoryRoutes(app: App, { db, staffGuard }: Dependencies): void {
  app.get(
    '/v1/staff/nights/:room_type_id/:date/',
    {
      onRequest: staffGuard,
      config: { errors: [{ status: 404, code: 'error', message: 'No such room type.' }] },
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
