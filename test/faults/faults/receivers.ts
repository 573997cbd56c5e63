import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { moveOrder, placeOrder } from '../actors/orders.ts';
import type { Disorder } from '../receivers.ts';
import { makePartner } from '../tenants.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';
import { causeEvent } from './witness.ts';

const DISORDER_MS = 8_000;
/** Together more events than all workers have slots: a worker that shares its slots out to whoever comes has none left. */
const FLOOD_ORDERS = 8;
const FLOOD_STATUSES = ['confirmed', 'preparing', 'ready', 'completed'];

/** Ten of the fifty receivers fall into disorder at once. */
function disorder(kind: Disorder, name: string): Fault {
  return {
    name,
    isShort: kind === 'hang',
    async strike(world) {
      const { patients, impostorPort } = world;
      patients.forEach((hook) => hook.fallInto(kind, impostorPort));
      if (kind === 'hang') {
        await flood(world);
      }
      await sleep(DISORDER_MS);
      patients.forEach((hook) => hook.recover());
    },
    heal: async ({ patients }) => patients.forEach((hook) => hook.recover()),
  };
}

/** Hundreds of events for the receivers in disorder, at once. */
async function flood({ client, partners, patients }: World): Promise<void> {
  const urls = new Set(patients.map(({ url }) => url));
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

/** Events that cannot be sent at all: a secret that does not open, a secret too short to be one, a URL that is none. */
const poisonEvents: Fault = {
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

export const receiverFaults: Fault[] = [
  disorder('hang', 'receivers-hang'),
  disorder('dribble', 'receivers-dribble'),
  disorder('reset', 'receivers-reset'),
  disorder('redirect', 'receivers-redirect'),
  disorder('gigabytes', 'receivers-answer-gigabytes'),
  disorder('certificate', 'receivers-bad-certificate'),
  poisonEvents,
];
