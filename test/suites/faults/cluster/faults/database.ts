import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, waitUntil } from '../../world.ts';
import { type ClusterWorld, findPrimary } from '../cluster.ts';
import type { DatabaseNode } from '../database-node.ts';
import { duringOutage, restore } from './restoring.ts';

const FOUND_WITHIN_MS = 60_000;
const WITHOUT_STANDBYS_MS = 10_000;
/** After this time, the clients have certainly got the responses to all writes that a lost standby had confirmed. */
const IN_FLIGHT_MS = 2_000;
const ONE_ETCD_LOST_MS = 8_000;
/** Longer than `ttl`, after which Patroni demotes a primary that cannot renew its lock in etcd. */
const TWO_ETCD_LOST_MS = 20_000;
const POOLER_RESTARTS = 3;

/** Time for which the primary acknowledges writes although no standby has them. */
const WITHOUT_COPIES_MS = 3_000;
const SYNCHRONOUS = { synchronous_mode: true, synchronous_mode_strict: true };
const ASYNCHRONOUS = { synchronous_mode: false, synchronous_mode_strict: false };

async function findNodes({ nodes }: ClusterWorld) {
  let primary: DatabaseNode | undefined;
  await waitUntil(async () => (primary = await findPrimary(nodes)) !== undefined, FOUND_WITHIN_MS, 100);
  if (primary === undefined) {
    throw new Error(`The cluster has no primary after ${FOUND_WITHIN_MS / 1000} s.`);
  }
  return { primary, standbys: nodes.filter((node) => node !== primary) };
}

/**
 * The cluster replicates asynchronously, and the primary acknowledges writes that no standby has. Then a standby becomes the primary without
 * these writes. The suite must report them, which proves that it can find lost writes.
 */
export const asynchronous: Fault<ClusterWorld> = {
  name: 'asynchronous-replication',
  interruptsDeliveries: true,
  async strike(world) {
    const { primary, standbys } = await findNodes(world);
    await primary.configure(ASYNCHRONOUS);
    const isSet = async () => {
      const [row] = await world.postgres.query<{ value: string }>(
        `SELECT current_setting('synchronous_standby_names') AS value`,
      );
      return row?.value === '';
    };
    await waitUntil(isSet, FOUND_WITHIN_MS, 100);
    await Promise.all(standbys.map((node) => node.kill()));
    await sleep(WITHOUT_COPIES_MS);
    await duringOutage(world, async () => {
      await primary.kill();
      standbys.forEach((node) => node.start());
    });
    const { primary: successor } = await findNodes(world);
    await successor.configure(SYNCHRONOUS);
  },
  heal: restore,
};

export const databaseFaults: Fault<ClusterWorld>[] = [
  /** The machine of the primary loses its power, and starts again after a standby has become the primary. */
  {
    name: 'primary-killed',
    isShort: true,
    interruptsDeliveries: true,
    async strike(world) {
      const { primary } = await findNodes(world);
      await duringOutage(world, () => primary.kill());
      primary.start();
    },
  },
  /** The machine of the primary hangs, and continues after a standby has become the primary. The old primary must then refuse writes. */
  {
    name: 'primary-stopped',
    interruptsDeliveries: true,
    async strike(world) {
      const { primary } = await findNodes(world);
      await duringOutage(world, async () => primary.freeze());
      await sleep(2_000);
      primary.thaw();
      await sleep(2_000);
    },
  },
  {
    name: 'switchover',
    isShort: true,
    interruptsDeliveries: true,
    async strike(world) {
      const { primary } = await findNodes(world);
      await duringOutage(world, () => primary.switchOver());
    },
  },
  /** Both standbys are lost. With strict synchronous replication, no write may be acknowledged until one standby runs again. */
  {
    name: 'standbys-lost',
    isShort: true,
    interruptsDeliveries: true,
    async strike(world) {
      const { standbys } = await findNodes(world);
      await duringOutage(world, async () => {
        await Promise.all(standbys.map((node) => node.kill()));
        await sleep(IN_FLIGHT_MS);
        const before = world.history.acknowledgedAtMs.length;
        await sleep(WITHOUT_STANDBYS_MS);
        const acknowledged = world.history.acknowledgedAtMs.length - before;
        if (acknowledged > 0) {
          const seen = `${acknowledged} writes were acknowledged, although no standby had them`;
          world.findings.violation('1 no accepted data is lost', seen);
        }
        standbys.forEach((node) => node.start());
      });
    },
  },
  /** One of three etcd servers is killed, which must not disturb the database. */
  {
    name: 'etcd-one-lost',
    async strike(world) {
      const { primary } = await findNodes(world);
      const etcd = world.random.pick(world.etcds);
      await etcd.kill();
      await sleep(ONE_ETCD_LOST_MS);
      etcd.start();
      if (!(await primary.isPrimary())) {
        world.findings.note(`${primary.name} is no longer the primary, although only ${etcd.name} was lost`);
      }
    },
  },
  /** Two of three etcd servers are killed. Without a majority, Patroni makes the primary read-only until a second etcd server runs again. */
  {
    name: 'etcd-two-lost',
    interruptsDeliveries: true,
    async strike(world) {
      const [first, second] = world.etcds;
      await duringOutage(world, async () => {
        await Promise.all([first?.kill(), second?.kill()]);
        await sleep(TWO_ETCD_LOST_MS);
        first?.start();
        second?.start();
      });
    },
  },
  {
    name: 'pgbouncer-restarted',
    isShort: true,
    interruptsDeliveries: true,
    async strike(world) {
      for (let times = 0; times < POOLER_RESTARTS; times += 1) {
        await duringOutage(world, async () => {
          await world.pgbouncer.kill();
          await sleep(500);
          world.pgbouncer.start();
        });
        await sleep(1_000);
      }
    },
  },
];
