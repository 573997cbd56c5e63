import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { deliveryHeaders } from '#webhooks/deliveries/signature.ts';
import { startChild } from '../child.ts';
import { type Comparison, compare, type Run } from '../compare.ts';
import { type DeliveryStand } from '../delivery-stand.ts';
import { eventBody, untilRecorded, writeEvents } from '../events.ts';
import type { PostJob } from '../floors/post.ts';
import type { Slice } from '../load-worker.ts';
import { withConnection } from '../sql.ts';
import { ratioOf, type Row } from '../table.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

/**
 * Number of connections of the floor. The floor is a bare HTTP client with which the service is compared. Each connection has one POST
 * under way all the time.
 */
const FLOOR_CONNECTIONS = 64;
/**
 * Number of events in one batch of the operation `deliveries-steady`. The operation writes the next batch when less than one batch still
 * waits for delivery. So the service always has events to send.
 */
const WAITING = 2_000;
const POLL_MS = 20;
const DRAIN_TIMEOUT_MS = 600_000;

export const DELIVERIES: Operation[] = [
  { name: 'deliveries-steady', measure: measureSteady },
  { name: 'deliveries-backlog', measure: measureBacklog },
];

async function measureSteady(world: World): Promise<Row[]> {
  const deliveries = await world.deliveries();
  return await withConnection(deliveries.stand.databaseUrl, async (client) => {
    const subject: Run = (seconds) => deliverSteadily(deliveries, client, seconds);
    return [await compareWithPosts(world, deliveries, 'deliveries, steady', subject)];
  });
}

async function measureBacklog(world: World): Promise<Row[]> {
  const deliveries = await world.deliveries();
  const { backlog } = world.options.sizes;
  const title = `deliveries, backlog of ${backlog}, 5 % refuse`;
  return await withConnection(deliveries.stand.databaseUrl, async (client) => {
    const subject: Run = () => drainBacklog(deliveries, client, backlog);
    return [await compareWithPosts(world, deliveries, title, subject)];
  });
}

async function compareWithPosts(
  world: World,
  deliveries: DeliveryStand,
  operation: string,
  subject: Run,
): Promise<Row> {
  const { stand, receiverUrl, certificate } = deliveries;
  await using floor = startChild<PostJob, Slice>('floors/post.ts');
  const body = eventBody('0'.repeat(36));
  const signed = { secret: 'a secret', eventId: '0'.repeat(36), timestampSeconds: 1_800_000_000, body };
  const post = {
    url: `${receiverUrl}/floor`,
    cert: certificate.cert,
    connections: FLOOR_CONNECTIONS,
    headers: { 'content-type': 'application/json', ...deliveryHeaders('Service', signed) },
    body,
  };
  const measured: Comparison = await compare(subject, (seconds) => floor.ask({ ...post, seconds }), world.options);
  return {
    operation,
    perSecond: measured.subject.perSecond,
    floorPerSecond: measured.floor.perSecond,
    ratio: measured.ratio,
    memoryMb: await stand.service.rssMb(),
    goal: ratioOf(0.5),
  };
}

/**
 * Measures the deliveries per second during the given time. Writes new events during this time, so that the service always has some to
 * send.
 */
async function deliverSteadily(deliveries: DeliveryStand, client: pg.Client, seconds: number): Promise<Slice> {
  const { receiver, healthy } = deliveries;
  const { answered: before } = await receiver.ask({});
  let written = 0;
  let delivered = 0;
  const startedAt = performance.now();
  let elapsedMs = 0;
  while (elapsedMs < seconds * 1000) {
    if (written - delivered < WAITING) {
      await writeEvents(client, healthy, WAITING);
      written += WAITING;
    }
    await sleep(POLL_MS);
    delivered = (await receiver.ask({})).answered - before;
    elapsedMs = performance.now() - startedAt;
  }
  const slice = sliceOf(delivered / (elapsedMs / 1000));
  await untilRecorded(client, healthy);
  return slice;
}

/**
 * Writes a backlog of `count` deliveries that are all due at the same moment. Measures the time until the healthy receivers have all
 * their deliveries.
 * @throws Error if this takes longer than 10 minutes
 */
async function drainBacklog(deliveries: DeliveryStand, client: pg.Client, count: number): Promise<Slice> {
  const { receiver, healthy, refusing } = deliveries;
  const healthyCount = Math.round((count * healthy.length) / (healthy.length + refusing.length));
  const { answered: before } = await receiver.ask({});
  await client.query('BEGIN');
  await writeEvents(client, healthy, healthyCount);
  await writeEvents(client, refusing, count - healthyCount);
  await client.query('COMMIT');
  const startedAt = performance.now();
  while ((await receiver.ask({})).answered - before < healthyCount) {
    if (performance.now() - startedAt > DRAIN_TIMEOUT_MS) {
      throw new Error(`The service did not deliver the backlog within ${DRAIN_TIMEOUT_MS / 1000} s.`);
    }
    await sleep(POLL_MS);
  }
  const slice = sliceOf(healthyCount / ((performance.now() - startedAt) / 1000));
  await untilRecorded(client, healthy);
  // Deletes the deliveries whose receivers refused the connection. Otherwise the service would retry them while the floor is
  // measured.
  await client.query(`DELETE FROM delivery WHERE status = 'pending'`);
  return slice;
}

function sliceOf(perSecond: number): Slice {
  return { perSecond, p50Ms: Number.NaN, p99Ms: Number.NaN };
}
