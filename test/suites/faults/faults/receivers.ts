import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { moveOrder, placeOrder } from '../actors/orders.ts';
import type { Misbehaviour } from '../receivers.ts';
import type { SurroundingsWorld } from '../surroundings.ts';
import { makePartner } from '../tenants.ts';
import type { Fault, World } from '../world.ts';
import { causeEvent } from './witness.ts';

const MISBEHAVIOUR_MS = 8_000;
/** Orders per misbehaving receiver. They cause 640 events, more than the 512 places of a worker, if nothing limited those of a receiver. */
const FLOOD_ORDERS = 16;
const FLOOD_STATUSES = ['confirmed', 'preparing', 'ready', 'completed'];

function misbehaviour(kind: Misbehaviour, name: string): Fault<SurroundingsWorld> {
  return {
    name,
    isShort: kind === 'hang',
    async strike(world) {
      const { failingHooks, impostorPort } = world;
      failingHooks.forEach((hook) => hook.startMisbehaviour(kind, impostorPort));
      if (kind === 'hang') {
        await flood(world);
      }
      await sleep(MISBEHAVIOUR_MS);
    },
    heal: async ({ failingHooks }) => failingHooks.forEach((hook) => hook.recover()),
  };
}

async function flood({ client, partners, failingHooks }: World): Promise<void> {
  const urls = new Set(failingHooks.map(({ url }) => url));
  const theirs = partners.filter(({ webhookUrl }) => urls.has(webhookUrl));
  await Promise.all(
    theirs.map(async (partner) => {
      for (let placed = 0; placed < FLOOD_ORDERS; placed += 1) {
        const order = await placeOrder(client, partner);
        for (const status of FLOOD_STATUSES) {
          await moveOrder(client, order, status);
        }
      }
    }),
  );
}

export const receiverFaults: Fault<SurroundingsWorld>[] = [
  misbehaviour('hang', 'receivers-hang'),
  misbehaviour('dribble', 'receivers-dribble'),
  misbehaviour('reset', 'receivers-reset'),
  misbehaviour('redirect', 'receivers-redirect'),
  misbehaviour('gigabytes', 'receivers-answer-gigabytes'),
  misbehaviour('certificate', 'receivers-bad-certificate'),
  /** Some events cannot be sent, because the webhook secret cannot be decrypted, the secret is too short, or the URL is invalid. */
  {
    name: 'poison-events',
    async strike(world) {
      const { postgres, tenants, random } = world;
      const poisons = [
        { webhook_secret: randomBytes(60) },
        { webhook_secret: randomBytes(3) },
        { webhook_url: 'https://[' },
      ];
      for (const poison of poisons) {
        const hook = await world.newHook();
        const partner = await makePartner(world.balancer.url, random.pick(tenants), hook.url);
        world.knownPartners.set(partner.credentialId, partner);
        const [[column, value] = ['', '']] = Object.entries(poison);
        const values = [partner.tenant.id, partner.credentialId, value];
        await postgres.query(`UPDATE credential SET ${column} = $3 WHERE tenant_id = $1 AND id = $2`, values);
        await causeEvent(world, partner);
      }
      await sleep(5_000);
    },
  },
];
