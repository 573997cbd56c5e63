import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { placeOrder } from '../actors/orders.ts';
import type { SurroundingsWorld } from '../surroundings.ts';
import { type Fault, processesOf, type World } from '../world.ts';
import { untilServing } from './witness.ts';

const SERVING_AGAIN_MS = 10_000;
/** Time for which no bytes pass between the service and the database. It is longer than the time limit of a database call. */
const BLACK_HOLE_MS = 14_000;
const ROUND_TRIP_MS = 200;

async function setReadOnly(postgres: World['postgres'], value: 'on' | 'off'): Promise<void> {
  await postgres.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
  await postgres.query('SELECT pg_reload_conf()');
}

/** Together, these orders need more space than PostgreSQL has reserved in tables and in its write-ahead log. */
const BIG_ORDERS = 75;
const NOTES_BYTES = 240_000;

async function placeBigOrders({ client, partners, random }: World): Promise<void> {
  const notes = () => randomBytes(NOTES_BYTES / 2).toString('hex');
  const orders = Array.from({ length: BIG_ORDERS }, () => placeOrder(client, random.pick(partners), 1, notes()));
  await Promise.all(orders);
}

export const databaseFaults: Fault<SurroundingsWorld>[] = [
  {
    name: 'postgres-restart',
    isShort: true,
    interruptsDeliveries: true,
    async strike(world) {
      let restartedAtMs = 0;
      await world.findings.duringOutage(async () => {
        await world.postgres.crash();
        await sleep(3_000);
        restartedAtMs = performance.now();
        await world.postgres.start();
      });
      await Promise.all(world.apis.map((api) => untilServing(world, api, 3 * SERVING_AGAIN_MS)));
      const tookMs = performance.now() - restartedAtMs;
      world.findings.measure('all API processes serve again after a restart of PostgreSQL', tookMs, SERVING_AGAIN_MS);
    },
    heal: async ({ postgres }) => await postgres.start(),
  },
  {
    name: 'database-connections-cut',
    interruptsDeliveries: true,
    async strike(world) {
      for (let times = 0; times < 3; times += 1) {
        processesOf(world).forEach(({ link }) => link.cut());
        await sleep(2_000);
      }
    },
  },
  /** The database becomes read-only, like a primary that was demoted to a standby (SQLSTATE 25006). */
  {
    name: 'database-read-only',
    interruptsDeliveries: true,
    async strike({ postgres, findings }) {
      await findings.duringOutage(async () => {
        await setReadOnly(postgres, 'on');
        await sleep(6_000);
        await setReadOnly(postgres, 'off');
        await sleep(300); // Within this time, every session of PostgreSQL reads the changed setting, so it can write again.
      });
    },
    heal: async ({ postgres }) => await setReadOnly(postgres, 'off'),
  },
  /** The network to the database holds back all bytes. Then they arrive together, even a COMMIT that the process has already given up. */
  {
    name: 'database-black-hole',
    interruptsDeliveries: true,
    async strike(world) {
      const links = processesOf(world).map(({ link }) => link);
      await world.findings.duringOutage(async () => {
        links.forEach((link) => link.freeze());
        await sleep(BLACK_HOLE_MS);
        links.forEach((link) => link.thaw());
        await sleep(300);
      });
    },
    heal: async (world) => processesOf(world).forEach(({ link }) => link.thaw()),
  },
  {
    name: 'database-slow-200ms',
    async strike(world) {
      processesOf(world).forEach(({ link }) => (link.delayMs = ROUND_TRIP_MS));
      await sleep(10_000);
    },
    heal: async (world) => processesOf(world).forEach(({ link }) => (link.delayMs = 0)),
  },
  /** One API process has only two database connections. Orders that wait for the lock of another session soon occupy both. */
  {
    name: 'pool-exhausted',
    async strike(world) {
      const [api] = world.apis;
      await api.stop();
      await api.start({ DATABASE_POOL_SIZE: '2' });
      const session = await world.postgres.openSession();
      try {
        await session.query('BEGIN');
        await session.query('LOCK TABLE restaurant_order IN SHARE ROW EXCLUSIVE MODE');
        await sleep(8_000);
        await session.query('COMMIT');
      } finally {
        await session.end();
      }
      await sleep(1_000);
      await api.stop();
      await api.start();
    },
  },
  /** The volume of the database is completely full. PostgreSQL may stop, and is started again after space is free. */
  {
    name: 'disk-full',
    interruptsDeliveries: true,
    reasonToSkip: ({ volume }) =>
      volume === undefined ? 'this machine does not allow a mount of a separate volume, which needs root' : null,
    async strike(world) {
      const { volume, postgres, findings } = world;
      let placing: Promise<unknown> | undefined;
      await findings.duringOutage(async () => {
        await volume?.fill();
        placing = placeBigOrders(world);
        await sleep(8_000);
        findings.note(`PostgreSQL is ${(await postgres.isReady()) ? 'running' : 'stopped'} on the full volume`);
        await volume?.empty();
        await postgres.start();
      });
      await placing;
    },
    async heal({ volume, postgres }) {
      await volume?.empty();
      await postgres.start();
    },
  },
];
