import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { placeOrder } from '../actors/orders.ts';
import { processesOf, type World, waitUntil } from '../world.ts';
import type { Fault } from './fault.ts';

const SERVING_AGAIN_MS = 10_000;
/** Longer than a caller of the database waits for its answer. */
const BLACK_HOLE_MS = 14_000;
const ROUND_TRIP_MS = 200;

/** PostgreSQL stops as by a power cut, and comes back. */
const postgresRestart: Fault = {
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
    await allWriteAgain(world);
    const tookMs = performance.now() - restartedAtMs;
    world.findings.measure('serving again after a restart of PostgreSQL', tookMs, SERVING_AGAIN_MS);
  },
  heal: async ({ postgres }) => await startAgain(postgres),
};

async function startAgain(postgres: World['postgres']): Promise<void> {
  if (!(await postgres.isReady())) {
    await postgres.start();
  }
}

/** Until each API process has answered a read that needs the database. */
async function allWriteAgain({ apis, client, witness }: World): Promise<void> {
  const { tenant, headers } = witness.partner;
  const request = { method: 'GET', path: '/v1/third-party/orders/?page_size=1', options: { headers } };
  await Promise.all(
    apis.map(({ url }) => {
      return waitUntil(async () => (await client.try(tenant, request, url))?.status === 200, 3 * SERVING_AGAIN_MS);
    }),
  );
}

/** Every connection is cut in the middle of what it carries, three times. */
const connectionsCut: Fault = {
  name: 'database-connections-cut',
  interruptsDeliveries: true,
  async strike(world) {
    for (let times = 0; times < 3; times += 1) {
      processesOf(world).forEach(({ link }) => link.cut());
      await sleep(2_000);
    }
  },
};

/** The primary has become a replica: reads go on, every write is refused (25006). */
const readOnly: Fault = {
  name: 'database-read-only',
  interruptsDeliveries: true,
  async strike({ postgres, findings }) {
    await findings.duringOutage(async () => {
      await setReadOnly(postgres, 'on');
      await sleep(6_000);
      await setReadOnly(postgres, 'off');
      await sleep(300); // until every session has seen it
    });
  },
  heal: async ({ postgres }) => await setReadOnly(postgres, 'off'),
};

async function setReadOnly(postgres: World['postgres'], value: 'on' | 'off'): Promise<void> {
  await postgres.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
  await postgres.query('SELECT pg_reload_conf()');
}

/** Nothing passes any more, nothing is refused; then all that has waited arrives at once, a COMMIT given up on among it. */
const blackHole: Fault = {
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
};

const slow: Fault = {
  name: 'database-slow-200ms',
  async strike(world) {
    processesOf(world).forEach(({ link }) => (link.delayMs = ROUND_TRIP_MS));
    await sleep(10_000);
    processesOf(world).forEach(({ link }) => (link.delayMs = 0));
  },
  heal: async (world) => processesOf(world).forEach(({ link }) => (link.delayMs = 0)),
};

/** Two connections for a whole API process, and somebody who holds the lock that every order needs. */
const poolExhausted: Fault = {
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
};

/** More than the space that PostgreSQL has set aside, in its tables and in its log. */
const BIG_ORDERS = 60;
const NOTES_BYTES = 300_000;

/** The volume of the database is full to the last block; PostgreSQL may even go down, and is started once there is room. */
const diskFull: Fault = {
  name: 'disk-full',
  interruptsDeliveries: true,
  whyNot: ({ volume }) =>
    volume === undefined ? 'this machine lets us mount no volume of our own (needs root)' : null,
  async strike(world) {
    const { volume, postgres, findings, history } = world;
    const unknownBefore = history.tries.unknown;
    let placing: Promise<unknown> | undefined;
    await findings.duringOutage(async () => {
      await volume?.fill();
      placing = placeBigOrders(world);
      await sleep(8_000);
      findings.note(`PostgreSQL is ${(await postgres.isReady()) ? 'up' : 'down'}`);
      await volume?.empty();
      await startAgain(postgres);
    });
    await placing;
    findings.note(`${history.tries.unknown - unknownBefore} calls were not answered for want of space`);
  },
  async heal({ volume, postgres }) {
    await volume?.empty();
    await startAgain(postgres);
  },
};

async function placeBigOrders({ client, partners, random }: World): Promise<void> {
  const notes = () => randomBytes(NOTES_BYTES / 2).toString('hex');
  const orders = Array.from({ length: BIG_ORDERS }, () => placeOrder(client, random.pick(partners), 1, notes()));
  await Promise.all(orders);
}

export const databaseFaults: Fault[] = [
  postgresRestart,
  connectionsCut,
  readOnly,
  blackHole,
  slow,
  poolExhausted,
  diskFull,
];
