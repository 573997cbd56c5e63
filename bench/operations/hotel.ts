import { callForJson, dayAfter, jsonCall, READERS, withId, WRITERS } from '../calls.ts';
import { startChild } from '../child.ts';
import type { BookJob, Booking } from '../floors/book.ts';
import type { SelectJob } from '../floors/select.ts';
import { readRow } from '../floors/statements.ts';
import type { Call, Slice } from '../load-worker.ts';
import { CAPACITY } from '../seed.ts';
import { withConnection } from '../sql.ts';
import { type Caller, CONNECTIONS, type RoomType, type Stand } from '../stand.ts';
import { ratioOf, type Row } from '../table.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

/** Number of nights of each booked stay. */
const NIGHTS = 3;
/** Number of days, starting tomorrow, over which the check-in dates are spread. */
const DAYS = 60;
/** Number of nights that each availability call asks for. */
const SHOWN_NIGHTS = 30;

export const HOTEL: Operation[] = [
  { name: 'availability', measure: measureAvailability },
  { name: 'reservation-spread', measure: measureSpread },
  { name: 'reservation-one-room-type', measure: measureOneRoomType },
];

/**
 * Credential, room type and check-in date for one booking or one availability call. The calls to the service and to its floor use the same
 * stays.
 */
interface Stay {
  caller: Caller;
  roomType: RoomType;
  checkIn: string;
}

/** Returns two stays for each caller. The stays are spread over the room types of the caller's tenant and over the next 60 days. */
export function spreadStays(stand: Stand, callers = stand.partners): Stay[] {
  return [...callers, ...callers].flatMap((caller, index) => {
    const own = stand.roomTypes.get(caller.tenantId) ?? [];
    const roomType = own[(index * 7) % own.length];
    return roomType ? [{ caller, roomType, checkIn: dayAfter(1 + ((index * 13) % DAYS)) }] : [];
  });
}

export function availabilityCalls(stays: Stay[]): Call[] {
  return stays.map(({ caller, roomType, checkIn }) => ({
    path: `/v1/third-party/hotels/availability/?room_type_id=${roomType.id}&check_in=${checkIn}&check_out=${dayAfter(SHOWN_NIGHTS, checkIn)}`,
    headers: caller.headers,
  }));
}

async function measureAvailability(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const stays = spreadStays(stand);
  await using floor = startChild<SelectJob, string>('floors/select.ts');
  const url = await floor.ask({ databaseUrl: stand.databaseUrl, connections: CONNECTIONS, read: 'availability' });
  const floorCalls = stays.map(({ caller, roomType, checkIn }) => ({
    path: `/${caller.tenantId}/${roomType.id}/${roomType.ratePlanId}/${checkIn}/${dayAfter(SHOWN_NIGHTS, checkIn)}`,
    headers: caller.headers,
  }));
  const shared = { connections: READERS, status: 200 };
  const runs = {
    subject: world.load({ ...shared, url: stand.service.url, calls: availabilityCalls(stays) }),
    floor: world.load({ ...shared, url, calls: floorCalls }),
  };
  return [await world.row(`GET availability, ${SHOWN_NIGHTS} nights`, stand, runs, ratioOf(0.8))];
}

export function bookingCalls(stays: Stay[]): Call[] {
  return stays.map(({ caller, roomType, checkIn }) =>
    jsonCall('/v1/third-party/hotels/reservations/', caller.headers, {
      external_reservation_id: '{id}',
      room_type_id: roomType.id,
      check_in: checkIn,
      check_out: dayAfter(NIGHTS, checkIn),
      guests: 2,
      guest: { name: 'Ana Silva', phone: '+351 900 000 000', email: 'ana@example.com' },
    }),
  );
}

async function measureSpread(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const row = await measureBookings(world, stand, `POST reservations, spread`, spreadStays(stand));
  return [{ ...row, goal: ratioOf(0.7) }];
}

/**
 * Measures bookings that all take the same nights of one room type. The bookings wait for each other, because they change the same rows.
 */
async function measureOneRoomType(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const [first] = spreadStays(stand);
  const callers = stand.partners.filter(({ tenantId }) => tenantId === first?.caller.tenantId);
  const stays = first ? callers.map((caller) => ({ ...first, caller })) : [];
  return [await measureBookings(world, stand, 'POST reservations, one room type', stays)];
}

async function measureBookings(world: World, stand: Stand, operation: string, stays: Stay[]): Promise<Row> {
  const calls = bookingCalls(stays);
  const bookings = stays.map(
    ({ caller, roomType, checkIn }): Booking => ({
      tenantId: caller.tenantId,
      credentialId: caller.credentialId,
      roomTypeId: roomType.id,
      ratePlanId: roomType.ratePlanId,
      nights: Array.from({ length: NIGHTS }, (_, night) => dayAfter(night, checkIn)),
      checkOut: dayAfter(NIGHTS, checkIn),
    }),
  );
  const rows = await bookOne(stand, calls[0], stays[0]);
  const job = { databaseUrl: stand.databaseUrl, connections: CONNECTIONS, capacity: CAPACITY, bookings, ...rows };
  await using floor = startChild<BookJob, Slice>('floors/book.ts');
  return await world.row(operation, stand, {
    subject: world.load({ url: stand.service.url, calls, connections: WRITERS, status: 201 }),
    floor: (seconds) => floor.ask({ ...job, seconds }),
  });
}

/** Books one stay through the service. Returns the two rows that the service wrote: the reservation and its event. */
async function bookOne(stand: Stand, call: Call | undefined, stay: Stay | undefined) {
  if (call === undefined || stay === undefined) {
    throw new Error('The database has no partner that can book a stay.');
  }
  const only = withId(call, `only-${Date.now()}`);
  const { reservation_id } = await callForJson<{ reservation_id: string }>(stand.service.url, only);
  const { tenantId } = stay.caller;
  return await withConnection(stand.databaseUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      'SELECT id FROM event WHERE tenant_id = $1 ORDER BY id DESC LIMIT 1',
      [tenantId],
    );
    return {
      reservation: await readRow(client, 'reservation', tenantId, reservation_id),
      event: await readRow(client, 'event', tenantId, rows[0]?.id ?? ''),
    };
  });
}
