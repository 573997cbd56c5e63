import { actorOf } from '#access/tenants/tenants.ts';
import type { RecentChanges } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { noSuch } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { changeRoomType } from './rooms.ts';
import { ChangedRoomType, RoomTypeChange, RoomTypePath } from './schema.ts';

export function roomTypeStaffRoutes(
  app: App,
  { db, changes, ownerGuard }: { db: Database; changes: RecentChanges; ownerGuard: Guard },
): void {
  app.patch(
    '/v1/staff/room-types/:id/',
    {
      onRequest: ownerGuard,
      config: { errors: [noSuch('room type')] },
      schema: {
        operationId: 'changeRoomType',
        summary: 'Change the number of rooms of a room type',
        description:
          'Changes the capacity of a room type. If the new capacity is below the number of rooms that are held on a night, the ' +
          'night is oversold. No stay is cancelled, and the list of oversold nights shows the night. Partners see the change ' +
          'immediately on this node, and within a second on every other node. The tenant document sets the same field, so the ' +
          'next document with a part `properties` writes its value again. Only the owner may call this operation.',
        tags: ['Properties'],
        params: RoomTypePath,
        body: RoomTypeChange,
        response: { 200: ChangedRoomType },
      },
    },
    async (request) => {
      const roomType = await changeRoomType(db, actorOf(request.staff), request.params.id, request.body);
      await changes.catchUp();
      return roomType;
    },
  );
}
