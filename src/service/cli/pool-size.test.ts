import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { cleanUp, runCommand, type Serving, startServing } from '#test/support/command.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { findPgbouncer, startPgbouncer } from '#test/support/pgbouncer.ts';
import { call } from '#test/support/service.ts';

describe('serve with DATABASE_POOL_SIZE', () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  before(async () => {
    database = await createTestDatabase();
    env = { DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('base64') };
  });
  after(async () => {
    await cleanUp();
    await database.drop();
  });

  async function stop(serving: Serving): Promise<void> {
    serving.kill('SIGTERM');
    assert.equal((await serving.ended).code, 0);
  }

  it('if DATABASE_POOL_SIZE is auto, serve chooses 4 to 20 connections, and a second serve prints how many connections the other processes of the service may open', async () => {
    const first = await startServing([], { env: { ...env, DATABASE_POOL_SIZE: 'auto' } });
    const [, size] = await first.prints(/DATABASE_POOL_SIZE is auto, which is (\d+) here: this process takes up to/);
    assert.ok(Number(size) >= 4 && Number(size) <= 20);
    const second = await startServing([], { env: { ...env, DATABASE_POOL_SIZE: '7' } });
    const [, processes, taken] = await second.prints(
      /DATABASE_POOL_SIZE is 7: this process takes up to 9 connections\..* (\d+) other processes run now, and take up to (\d+)/,
    );
    assert.ok(Number(processes) >= 1);
    assert.ok(Number(taken) >= Number(size) + 2);
    await Promise.all([stop(first), stop(second)]);
  });

  it('a DATABASE_POOL_SIZE that the server does not allow causes a warning that names the remedies', async () => {
    const serving = await startServing([], { env: { ...env, DATABASE_POOL_SIZE: '900' } });
    await serving.prints(
      /"level":40.*Set a smaller DATABASE_POOL_SIZE, raise max_connections, or use a connection pooler/,
    );
    await stop(serving);
  });

  it('behind a pooler, DATABASE_POOL_SIZE=auto is 10, and serve says at its start that the limits of the pooler apply', {
    skip: findPgbouncer() === undefined && 'there is no pgbouncer on PATH',
  }, async () => {
    const pgbouncer = await startPgbouncer(database.url);
    const pooled = { ...env, DATABASE_URL: pgbouncer.urlOf(database.url), DATABASE_POOL_SIZE: 'auto' };
    const serving = await startServing([], { env: pooled });
    await serving.prints(
      /DATABASE_POOL_SIZE is auto, which is 10 behind a connection pooler\. The limits of the pooler apply/,
    );
    await stop(serving);
    await pgbouncer.close();
  });

  for (const size of ['2', '3']) {
    it(`201: a process with a pool of ${size} connections accepts 60 orders at the same time`, async () => {
      const serving = await startServing([], { env: { ...env, DATABASE_POOL_SIZE: size } });
      const { stdout } = await runCommand(['demo', '--json'], { env });
      const { credential } = JSON.parse(stdout) as { credential: { api_key: string; api_secret: string } };
      const headers = { 'x-api-key': credential.api_key, 'x-api-secret': credential.api_secret };
      const { body: menu } = await call(serving.url, 'GET', '/v1/third-party/menu/', { headers });
      const { sku } = menu.find((dish: { price_variants: unknown[] }) => dish.price_variants.length === 0);
      const place = async (index: number) => {
        const json = { external_order_id: `${size}-${index}`, items: [{ item_id: sku, quantity: 1 }] };
        return (await call(serving.url, 'POST', '/v1/third-party/orders/', { headers, json })).status;
      };
      const statuses = await Promise.all(Array.from({ length: 60 }, (_, index) => place(index)));
      assert.deepEqual([...new Set(statuses)], [201]);
      await stop(serving);
    });
  }
});
