import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { keysetPageOf, readPart, sendPart } from '#platform/http/keyset-page.ts';
import { todayIn } from '#platform/lib/dates.ts';
import { OversoldNight, OversoldQuery } from './schema.ts';
import { listOversoldNights } from './store.ts';

export function nightStaffRoutes(app: App, { db, staffGuard }: { db: Database; staffGuard: Guard }): void {
  app.get(
    '/v1/staff/nights/oversold/',
    {
      onRequest: staffGuard,
      schema: {
        operationId: 'listOversoldNights',
        summary: 'List the nights on which more rooms are held than the hotel has',
        description:
          'Lists the oversold nights of all room types, sorted by room type and date. A night becomes oversold if an OTA reports ' +
          'a stay for a full night, if staff book one with `overbook`, or if the capacity of the room type is reduced below the ' +
          'rooms that are held. Room types that are no longer active are in the list too, because their stays still need rooms.',
        tags: ['Calendar'],
        querystring: OversoldQuery,
        response: { 200: keysetPageOf(OversoldNight) },
      },
    },
    async ({ staff, query }, reply) => {
      const list = listOversoldNights(staff.tenant.id, query.from ?? todayIn(staff.tenant.timezone));
      return sendPart(reply, await readPart(db, list, query), nightShape);
    },
  );
}

function nightShape({ room_type_id, date, capacity, held }: OversoldNight): OversoldNight {
  return { room_type_id, date, capacity, held };
}
