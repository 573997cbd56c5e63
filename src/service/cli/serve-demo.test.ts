import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp, runCommand, type Serving, startServing } from '#test/support/command.ts';
import { readToEnd } from '#test/support/feed.ts';
import { orderPath } from '#test/support/restaurant.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { sampleTenant } from '#test/support/tenants.ts';
import { eventually, placeOrder } from '#test/support/webhooks.ts';

const STOP_LIMIT_MS = 15_000;
/** Time limit within which an order must reach the expected status, in milliseconds. It is long, because the test machine may be busy. */
const SETTLE_MS = 60_000;

describe('serve --demo', () => {
  let service: TestService;
  let demo: TestTenant;
  let env: Record<string, string>;

  before(async () => {
    service = await startService({ config: { rateLimitPerMinute: 1_000_000 } });
    demo = await service.tenant({ slug: 'demo' });
    env = { DATABASE_URL: service.database.url, MASTER_KEY: service.masterKey.toString('base64') };
  });
  after(async () => {
    await cleanUp();
    await service.close();
  });

  const statusOf = async ({ partner }: TestTenant, externalId: string): Promise<string> =>
    (await service.call('GET', orderPath(externalId), { headers: partner })).body.status;

  async function stop(serving: Serving): Promise<void> {
    const beganAt = performance.now();
    serving.kill('SIGTERM');
    assert.equal((await serving.ended).code, 0);
    assert.ok(performance.now() - beganAt < STOP_LIMIT_MS);
  }

  it('serve --demo takes an order of the demo tenant through every status, and leaves an order of another tenant pending', async () => {
    const other = await service.tenant();
    const [{ externalId }, untouched] = [
      await placeOrder(service, demo.partner),
      await placeOrder(service, other.partner),
    ];
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
    const keys = { MASTER_KEY: elsewhere.masterKey.toString('base64') };
    const serving = await startServing(['--demo', '--demo-speed', '1000000'], {
      env: { DATABASE_URL: elsewhere.database.url, ...keys },
    });
    await sleep(2_000);
    const { body } = await elsewhere.call('GET', orderPath(externalId), { headers: realTenant.partner });
    await stop(serving);
    await elsewhere.close();
    assert.equal(body.status, 'pending');
  });

  it('serve --demo --only worker changes the status of a demo order; serve without --demo and serve --demo --only api do not', async () => {
    const { externalId } = await placeOrder(service, demo.partner);
    await service.database.db
      .updateTable('restaurant_order')
      .set({ created_at: new Date(Date.now() - 60_000) })
      .where('tenant_id', '=', demo.tenantId)
      .where('external_order_id', '=', externalId)
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
    const wrong = [
      ...['0', '-1', 'fast', '', '1e3', '0x10', 'Infinity', '9'.repeat(400)].map((speed) => [
        '--demo',
        `--demo-speed=${speed}`,
      ]),
      ['--demo-speed', '60'],
      ['--demo', '--only', 'api', '--demo-speed', '60'],
    ];
    for (const args of wrong) {
      const { code, stdout, stderr } = await runCommand(['serve', ...args], { env });
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, /^error: .*--demo-speed/);
    }
  });

  it('serve --help exits 0 and lists --demo-speed', async () => {
    const { code, stdout } = await runCommand(['serve', '--help']);
    assert.equal(code, 0);
    assert.match(stdout, /--demo-speed <times>/);
  });
});
