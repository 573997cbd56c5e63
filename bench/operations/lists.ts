import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { callForJson } from '../calls.ts';
import type { Service } from '../service.ts';
import type { Caller } from '../stand.ts';
import { median, percentile } from '../statistics.ts';
import { memoryBelow, p50Below, p99Within, type Row } from '../table.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

const PATH = '/v1/third-party/orders/';
const PAGE_SIZE = 50;
const PAGE_CALLS_A_ROUND = 5;
const WARM_UP_CALLS = 500;
const SAMPLE_EVERY_MS = 50;
const CLOSING_BRACE = '}'.charCodeAt(0);

export const LISTS: Operation[] = [
  { name: 'list-whole', measure: measureWhole },
  { name: 'list-deep-pages', measure: measureDeepPages },
];

async function measureWhole(world: World): Promise<Row[]> {
  const { service, lister, count } = await listOf(world);
  await warmUp(service, lister);
  const before = await service.rssMb();
  const reads: { firstByteMs: number; tookMs: number; peakMb: number }[] = [];
  for (let round = 0; round < world.options.rounds; round += 1) {
    reads.push(await readWhole(service, lister, count));
  }
  const firstByteMs = median(reads.map((read) => read.firstByteMs));
  return [
    {
      operation: `list of ${count} orders`,
      perSecond: count / (median(reads.map((read) => read.tookMs)) / 1000),
      memoryMb: Math.max(...reads.map((read) => read.peakMb)) - before,
      goal: memoryBelow(64),
      note: 'per second: orders; memory: the largest growth during a read',
    },
    { operation: `list of ${count} orders, first byte`, p50Ms: firstByteMs, goal: p50Below(200) },
  ];
}

/**
 * Makes calls before the measurement. The first calls to a new process increase its memory, even if they read little. The measurement must
 * not include this increase.
 */
async function warmUp(service: Service, { headers }: Caller): Promise<void> {
  for (let turn = 0; turn < WARM_UP_CALLS; turn += 1) {
    await callForJson(service.url, { path: `${PATH}?page=1`, headers });
  }
}

/**
 * Reads the whole list in one call, and samples the memory of the service during the read. To check that the list is complete, counts the
 * orders by the closing braces in the response. An order in this list contains no nested object, so it has exactly one closing brace.
 * @throws Error if the list is incomplete
 */
async function readWhole(service: Service, { headers }: Caller, orders: number) {
  const startedAt = performance.now();
  const request = get(service.url + PATH, { headers, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let firstByteMs = 0;
  let braces = 0;
  let hasEnded = false;
  response.on('data', (chunk: Buffer) => {
    firstByteMs ||= performance.now() - startedAt;
    for (const byte of chunk) {
      braces += byte === CLOSING_BRACE ? 1 : 0;
    }
  });
  const ended = once(response, 'close').then(() => (hasEnded = true));
  let peakMb = 0;
  while (!hasEnded) {
    peakMb = Math.max(peakMb, await service.rssMb());
    await Promise.race([ended, sleep(SAMPLE_EVERY_MS)]);
  }
  if (response.statusCode !== 200 || !response.complete || braces !== orders) {
    throw new Error(`The response had the status ${response.statusCode} and ${braces} of ${orders} orders.`);
  }
  return { firstByteMs, tookMs: performance.now() - startedAt, peakMb };
}

async function measureDeepPages(world: World): Promise<Row[]> {
  const { service, lister, count } = await listOf(world);
  const last = Math.ceil(count / PAGE_SIZE);
  const rows: Row[] = [];
  for (const [name, page] of Object.entries({ middle: Math.ceil(last / 2), last })) {
    const call = { path: `${PATH}?page=${page}&page_size=${PAGE_SIZE}`, headers: lister.headers };
    const durations: number[] = [];
    for (let turn = 0; turn < PAGE_CALLS_A_ROUND * world.options.rounds; turn += 1) {
      const startedAt = performance.now();
      const { results } = await callForJson<{ results: unknown[] }>(service.url, call);
      durations.push(performance.now() - startedAt);
      if (results.length === 0) {
        throw new Error(`Page ${page} of the list is empty.`);
      }
    }
    durations.sort((a, b) => a - b);
    const measured = { p50Ms: percentile(durations, 0.5), p99Ms: percentile(durations, 0.99) };
    const operation = `list of ${count} orders, ${name} page`;
    rows.push({ operation, ...measured, goal: p99Within(250), note: 'one call at a time' });
  }
  return rows;
}

async function listOf(world: World): Promise<{ service: Service; lister: Caller; count: number }> {
  const { stocked } = await world.stocked();
  const lister = stocked.partners.at(-1);
  if (lister === undefined) {
    throw new Error('The database has no partner whose orders can be listed.');
  }
  const { service } = stocked;
  const firstPage = { path: `${PATH}?page=1`, headers: lister.headers };
  const { count } = await callForJson<{ count: number }>(service.url, firstPage);
  return { service, lister, count };
}
