import { callForJson, jsonCall, READERS, WRITERS } from '../calls.ts';
import { compare, type Run } from '../compare.ts';
import { DIRECTUS_NAME } from '../contestants/directus.ts';
import type { Row } from '../table.ts';
import type { World } from '../world.ts';
import { readEachMenuOnce } from './menu.ts';
import type { Operation } from './operation.ts';
import { storedOrderCalls } from './orders.ts';

export const DIRECTUS: Operation[] = [{ name: 'directus', isOnlyOnRequest: true, measure: compareWithDirectus }];

/** Measures a new order of one line, and the reading of one order by its external id, alternately in the service and in Directus. */
async function compareWithDirectus(world: World): Promise<Row[]> {
  const directus = await world.directus();
  const stand = await world.lean();
  await readEachMenuOnce(stand);
  const [first] = stand.partners;
  const menu = await callForJson<{ sku: string; price: string }[]>(stand.service.url, {
    path: '/v1/third-party/menu/',
    headers: first?.headers ?? {},
  });
  const lines = stand.partners.map((_, index) => {
    const { sku = '', price = '' } = menu[index % menu.length] ?? {};
    return { sku, price };
  });
  const newOrders = {
    subject: stand.partners.map(({ headers }, index) =>
      jsonCall('/v1/third-party/orders/', headers, {
        external_order_id: '{id}',
        items: [{ item_id: lines[index]?.sku, quantity: 1 }],
      }),
    ),
    floor: lines.map(({ sku, price }) =>
      jsonCall('/items/orders', directus.headers, {
        external_order_id: '{id}',
        status: 'pending',
        total: price,
        items: [{ item_id: sku, quantity: 1, price }],
      }),
    ),
  };
  const reads = {
    subject: storedOrderCalls(stand.partners),
    floor: stand.partners.map((_, index) => ({
      path: `/items/orders?filter[external_order_id][_eq]=stored-${index + 1}`,
      headers: directus.headers,
    })),
  };
  // Directus responds with 200 also if it finds nothing.
  const [read = { path: '', headers: {} }] = reads.floor;
  const { data } = await callForJson<{ data: unknown[] }>(directus.url, read);
  if (data.length !== 1) {
    throw new Error(`Directus found ${data.length} orders instead of one.`);
  }
  const ours = stand.service.url;
  return [
    await row(world, 'POST one order of one line', {
      subject: world.load({ url: ours, calls: newOrders.subject, connections: WRITERS, status: 201 }),
      floor: world.load({ url: directus.url, calls: newOrders.floor, connections: WRITERS, status: 200 }),
    }),
    await row(world, 'GET one order by its external id', {
      subject: world.load({ url: ours, calls: reads.subject, connections: READERS, status: 200 }),
      floor: world.load({ url: directus.url, calls: reads.floor, connections: READERS, status: 200 }),
    }),
  ];
}

async function row(world: World, operation: string, runs: { subject: Run; floor: Run }): Promise<Row> {
  const { subject, floor, ratio } = await compare(runs.subject, runs.floor, world.options);
  return {
    operation,
    perSecond: subject.perSecond,
    p50Ms: subject.p50Ms,
    p99Ms: subject.p99Ms,
    floorPerSecond: floor.perSecond,
    ratio,
    note: `floor: ${DIRECTUS_NAME}, p50 ${floor.p50Ms.toFixed(2)} ms, p99 ${floor.p99Ms.toFixed(2)} ms`,
  };
}
