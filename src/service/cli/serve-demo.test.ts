import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp, runCommand, type Serving, startServing, stop } from '#test/support/command.ts';
import { readToEnd } from '#test/support/feed.ts';
import { orderPath } from '#test/support/restaurant.ts';
import { call, envOf, startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { CONSOLE } from '#test/support/sessions.ts';
import { sampleTenant } from '#test/support/tenants.ts';
import { eventually, placeOrder } from '#test/support/webhooks.ts';

/** Time limit within which an order must reach the expected status, in milliseconds. It is long, because the test machine may be busy. */
const SETTLE_MS = 60_000;
const WELCOME = /^ {2}Console {2}(\S+)\/console\/#welcome=(\S+)$/m;

let service: TestService;
let demo: TestTenant;
let env: Record<string, string>;
before(async () => {
  service = await startService({ config: { rateLimitPerMinute: 1_000_000 } });
  env = envOf(service);
});
after(async () => {
  await cleanUp();
  await service.close();
});

it('serve --demo on a DATABASE_URL creates no demo tenant, and does not warn of an address that other machines can reach', async () => {
  const { stdout } = await stop(await startServing(['--demo'], { env: { ...env, HOST: '0.0.0.0' } }));
  assert.doesNotMatch(stdout, /Password|X-API-Secret|other machines can reach/);
  assert.deepEqual(await service.database.db.selectFrom('tenant').select('slug').execute(), []);
});

describe('the simulation of serve --demo', () => {
  before(async () => {
    demo = await service.tenant({ slug: 'demo' });
  });

  const statusOf = async ({ partner }: TestTenant, externalId: string, at = service): Promise<string> =>
    (await at.call('GET', orderPath(externalId), { headers: partner })).body.status;

  it('serve --demo takes an order of the demo tenant through every status, and leaves an order of another tenant pending', async () => {
    const other = await service.tenant();
    const { externalId } = await placeOrder(service, demo.partner);
    const untouched = await placeOrder(service, other.partner);
    const serving = await startServing(['--demo', '--demo-speed', '5000'], { env });
    await eventually(async () => (await statusOf(demo, externalId)) === 'completed', 'completed order', SETTLE_MS);
    const { all } = await readToEnd(service, demo.partner);
    assert.deepEqual(
      all.map(({ data }) => data['status']),
      ['confirmed', 'preparing', 'ready', 'out_for_delivery', 'completed'],
    );
    assert.equal(await statusOf(other, untouched.externalId), 'pending');
    await stop(serving);
  });

  it('serve --demo changes no order of a real tenant that has the slug "demo", because its owner is not the demo owner', async () => {
    const elsewhere = await startService();
    const { users = [] } = sampleTenant();
    const realTenant = await elsewhere.tenant({ slug: 'demo', users });
    const { externalId } = await placeOrder(elsewhere, realTenant.partner);
    const serving = await startServing(['--demo', '--demo-speed', '1000000'], { env: envOf(elsewhere) });
    await sleep(2_000);
    assert.equal(await statusOf(realTenant, externalId, elsewhere), 'pending');
    await stop(serving);
    await elsewhere.close();
  });

  it('serve --demo --only worker changes the status of a demo order; serve without --demo and serve --demo --only api do not', async () => {
    const { externalId, orderId } = await placeOrder(service, demo.partner);
    const orders = service.database.db.updateTable('restaurant_order').where('tenant_id', '=', demo.tenantId);
    await orders
      .set({ created_at: new Date(Date.now() - 60_000) })
      .where('id', '=', orderId)
      .execute();
    const all = await Promise.all([startServing([], { env }), startServing(['--demo', '--only', 'api'], { env })]);
    await sleep(2_500);
    assert.equal(await statusOf(demo, externalId), 'pending');
    await Promise.all(all.map(stop));
    const worker = await startServing(['--demo', '--only', 'worker'], { env });
    await eventually(async () => (await statusOf(demo, externalId)) !== 'pending', 'order that moves', SETTLE_MS);
    await stop(worker);
  });

  it('serve exits 2 if --demo-speed is not a number above 0, or is used without --demo or with --only api', async () => {
    const speeds = ['0', '-1', 'fast', '', '1e3', '0x10', 'Infinity', '9'.repeat(400)];
    for (const args of [
      ...speeds.map((speed) => ['--demo', `--demo-speed=${speed}`]),
      ['--demo-speed', '60'],
      ['--demo', '--only', 'api', '--demo-speed', '60'],
    ]) {
      const { code, stdout, stderr } = await runCommand(['serve', ...args], { env });
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, /^error: .*--demo-speed/);
    }
  });
});

describe('the link of serve --demo', () => {
  const welcome = async ({ url }: Serving, token: string) =>
    await call(url, 'POST', '/v1/auth/welcome/', { headers: CONSOLE, json: { token } });

  it('serve --demo prints first, on a terminal, a link of the console that signs in the demo owner once; the next start replaces it', async () => {
    const first = await startServing(['--demo'], { env, columns: 100 });
    const [, , unused = ''] = await first.prints(WELCOME);
    await stop(first);
    const serving = await startServing(['--demo'], { env, columns: 100 });
    const [, base, token = ''] = await serving.prints(WELCOME);
    assert.equal(base, serving.url);
    assert.ok(serving.output().indexOf('Console') < serving.output().indexOf('Roomservice listens on'));
    assert.equal((await welcome(serving, unused)).status, 401);
    const { status, body } = await welcome(serving, token);
    assert.deepEqual([status, body.person.email], [200, 'owner@demo.example']);
    assert.equal((await welcome(serving, token)).status, 401);
    await stop(serving);
    assert.equal(serving.output().split(token).length, 2, 'the log does not have the token');
  });

  it('serve --demo prints no link if stdout is not a terminal; serve without --demo prints none either', async () => {
    for (const [args, columns] of [
      [['--demo'], undefined],
      [[], 100],
      [['--demo', '--only', 'worker'], 100],
    ] as const) {
      const serving = await startServing([...args], { env, columns });
      await stop(serving);
      assert.doesNotMatch(serving.output(), /welcome=/);
    }
  });
});
