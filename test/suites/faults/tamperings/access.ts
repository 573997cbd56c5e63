import { setTimeout as sleep } from 'node:timers/promises';
import { MENU } from '../../../support/restaurant.ts';
import { makePartner } from '../tenants.ts';
import { first, type Tampering } from './tampering.ts';

const oldSecret: Tampering = {
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
};

const budgetOverrun: Tampering = {
  name: 'two processes admit 300 calls each in one window',
  breaks: '8 budgets are kept',
  async spoil({ history }) {
    const count = history.budgetedCalls.length;
    for (let calls = 0; calls < 600; calls += 1) {
      history.budgetedCalls.push({
        counter: 'spoilt',
        sentAtMs: calls * 50,
        answeredAtMs: calls * 50 + 5,
        outcome: 'let_in',
      });
    }
    return () => history.budgetedCalls.splice(count);
  },
};

const othersDish: Tampering = {
  name: "a menu shows another tenant's text",
  breaks: '9 no tenant sees data of another',
  async spoil(world) {
    const [own, other] = world.tenants;
    const partner = first(
      world.partners.filter(({ tenant }) => tenant === own),
      'partner',
    );
    const describe = async (marker: string) => {
      const values = [own?.id, `of ${marker}`];
      await world.postgres.query('UPDATE dish SET description = $2 WHERE tenant_id = $1', values);
      await world.postgres.query('UPDATE menu SET version = version + 1 WHERE tenant_id = $1', [own?.id]);
      // When the service changes a menu, it also inserts a row into `recent_change`. Each process reads the new rows every 200 ms and
      // invalidates its cached menu. This statement inserts such a row, so that the processes show the changed menu.
      await world.postgres.query('INSERT INTO recent_change (id, tenant_id) VALUES (gen_random_uuid(), $1)', [own?.id]);
      await sleep(1_000);
    };
    await describe(other?.marker ?? '');
    await world.client.try(partner.tenant, { method: 'GET', path: MENU, options: { headers: partner.headers } });
    return async () => await describe(own?.marker ?? '');
  },
};

const openTransaction: Tampering = {
  name: 'a transaction is left open',
  breaks: '10 no work is left afterwards',
  async spoil({ postgres }) {
    const session = await postgres.openSession();
    await session.query(`SET application_name = 'roomservice pool'`);
    await session.query('BEGIN');
    return async () => await session.end();
  },
};

export const accessTamperings: Tampering[] = [oldSecret, budgetOverrun, othersDish, openTransaction];
