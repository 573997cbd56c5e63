import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { makePartner, type Partner } from '../../tenants.ts';
import type { ClusterWorld } from '../cluster.ts';
import type { Fault } from '../../world.ts';

const LIMIT = 300;
const WINDOW_MS = 60_000;
const LOST_MS = 3_000;
const FOUND_AGAIN_MS = 3_000;
/** A process that has lost Redis admits only its share of each budget until 65 s after its last failed call to Redis. */
const SHARED_OUT_MS = 70_000;
const CALLERS_OF_EACH = 3;

/**
 * Runs the steps, for example a kill of Redis. Even if Redis loses its counts of calls, the service must admit at most twice the budget of
 * each partner in a minute (contract, "Budgets without Redis"). Two new partners make calls until the service refuses them: the first
 * before the first step and after each step, the second only after each step. Afterwards, another new partner proves the other budgets.
 * @param uncertainMs time after the last step during which the suite cannot know how many calls the service has counted
 */
async function spendingAround(world: ClusterWorld, uncertainMs: number, steps: (() => Promise<void>)[]): Promise<void> {
  const early = { partner: await newPartner(world), letIn: [] as number[] };
  const late = { partner: await newPartner(world), letIn: [] as number[] };
  const successor = await newPartner(world);
  world.budgeted = null;
  const beganAtMs = performance.now();
  early.letIn.push(await spend(world, early.partner));
  for (const step of steps) {
    await step();
    early.letIn.push(await spend(world, early.partner));
    late.letIn.push(await spend(world, late.partner));
  }
  const tookMs = performance.now() - beganAtMs;
  for (const { letIn } of [early, late]) {
    world.findings.note(`A partner got ${letIn.join(' + ')} calls within ${Math.round(tookMs / 1000)} s`);
    if (letIn.reduce((sum, count) => sum + count, 0) > 2 * LIMIT && tookMs < WINDOW_MS) {
      const seen = `${letIn.join(' + ')} calls of one credential were let in within a minute, but two budgets are ${2 * LIMIT}`;
      world.findings.violation('8 budgets are kept', seen);
    }
  }
  setTimeout(() => (world.budgeted = successor), uncertainMs).unref();
}

async function newPartner(world: ClusterWorld): Promise<Partner> {
  const hook = await world.newHook();
  return await makePartner(world.balancer.url, world.witness.partner.tenant, hook.url);
}

/**
 * Sends concurrent calls to each API process until the process refuses them.
 * @returns the number of calls that got 200, in all processes together
 */
async function spend({ client, apis }: ClusterWorld, { tenant, headers }: Partner): Promise<number> {
  const request = { method: 'GET', path: '/v1/third-party/hotels/rooms/', options: { headers } };
  const callers = apis.flatMap(({ url }) => Array.from({ length: CALLERS_OF_EACH }, () => url));
  const counts = await Promise.all(
    callers.map(async (url) => {
      let letIn = 0;
      while (letIn <= 2 * LIMIT && (await client.try(tenant, request, url))?.status === 200) {
        letIn += 1;
      }
      return letIn;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

export const redisFaults: Fault<ClusterWorld>[] = [
  {
    name: 'redis-killed',
    isShort: true,
    async strike(world) {
      await spendingAround(world, SHARED_OUT_MS, [
        async () => {
          await world.redis.kill();
          await sleep(LOST_MS);
        },
        async () => {
          await world.redis.start();
          await sleep(FOUND_AGAIN_MS);
        },
      ]);
    },
  },
  {
    name: 'redis-emptied',
    async strike(world) {
      await spendingAround(world, 0, [
        async () => {
          const client = await createClient({ url: world.redis.url }).connect();
          await client.flushAll();
          client.destroy();
        },
      ]);
      await sleep(FOUND_AGAIN_MS);
    },
  },
];
