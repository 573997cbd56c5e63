import { callOnce, mapConcurrently, READERS } from '../calls.ts';
import { startChild } from '../child.ts';
import type { AnswerJob } from '../floors/answer.ts';
import type { Call } from '../load-worker.ts';
import type { Stand } from '../stand.ts';
import { type Goal, ratioOf, type Row } from '../table.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

const PATH = '/v1/third-party/menu/';
/**
 * Number of menus that are read at the same time before the measurement. At the first read of a menu, the service renders it. The service
 * is one process, so its rendering uses about one CPU core. These reads keep this core busy, so a larger number would not be faster.
 */
const FIRST_READS_CONCURRENCY = 4;

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
  await readEachMenuOnce(stand);
  const calls = stand.partners.map((partner) => ({ path: PATH, headers: { ...partner.headers, ...headers } }));
  return [await compareWithBytes(world, stand, operation, calls, goal)];
}

/**
 * Reads every tenant's menu once, so that the service renders no menu during the measurement. Returns the ETags of the menus, by tenant
 * id.
 */
export async function readEachMenuOnce(stand: Stand): Promise<Map<number, string>> {
  const tenants = [...new Map(stand.partners.map((partner) => [partner.tenantId, partner])).values()];
  const etags = await mapConcurrently(tenants, FIRST_READS_CONCURRENCY, async ({ tenantId, headers }) => {
    const answer = await callOnce(stand.service.url, { path: PATH, headers });
    return [tenantId, answer.headers['etag'] ?? ''] as const;
  });
  return new Map(etags);
}

/** Measures calls that send the current ETag of the menu. The service responds to them with 304 (not modified). */
async function measureUnchanged(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const etagOf = await readEachMenuOnce(stand);
  const calls = stand.partners.map(({ tenantId, headers }) => ({
    path: PATH,
    headers: { ...headers, 'if-none-match': etagOf.get(tenantId) ?? '' },
  }));
  return [await compareWithBytes(world, stand, 'GET menu, 304', calls, ratioOf(0.4))];
}

/**
 * Measures the calls against a floor that responds to every call with the same bytes. These bytes are the service's response to the first
 * call.
 */
async function compareWithBytes(
  world: World,
  stand: Stand,
  operation: string,
  calls: Call[],
  goal: Goal,
): Promise<Row> {
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
