import { setTimeout as sleep } from 'node:timers/promises';
import { ORDERS } from '../../../support/restaurant.ts';
import type { Actor, Client } from '../client.ts';
import type { OldSecretProbe } from '../history.ts';
import type { Partner, Tenant } from '../tenants.ts';
import type { World } from '../world.ts';
import { moveOrder, placeOrder } from './orders.ts';

const CREDENTIALS = '/v1/third-party/credentials/';
const LIST = `${ORDERS}?page_size=1`;
/** Delays in milliseconds after a credential was revoked or rotated. After each delay, the simulated owner tries the old secret. */
const PROBE_AT_MS = [0, 0, 20, 100, 400, 1_200];

/**
 * Returns a simulated owner. It creates credentials, revokes or rotates them, and then makes calls with the old secret, which the service
 * must refuse (invariant 7).
 * @param refusingUrl a receiver that always responds with 503, so that a delivery is still pending when its credential is revoked
 */
export function credentialActor(world: World, refusingUrl: string): Actor {
  const { client, tenants, random, apis } = world;
  return {
    paceMs: 2_500,
    async act() {
      const partner = await issue(client, random.pick(tenants));
      if (partner === null) {
        return;
      }
      const isRevoke = random.oneIn(2);
      if (isRevoke && random.oneIn(2)) {
        await leaveDeliveryBehind(client, partner, refusingUrl);
      }
      // Each process caches the credential.
      const request = { method: 'GET', path: LIST, options: { headers: partner.headers } };
      await Promise.all(apis.map(({ url }) => client.try(partner.tenant, request, url)));
      await withdraw(world, partner, isRevoke ? 'revoke' : 'rotate');
    },
  };
}

async function issue(client: Client, tenant: Tenant): Promise<Partner | null> {
  const request = { method: 'POST', path: CREDENTIALS, options: { headers: tenant.owner, json: { label: 'a while' } } };
  const { answer } = await client.settle(tenant, request);
  if (answer.status !== 201) {
    client.history.surprises.push(`${CREDENTIALS}: ${answer.status} ${answer.text}`);
    return null;
  }
  const headers = { 'x-api-key': answer.body.api_key, 'x-api-secret': answer.body.api_secret };
  return { tenant, credentialId: answer.body.id, headers, webhookUrl: '', webhookSecret: '' };
}

/** Registers a webhook and causes a delivery that stays pending, because the receiver refuses every POST. */
async function leaveDeliveryBehind(client: Client, partner: Partner, url: string): Promise<void> {
  const options = { headers: partner.headers, json: { webhook_url: url } };
  await client.settle(partner.tenant, { method: 'POST', path: '/v1/third-party/webhook/', options });
  const order = await placeOrder(client, partner);
  if (order.successes.length > 0) {
    await moveOrder(client, order, 'confirmed');
  }
}

async function withdraw({ client, apis }: World, partner: Partner, after: OldSecretProbe['after']): Promise<void> {
  const { tenant, credentialId, headers } = partner;
  const path = `${CREDENTIALS}${credentialId}/${after}/`;
  const { answer } = await client.settle(tenant, { method: 'POST', path, options: { headers: tenant.owner } });
  const answeredAtMs = performance.now();
  if (answer.status !== 200) {
    client.history.surprises.push(`${path}: ${answer.status} ${answer.text}`);
    return;
  }
  if (after === 'revoke') {
    client.history.revokedCredentials.add(credentialId);
  }
  const request = { method: 'GET', path: LIST, options: { headers } };
  for (const atMs of PROBE_AT_MS) {
    await sleep(Math.max(0, answeredAtMs + atMs - performance.now()));
    await Promise.all(
      apis.map(async ({ name, url }) => {
        const afterMs = Math.round(performance.now() - answeredAtMs);
        const probe = await client.try(tenant, request, url);
        client.history.probes.push({ node: name, after, afterMs, status: probe?.status ?? 0 });
      }),
    );
  }
}
