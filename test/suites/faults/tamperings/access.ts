import { setTimeout as sleep } from 'node:timers/promises';
import { MENU } from '../../../support/restaurant.ts';
import { makePartner } from '../tenants.ts';
import { first, type Tampering } from './tampering.ts';

export const accessTamperings: Tampering[] = [
  {
    name: 'a revoked credential is accepted',
    breaks: '7 old secrets are refused',
    async spoil(world) {
      const { client, history, postgres } = world;
      const tenant = first(world.tenants, 'tenant');
      const partner = await makePartner(client.url, tenant, (await world.newHook()).url);
      const path = `/v1/third-party/credentials/${partner.credentialId}/revoke/`;
      await client.settle(tenant, { method: 'POST', path, options: { headers: tenant.owner } });
      const values = [tenant.id, partner.credentialId];
      await postgres.query('UPDATE credential SET is_active = true WHERE tenant_id = $1 AND id = $2', values);
      const menu = { method: 'GET', path: MENU, options: { headers: partner.headers } };
      const answer = await client.try(tenant, menu);
      history.probes.push({ node: 'the balancer', after: 'revoke', afterMs: 0, status: answer?.status ?? 0 });
      return () => history.probes.pop();
    },
  },
  {
    name: 'two processes admit 300 calls each in one window',
    breaks: '8 budgets are kept',
    async spoil({ history }) {
      const count = history.budgetedCalls.length;
      for (let calls = 0; calls < 600; calls += 1) {
        const sentAtMs = calls * 50;
        history.budgetedCalls.push({ counter: 'spoilt', sentAtMs, answeredAtMs: sentAtMs + 5, outcome: 'let_in' });
      }
      return () => history.budgetedCalls.splice(count);
    },
  },
  {
    name: "a menu shows another tenant's text",
    breaks: '9 no tenant sees data of another',
    async spoil(world) {
      const [own, other] = world.tenants;
      const ofOwn = world.partners.filter(({ tenant }) => tenant === own);
      const { tenant, headers } = first(ofOwn, 'partner');
      const describe = async (marker: string) => {
        const values = [own?.id, `of ${marker}`];
        await world.postgres.query('UPDATE dish SET description = $2 WHERE tenant_id = $1', values);
        await world.postgres.query('UPDATE menu SET version = version + 1 WHERE tenant_id = $1', [own?.id]);
        // Each process reads such rows every 200 ms, and then reads the menu again.
        await world.postgres.query('INSERT INTO recent_change (id, tenant_id) VALUES (gen_random_uuid(), $1)', [
          own?.id,
        ]);
        await sleep(1_000);
      };
      await describe(other?.marker ?? '');
      await world.client.try(tenant, { method: 'GET', path: MENU, options: { headers } });
      return async () => await describe(own?.marker ?? '');
    },
  },
  {
    name: 'a transaction is left open',
    breaks: '10 no work is left afterwards',
    async spoil({ postgres }) {
      const session = await postgres.openSession();
      await session.query(`SET application_name = 'roomservice pool'`);
      await session.query('BEGIN');
      return async () => await session.end();
    },
  },
];
