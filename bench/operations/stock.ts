import { READERS, WRITERS } from '../calls.ts';
import type { Call } from '../load-worker.ts';
import type { Stand } from '../stand.ts';
import { ratioOf, type Row } from '../table.ts';
import type { World } from '../world.ts';
import { availabilityCalls, bookingCalls, spreadStays } from './hotel.ts';
import type { Operation } from './operation.ts';
import { newOrderCalls } from './orders.ts';

/**
 * Operations that compare two services. The database of one service holds as much data as after years of use, and the database of the
 * other is small.
 */
export const STOCK: Operation[] = [
  { name: 'past-stays-availability', measure: measureAvailability },
  { name: 'past-stays-reservation', measure: measureReservations },
  { name: 'many-orders', measure: measureOrders },
];

async function measureAvailability(world: World): Promise<Row[]> {
  const title = `GET availability, ${world.options.sizes.pastStays} past stays`;
  return [
    await compareWithFew(world, title, 0.9, async (stand) => ({
      calls: availabilityCalls(staysOfFirstTenant(stand)),
      connections: READERS,
      status: 200,
    })),
  ];
}

async function measureReservations(world: World): Promise<Row[]> {
  const title = `POST reservations, ${world.options.sizes.pastStays} past stays`;
  return [
    await compareWithFew(world, title, 0.9, async (stand) => ({
      calls: bookingCalls(staysOfFirstTenant(stand)),
      connections: WRITERS,
      status: 201,
    })),
  ];
}

async function measureOrders(world: World): Promise<Row[]> {
  const { manyOrders, fewOrders } = world.options.sizes;
  const title = `POST orders, ${manyOrders} stored against ${fewOrders}`;
  return [
    await compareWithFew(world, title, 0.8, async (stand) => ({
      calls: await newOrderCalls(stand),
      connections: WRITERS,
      status: 201,
    })),
  ];
}

/**
 * Returns stays at the first tenant. All past stays in the database belong to this tenant, so its calls show if past stays slow the service
 * down.
 */
function staysOfFirstTenant(stand: Stand) {
  const first = Math.min(...stand.roomTypes.keys());
  const callers = stand.partners.filter(({ tenantId }) => tenantId === first);
  // `spreadStays` returns two stays for each caller in its list. The list has each caller 50 times, so that the stays are spread over every
  // room type and many days.
  return spreadStays(stand, Array.from({ length: 50 }, () => callers).flat());
}

async function compareWithFew(
  world: World,
  operation: string,
  leastRatio: number,
  loadOf: (stand: Stand) => Promise<{ calls: Call[]; connections: number; status: number }>,
): Promise<Row> {
  const { few, stocked } = await world.stocked();
  const runs = {
    subject: world.load({ url: stocked.service.url, ...(await loadOf(stocked)) }),
    floor: world.load({ url: few.service.url, ...(await loadOf(few)) }),
  };
  return await world.row(operation, stocked, runs, ratioOf(leastRatio));
}
