import { callForJson, jsonCall, READERS, withId, WRITERS } from '../calls.ts';
import { startChild } from '../child.ts';
import { compare } from '../compare.ts';
import type { InsertOrdersJob } from '../floors/insert-orders.ts';
import type { PlaceOrdersJob } from '../floors/place-orders.ts';
import type { SelectJob } from '../floors/select.ts';
import { readRow, type TextRow } from '../floors/statements.ts';
import type { Call, Slice } from '../load-worker.ts';
import { withConnection } from '../sql.ts';
import { type Caller, CONNECTIONS, type Stand } from '../stand.ts';
import { type Goal, ratioOf, type Row } from '../table.ts';
import type { World } from '../world.ts';
import { readEachMenuOnce } from './menu.ts';
import type { Operation } from './operation.ts';

const PATH = '/v1/third-party/orders/';
/** External id of a stored order. Every third-party credential has an order with this id. */
const STORED = 'stored-1';
/**
 * Number of HTTP connections on which the operation `order-latency` calls the service. This is also the number of database connections that
 * the service has for its API.
 */
const FEW_WRITERS = 16;

export const ORDERS: Operation[] = [
  { name: 'order-read', measure: measureRead },
  { name: 'order-new', measure: measureNew },
  { name: 'order-latency', measure: measureNewLatency },
  { name: 'order-repeated', measure: measureRepeated },
];

/**
 * Reads all menus, so that the service does not render them during the measurement. Then returns one call for each partner, which orders
 * three dishes.
 */
export async function newOrderCalls(stand: Stand): Promise<Call[]> {
  await readEachMenuOnce(stand);
  const [first] = stand.partners;
  const menu = await callForJson<{ sku: string }[]>(stand.service.url, {
    path: '/v1/third-party/menu/',
    headers: first?.headers ?? {},
  });
  return stand.partners.map(({ headers }, index) => {
    const items = [0, 1, 2].map((offset) => {
      const dish = menu[(index + offset * 80) % menu.length];
      return { item_id: dish?.sku, quantity: 1 + offset };
    });
    const customer = { name: 'Ana Silva', phone: '+351 900 000 000' };
    return jsonCall(PATH, headers, {
      external_order_id: '{id}',
      items,
      customer,
      delivery_address: '14 Rua do Cais, Porto',
      notes: 'ring twice',
    });
  });
}

async function measureNew(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const calls = await newOrderCalls(stand);
  const row = await placeOne(stand, calls[0], stand.partners[0]);
  await using floor = startChild<InsertOrdersJob, Slice>('floors/insert-orders.ts');
  const owners = stand.partners.map(({ tenantId, credentialId }) => ({ tenantId, credentialId }));
  const runs = {
    subject: world.load({ url: stand.service.url, calls, connections: WRITERS, status: 201 }),
    floor: (seconds: number) =>
      floor.ask({ databaseUrl: stand.databaseUrl, connections: CONNECTIONS, seconds, row, owners }),
  };
  return [await world.row('POST orders, new', stand, runs, ratioOf(0.8))];
}

/**
 * Measures the time of calls that place an order over a few connections. The floor (the bare server with which the service is compared) is
 * called by HTTP too, because the time of a call of the service includes the time of its HTTP request.
 */
async function measureNewLatency(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const calls = await newOrderCalls(stand);
  const row = await placeOne(stand, calls[0], stand.partners[0]);
  await using child = startChild<PlaceOrdersJob, string>('floors/place-orders.ts');
  const owners = stand.partners.map(({ tenantId, credentialId }) => ({ tenantId, credentialId }));
  const floorUrl = await child.ask({ databaseUrl: stand.databaseUrl, connections: CONNECTIONS, row, owners });
  const load = (url: string) => world.load({ url, calls, connections: FEW_WRITERS, status: 201 });
  const { subject, floor, ratio } = await compare(load(stand.service.url), load(floorUrl), world.options);
  return [
    {
      operation: `POST orders, new, ${FEW_WRITERS} connections`,
      perSecond: subject.perSecond,
      p50Ms: subject.p50Ms,
      p99Ms: subject.p99Ms,
      floorPerSecond: floor.perSecond,
      ratio,
      memoryMb: await stand.service.rssMb(),
      goal: p99WithinTimes(1.5, floor.p99Ms),
      note: `floor: p50 ${floor.p50Ms.toFixed(2)} ms, p99 ${floor.p99Ms.toFixed(2)} ms`,
    },
  ];
}

/**
 * Returns the goal for the 99th percentile of the response times of the service.
 * @param times largest allowed ratio of this percentile to the 99th percentile of the floor
 * @param floorMs 99th percentile of the response times of the floor, in milliseconds
 */
function p99WithinTimes(times: number, floorMs: number): Goal {
  return { text: `p99 ≤ ${times} × floor`, isReached: ({ p99Ms = Infinity }) => p99Ms <= times * floorMs };
}

/** Places one order through the service, and returns the row that the service wrote. */
async function placeOne(stand: Stand, call: Call | undefined, caller: Caller | undefined): Promise<TextRow> {
  if (call === undefined || caller === undefined) {
    throw new Error('The database has no partner that can place an order.');
  }
  const only = withId(call, `only-${Date.now()}`);
  const { order_id } = await callForJson<{ order_id: string }>(stand.service.url, only);
  return await withConnection(stand.databaseUrl, (client) =>
    readRow(client, 'restaurant_order', caller.tenantId, order_id),
  );
}

/**
 * Measures calls that place an order with an external id that is already in use. The service returns the order that is stored under this
 * id. The floor (the bare server with which the service is compared) only reads the stored order.
 */
async function measureRepeated(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const calls = (await newOrderCalls(stand)).map((call) => withId(call, STORED));
  return [await compareWithSelect(world, stand, 'POST orders, repeated', calls)];
}

/** Returns one call for each partner, which reads a stored order of the partner. */
export function storedOrderCalls(partners: Caller[]): Call[] {
  return partners.map(({ headers }) => ({ path: `${PATH}${STORED}/`, headers }));
}

async function measureRead(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const row = await compareWithSelect(world, stand, 'GET one order', storedOrderCalls(stand.partners));
  return [{ ...row, goal: ratioOf(0.8) }];
}

async function compareWithSelect(world: World, stand: Stand, operation: string, calls: Call[]): Promise<Row> {
  await using floor = startChild<SelectJob, string>('floors/select.ts');
  const url = await floor.ask({ databaseUrl: stand.databaseUrl, connections: CONNECTIONS, read: 'order' });
  const floorCalls = stand.partners.map(({ tenantId, credentialId, headers }) => ({
    path: `/${tenantId}/${credentialId}/${STORED}`,
    headers,
  }));
  const shared = { connections: READERS, status: 200 };
  return await world.row(operation, stand, {
    subject: world.load({ ...shared, url: stand.service.url, calls }),
    floor: world.load({ ...shared, url, calls: floorCalls }),
  });
}
