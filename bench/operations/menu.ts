import { callOnce, mapAtOnce, READERS } from '../calls.ts';
import { startChild } from '../child.ts';
import type { AnswerJob } from '../floors/answer.ts';
import type { Call } from '../load-worker.ts';
import type { Stand } from '../stand.ts';
import { type Goal, ratioOf, type Row } from '../table.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

const PATH = '/v1/third-party/menu/';
/** A menu that is met for the first time is rendered: work enough for a few at once. */
const TOUCHED_AT_ONCE = 4;

export const MENU: Operation[] = [
  { name: 'menu-full', measure: (world) => measureMenu(world, 'GET menu, full', {}, ratioOf(0.7)) },
  {
    name: 'menu-compressed',
    measure: (world) => measureMenu(world, 'GET menu, compressed', { 'accept-encoding': 'gzip' }, ratioOf(0.7)),
  },
  { name: 'menu-304', measure: measureUnchanged },
];

async function measureMenu(
  world: World,
  operation: string,
  headers: Record<string, string>,
  goal: Goal,
): Promise<Row[]> {
  const stand = await world.lean();
  await touchMenus(stand);
  const calls = stand.partners.map((partner) => ({ path: PATH, headers: { ...partner.headers, ...headers } }));
  return [await besideBytes(world, stand, operation, calls, goal)];
}

/** Reads every tenant's menu once, so that none is met for the first time while it counts. @returns the ETags by tenant */
export async function touchMenus(stand: Stand): Promise<Map<number, string>> {
  const tenants = [...new Map(stand.partners.map((partner) => [partner.tenantId, partner])).values()];
  const etags = await mapAtOnce(tenants, TOUCHED_AT_ONCE, async ({ tenantId, headers }) => {
    const answer = await callOnce(stand.service.url, { path: PATH, headers });
    return [tenantId, answer.headers['etag'] ?? ''] as const;
  });
  return new Map(etags);
}

/** Every caller has the menu already. */
async function measureUnchanged(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const etagOf = await touchMenus(stand);
  const calls = stand.partners.map(({ tenantId, headers }) => ({
    path: PATH,
    headers: { ...headers, 'if-none-match': etagOf.get(tenantId) ?? '' },
  }));
  return [await besideBytes(world, stand, 'GET menu, 304', calls, ratioOf(0.4))];
}

/** The floor answers every call with the bytes that the service answers the first with. */
async function besideBytes(world: World, stand: Stand, operation: string, calls: Call[], goal: Goal): Promise<Row> {
  const [first = { path: PATH, headers: {} }] = calls;
  const { status, headers, body } = await callOnce(stand.service.url, first);
  const kept = ['content-type', 'content-encoding', 'content-length', 'etag'];
  const own = Object.fromEntries(Object.entries(headers).filter(([name]) => kept.includes(name)));
  await using floor = startChild<AnswerJob, string>('floors/answer.ts');
  const url = await floor.ask({ status, headers: own, body });
  const shared = { calls, connections: READERS, status };
  const runs = { subject: world.load({ ...shared, url: stand.service.url }), floor: world.load({ ...shared, url }) };
  const row = await world.row(operation, stand, runs, goal);
  const size = `${Math.round(body.length / 1024)} KB${headers['content-encoding'] ? ` ${headers['content-encoding']}` : ''}`;
  return { ...row, note: [size, row.note].filter(Boolean).join('; ') };
}
