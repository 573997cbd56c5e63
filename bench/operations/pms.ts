import { dayAfter, jsonCall, READERS } from '../calls.ts';
import { startChild } from '../child.ts';
import type { SelectJob } from '../floors/select.ts';
import type { WriteRatesJob } from '../floors/write-rates.ts';
import type { Slice } from '../load-worker.ts';
import { SEEDED_NIGHTS } from '../seed.ts';
import { type Caller, CONNECTIONS, type RoomType, type Stand } from '../stand.ts';
import { ratioOf, type Row } from '../table.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

const WRITTEN_DATES = 730;
/** A write of 730 dates keeps a connection busy for long. */
const RATE_WRITERS = 16;

export const PMS: Operation[] = [
  { name: 'pms-inventory', measure: measureInventory },
  { name: 'pms-rates', measure: measureRates },
];

/** One room type of each caller's tenant. */
function ownRoomTypes(stand: Stand): { caller: Caller; roomType: RoomType }[] {
  return stand.pms.flatMap((caller, index) => {
    const own = stand.roomTypes.get(caller.tenantId) ?? [];
    const roomType = own[index % own.length];
    return roomType ? [{ caller, roomType }] : [];
  });
}

async function measureInventory(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const checkIn = stand.firstNight;
  const checkOut = dayAfter(SEEDED_NIGHTS, checkIn);
  const asked = ownRoomTypes(stand);
  await using floor = startChild<SelectJob, string>('floors/select.ts');
  const url = await floor.ask({ databaseUrl: stand.databaseUrl, connections: CONNECTIONS, read: 'inventory' });
  const calls = asked.map(({ caller, roomType }) => ({
    path: `/v1/channel-manager/pms/inventory/?room_type_id=${roomType.id}&check_in=${checkIn}&check_out=${checkOut}`,
    headers: caller.headers,
  }));
  const floorCalls = asked.map(({ caller, roomType }) => ({
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

async function measureRates(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const dates = Array.from({ length: WRITTEN_DATES }, (_, day) => dayAfter(day));
  const asked = ownRoomTypes(stand);
  const calls = asked.map(({ caller, roomType }, index) => {
    const rates = dates.map((date, day) => ({ date, price: `${90 + ((index + day) % 40)}.00` }));
    return jsonCall(
      '/v1/channel-manager/pms/rates/',
      caller.headers,
      { rate_plan_id: roomType.ratePlanId, rates },
      'PUT',
    );
  });
  const plans = asked.map(({ caller, roomType }) => ({ tenantId: caller.tenantId, ratePlanId: roomType.ratePlanId }));
  await using floor = startChild<WriteRatesJob, Slice>('floors/write-rates.ts');
  const runs = {
    subject: world.load({ url: stand.service.url, calls, connections: RATE_WRITERS, status: 200 }),
    floor: (seconds: number) =>
      floor.ask({ databaseUrl: stand.databaseUrl, connections: CONNECTIONS, seconds, plans, dates }),
  };
  return [await world.row(`PMS PUT rates, ${WRITTEN_DATES} dates`, stand, runs, ratioOf(0.7))];
}
