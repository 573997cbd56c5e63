import { callOnce, dayAfter, jsonCall, mapConcurrently, READERS } from '../calls.ts';
import { startChild } from '../child.ts';
import type { SelectJob } from '../floors/select.ts';
import type { WriteRatesJob } from '../floors/write-rates.ts';
import type { Call, Slice } from '../load-worker.ts';
import { SEEDED_NIGHTS } from '../seed.ts';
import { type Caller, CONNECTIONS, type RoomType, type Stand } from '../stand.ts';
import { type Goal, ratioOf, type Row } from '../table.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

/** Number of dates for which each call writes rates. */
const WRITTEN_DATES = 730;
/**
 * Number of connections over which rates are written. Few connections are enough to keep the service busy, because one write of 730 dates
 * takes long.
 */
const RATE_WRITERS = 16;

export const PMS: Operation[] = [
  { name: 'pms-inventory', measure: measureInventory },
  { name: 'pms-rates', measure: measureRates },
  { name: 'pms-rates-again', measure: measureRatesAgain },
];

/**
 * Returns one room type for each PMS credential, out of the room types of its tenant. `offset` moves the choice forward by this number of
 * positions in the list of these room types. So the offset 1 gives other room types than the offset 0.
 */
function ownRoomTypes(stand: Stand, offset = 0): { caller: Caller; roomType: RoomType }[] {
  return stand.pms.flatMap((caller, index) => {
    const own = stand.roomTypes.get(caller.tenantId) ?? [];
    const roomType = own[(index + offset) % own.length];
    return roomType ? [{ caller, roomType }] : [];
  });
}

async function measureInventory(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const checkIn = stand.firstNight;
  const checkOut = dayAfter(SEEDED_NIGHTS, checkIn);
  const roomTypes = ownRoomTypes(stand);
  await using floor = startChild<SelectJob, string>('floors/select.ts');
  const url = await floor.ask({ databaseUrl: stand.databaseUrl, connections: CONNECTIONS, read: 'inventory' });
  const calls = roomTypes.map(({ caller, roomType }) => ({
    path: `/v1/channel-manager/pms/inventory/?room_type_id=${roomType.id}&check_in=${checkIn}&check_out=${checkOut}`,
    headers: caller.headers,
  }));
  const floorCalls = roomTypes.map(({ caller, roomType }) => ({
    path: `/${caller.tenantId}/${roomType.id}/${checkIn}/${checkOut}`,
    headers: caller.headers,
  }));
  const shared = { connections: READERS, status: 200 };
  const runs = {
    subject: world.load({ ...shared, url: stand.service.url, calls }),
    floor: world.load({ ...shared, url, calls: floorCalls }),
  };
  return [await world.row(`PMS inventory, ${SEEDED_NIGHTS} nights`, stand, runs, ratioOf(0.8))];
}

/**
 * Measures writes that change prices. The calls write two different sets of prices alternately, so that a call does not write the prices
 * that are already stored. The floor writes a third set of prices for the same nights.
 */
async function measureRates(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const calls = [...rateCalls(stand, 90), ...rateCalls(stand, 150)];
  return [
    await compareWithUpsert(world, `PMS PUT rates, ${WRITTEN_DATES} dates`, calls, ownRoomTypes(stand), ratioOf(0.7)),
  ];
}

/**
 * Measures calls that write the prices that are already stored, so no call changes a price. The floor (the bare SQL with which the service
 * is compared) writes other prices, but only for other room types. If the floor wrote prices for the same room types, the next calls would
 * change these prices.
 */
async function measureRatesAgain(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const calls = rateCalls(stand, 90);
  await mapConcurrently(calls, RATE_WRITERS, (call) => callOnce(stand.service.url, call));
  return [
    await compareWithUpsert(world, `PMS PUT rates, ${WRITTEN_DATES} unchanged dates`, calls, ownRoomTypes(stand, 1)),
  ];
}

function writtenDates(): string[] {
  return Array.from({ length: WRITTEN_DATES }, (_, day) => dayAfter(day));
}

/** Returns one call for each PMS credential. The call writes the rates of all dates, with prices from `from` to `from` + 39. */
function rateCalls(stand: Stand, from: number): Call[] {
  const dates = writtenDates();
  return ownRoomTypes(stand).map(({ caller, roomType }, index) => {
    const rates = dates.map((date, day) => ({ date, price: `${from + ((index + day) % 40)}.00` }));
    const body = { rate_plan_id: roomType.ratePlanId, rates };
    return jsonCall('/v1/channel-manager/pms/rates/', caller.headers, body, 'PUT');
  });
}

async function compareWithUpsert(
  world: World,
  operation: string,
  calls: Call[],
  floorOn: { caller: Caller; roomType: RoomType }[],
  goal?: Goal,
): Promise<Row> {
  const stand = await world.lean();
  const plans = floorOn.map(({ caller, roomType }) => ({ tenantId: caller.tenantId, ratePlanId: roomType.ratePlanId }));
  await using floor = startChild<WriteRatesJob, Slice>('floors/write-rates.ts');
  const runs = {
    subject: world.load({ url: stand.service.url, calls, connections: RATE_WRITERS, status: 200 }),
    floor: (seconds: number) =>
      floor.ask({ databaseUrl: stand.databaseUrl, connections: CONNECTIONS, seconds, plans, dates: writtenDates() }),
  };
  return await world.row(operation, stand, runs, goal);
}
