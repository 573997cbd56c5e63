import { setTimeout as sleep } from 'node:timers/promises';
import { ORDERS } from '../../../support/restaurant.ts';
import type { Actor, Client } from '../client.ts';
import type { OldSecretProbe } from '../history.ts';
import type { Random } from '../random.ts';
import type { Partner, Tenant } from '../tenants.ts';
import { moveOrder, placeOrder } from './orders.ts';

const CREDENTIALS = '/v1/third-party/credentials/';
/** Delays in milliseconds after a credential was revoked or rotated. After each delay, the simulated owner tries the old secret. */
const PROBE_AT_MS = [0, 0, 20, 100, 400, 1_200];

interface Options {
  client: Client;
  tenants: readonly Tenant[];
  random: Random;
  /** Returns the API processes. The simulated owner tries each old secret at all of them. */
  nodes: () => { name: string; url: string }[];
  /**
   * URL of a receiver that always responds with 503, so that a delivery is still pending when its credential is
   * revoked.
   */
  refusingUrl: string;
}

/**
 * Returns a simulated owner. It creates credentials, revokes or rotates them, and then makes calls with the old secret, which the service
 * must refuse (invariant 7).
 */
export function credentialActor(options: Options): Actor {
  const { client, tenants, random } = options;
  return {
    name: 'credentials',
    paceMs: 2_500,
    async act() {
      const tenant = random.pick(tenants);
      const partner = await issue(client, tenant);
      if (partner === null) {
        return;
      }
      const isRevoke = random.oneIn(2);
      if (isRevoke && random.oneIn(2)) {
        await leaveDeliveryBehind(client, partner, options.refusingUrl);
      }
      await ask(client, partner, options.nodes());
      await withdraw(options, partner, isRevoke ? 'revoke' : 'rotate');
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

/**
 * Registers a webhook and causes a delivery that stays pending, because the receiver refuses every POST. If the response to the
 * registration is lost, `settle` repeats the call. The second response does not show the webhook secret again, but no simulated client
 * needs this secret.
 */
async function leaveDeliveryBehind(client: Client, partner: Partner, url: string): Promise<void> {
  const options = { headers: partner.headers, json: { webhook_url: url } };
  await client.settle(partner.tenant, { method: 'POST', path: '/v1/third-party/webhook/', options });
  const order = await placeOrder(client, partner);
  if (order.successes.length > 0) {
    await moveOrder(client, order, 'confirmed');
  }
}

/** Calls every process once with the credential, so that each process has cached the credential. */
async function ask(client: Client, partner: Partner, nodes: { url: string }[]): Promise<void> {
  const request = { method: 'GET', path: `${ORDERS}?page_size=1`, options: { headers: partner.headers } };
  await Promise.all(nodes.map(({ url }) => client.try(partner.tenant, request, url)));
}

async function withdraw({ client, nodes }: Options, partner: Partner, after: OldSecretProbe['after']): Promise<void> {
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
  const request = { method: 'GET', path: `${ORDERS}?page_size=1`, options: { headers } };
  for (const atMs of PROBE_AT_MS) {
    await sleep(Math.max(0, answeredAtMs + atMs - performance.now()));
    await Promise.all(
      nodes().map(async ({ name, url }) => {
        const afterMs = Math.round(performance.now() - answeredAtMs);
        const probe = await client.try(tenant, request, url);
        client.history.probes.push({ node: name, after, afterMs, status: probe?.status ?? 0 });
      }),
    );
  }
}
