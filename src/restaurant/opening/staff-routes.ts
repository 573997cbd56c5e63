import { actorOf } from '#access/tenants/tenants.ts';
import type { RecentChanges } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { endPause, readHours, replaceHours, showPause, startPause } from './opening.ts';
import { OpeningHoursDocument, PauseStart, PauseState } from './schema.ts';

interface Dependencies {
  db: Database;
  changes: RecentChanges;
  staffGuard: Guard;
  ordersGuard: Guard;
  ownerGuard: Guard;
}

const SHARED = { tags: ['Opening'] };

export function openingStaffRoutes(app: App, dependencies: Dependencies): void {
  pauseRoutes(app, dependencies);
  hoursRoutes(app, dependencies);
}

function pauseRoutes(app: App, { db, changes, staffGuard, ordersGuard }: Dependencies): void {
  app.get(
    '/v1/staff/pause/',
    {
      onRequest: staffGuard,
      schema: {
        ...SHARED,
        operationId: 'getPause',
        summary: 'Read if the restaurant is open',
        description:
          'Says if the restaurant takes orders now, and when it opens again. It considers the pause and the opening hours.',
        response: { 200: PauseState },
      },
    },
    async (request) => await showPause(db, request.staff.tenant.id),
  );
  app.post(
    '/v1/staff/pause/',
    {
      onRequest: ordersGuard,
      schema: {
        ...SHARED,
        operationId: 'startPause',
        summary: 'Pause the restaurant',
        description:
          'Starts a pause. New orders of partners get 409 `restaurant_closed`, immediately on this node and within a second on ' +
          'every other node. Existing orders and the menu do not change. A second call replaces the pause.',
        body: PauseStart,
        response: { 200: PauseState },
      },
    },
    async (request) => {
      const { staff, body } = request;
      await startPause(db, actorOf(staff), body);
      await changes.catchUp();
      return await showPause(db, staff.tenant.id);
    },
  );
  app.delete(
    '/v1/staff/pause/',
    {
      onRequest: ordersGuard,
      schema: {
        ...SHARED,
        operationId: 'endPause',
        summary: 'End the pause',
        description:
          'Ends the pause. The restaurant then is open if the time is in its opening hours. If there is no pause, the call ' +
          'changes nothing.',
        response: { 200: PauseState },
      },
    },
    async ({ staff }) => {
      await endPause(db, actorOf(staff));
      await changes.catchUp();
      return await showPause(db, staff.tenant.id);
    },
  );
}

function hoursRoutes(app: App, { db, changes, staffGuard, ownerGuard }: Dependencies): void {
  app.get(
    '/v1/staff/opening-hours/',
    {
      onRequest: staffGuard,
      schema: {
        ...SHARED,
        operationId: 'getOpeningHours',
        summary: 'Read the opening hours',
        description: 'Returns the opening hours of the restaurant. `PUT` accepts this document.',
        response: { 200: OpeningHoursDocument },
      },
    },
    async (request) => await readHours(db, request.staff.tenant.id),
  );
  app.put(
    '/v1/staff/opening-hours/',
    {
      onRequest: ownerGuard,
      schema: {
        ...SHARED,
        operationId: 'replaceOpeningHours',
        summary: 'Replace the opening hours',
        description:
          'Replaces all opening hours. Outside these hours, new orders of partners get 409 `restaurant_closed`. The hours are ' +
          'local times, so they follow the clock changes of the time zone. If a clock change skips `opens` or `closes`, the time is ' +
          'later by the skipped time. If a local time occurs twice, its first occurrence counts.',
        body: OpeningHoursDocument,
        response: { 200: OpeningHoursDocument },
      },
    },
    async (request) => {
      const { staff, body } = request;
      await replaceHours(db, actorOf(staff), body);
      await changes.catchUp();
      return await readHours(db, staff.tenant.id);
    },
  );
}
