import { setTimeout as sleep } from 'node:timers/promises';
import { placeOrder } from '../../actors/orders.ts';
import { processesOf, waitUntil } from '../../world.ts';
import { type ClusterWorld, untilReplicated } from '../cluster.ts';

const SERVING_WITHIN_MS = 75_000;
/** After this time, every process has a working connection to the database again. */
const SETTLED_MS = 500;

/** Runs `work`, which makes the database unavailable, and records the period until all processes serve again as an outage. */
export async function duringOutage(world: ClusterWorld, work: () => Promise<void>): Promise<void> {
  const isReady = async () => (await Promise.all(processesOf(world).map((each) => each.isReady()))).every(Boolean);
  await world.findings.duringOutage(async () => {
    await work();
    if ((await waitUntil(isReady, SERVING_WITHIN_MS, 100)) === undefined) {
      const seen = `not within ${SERVING_WITHIN_MS / 1000} s`;
      world.findings.violation('processes work again after an outage', seen);
    }
    await placeOrder(world.client, world.witness.partner);
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
