import { setTimeout as sleep } from 'node:timers/promises';
import { placeOrder } from '../../actors/orders.ts';
import { processesOf, waitUntil } from '../../world.ts';
import { type ClusterWorld, untilReplicated } from '../cluster.ts';

/** Maximum wait until all processes serve again after an outage. A client also repeats a call for at most this time. */
const SERVING_WITHIN_MS = 75_000;
/** Wait after the end of an outage. After this time, every process has a working connection to the database again. */
const SETTLED_MS = 500;

/**
 * Waits until every process reaches the database. Then places an order for a partner, and waits until the call has a response with a status
 * below 500.
 */
async function untilServing(world: ClusterWorld): Promise<void> {
  const isReady = async () => (await Promise.all(processesOf(world).map((each) => each.isReady()))).every(Boolean);
  const tookMs = await waitUntil(isReady, SERVING_WITHIN_MS, 100);
  if (tookMs === undefined) {
    world.findings.violation('processes work again after an outage', `not within ${SERVING_WITHIN_MS / 1000} s`);
  }
  await placeOrder(world.client, world.witness.partner);
}

/**
 * Runs `work`, which makes the database unavailable, and waits until all processes serve again. Records the whole period as an outage, from
 * the beginning of `work` to the end of the wait.
 */
export async function duringOutage(world: ClusterWorld, work: () => Promise<void>): Promise<void> {
  await world.findings.duringOutage(async () => {
    await work();
    await untilServing(world);
    await sleep(SETTLED_MS);
  });
}

/** Starts every server that does not run, as a supervisor would, and waits until the standbys follow the primary. */
export async function restore(world: ClusterWorld): Promise<void> {
  const { etcds, nodes, pgbouncer, postgres, findings } = world;
  processesOf(world).forEach(({ link }) => link.thaw());
  nodes.forEach((node) => node.thaw());
  [...etcds, ...nodes, pgbouncer].forEach((server) => server.start());
  try {
    await untilReplicated(postgres);
  } catch (error) {
    findings.violation('the cluster is whole again after a fault', String(error));
  }
}
