import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { moveOrder, placeOrder } from '../actors/orders.ts';
import type { Misbehaviour } from '../receivers.ts';
import { makePartner } from '../tenants.ts';
import type { World } from '../world.ts';
import type { SurroundingsWorld } from '../surroundings.ts';
import type { Fault } from './fault.ts';
import { causeEvent } from './witness.ts';

const MISBEHAVIOUR_MS = 8_000;
/**
 * Number of orders per misbehaving receiver. Each order causes four events, so the ten receivers get 320 events. A worker has only 256
 * places. So if nothing limited the places of a receiver, a worker might have none left for other receivers.
 */
const FLOOD_ORDERS = 8;
const FLOOD_STATUSES = ['confirmed', 'preparing', 'ready', 'completed'];

/** Returns a fault in which ten of the fifty receivers misbehave at the same time. */
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
      failingHooks.forEach((hook) => hook.recover());
    },
    heal: async ({ failingHooks }) => failingHooks.forEach((hook) => hook.recover()),
  };
}

/** Causes hundreds of events for the misbehaving receivers. */
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

/** Some events cannot be sent, because the webhook secret cannot be decrypted, the secret is too short, or the URL is invalid. */
const poisonEvents: Fault<SurroundingsWorld> = {
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
      await postgres.query(`UPDATE credential SET ${column} = $3 WHERE tenant_id = $1 AND id = $2`, [
        partner.tenant.id,
        partner.credentialId,
        value,
      ]);
      await causeEvent(world, partner);
    }
    await sleep(5_000);
  },
};

export const receiverFaults: Fault<SurroundingsWorld>[] = [
  misbehaviour('hang', 'receivers-hang'),
  misbehaviour('dribble', 'receivers-dribble'),
  misbehaviour('reset', 'receivers-reset'),
  misbehaviour('redirect', 'receivers-redirect'),
  misbehaviour('gigabytes', 'receivers-answer-gigabytes'),
  misbehaviour('certificate', 'receivers-bad-certificate'),
  poisonEvents,
];
