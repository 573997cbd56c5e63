import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import { pino } from 'pino';
import { startService } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { createHttpApp } from './app.ts';
import { healthRoutes } from './health.ts';

const isCluster = await isTestCluster();

describe('GET /livez and GET /readyz', () => {
  it('503: /readyz responds with 503 while a migration has not been applied, but /livez still responds with 200', async (t) => {
    const service = await startService();
    t.after(() => service.close());
    const { db } = service.database;
    await sql`DELETE FROM kysely_migration WHERE name = (SELECT max(name) FROM kysely_migration)`.execute(db);
    const answer = await service.call('GET', '/readyz');
    assert.deepEqual([answer.status, answer.body], [503, { status: 'unavailable' }]);
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]$/);
    assert.equal((await service.call('GET', '/livez')).status, 200);
  });

  it('503: after the database has refused a write, /readyz responds with 503 until a trial write succeeds', {
    skip: isCluster && 'a cluster has no triggers, which this test uses',
  }, async (t) => {
    const service = await startService();
    t.after(() => service.close());
    const { db } = service.database;
    const tenant = await service.tenant();
    const statusOf = async () => (await service.call('GET', '/readyz')).status;
    // PostgreSQL reports a full disk with this code. The triggers refuse an order, and the temporary table of the trial.
    await sql`CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql
              AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$`.execute(db);
    await sql`CREATE FUNCTION disk_full_too() RETURNS event_trigger LANGUAGE plpgsql
              AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$`.execute(db);
    await sql`CREATE TRIGGER refuse BEFORE INSERT ON restaurant_order FOR EACH STATEMENT EXECUTE FUNCTION disk_full()`.execute(
      db,
    );
    await sql`CREATE EVENT TRIGGER refuse_too ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS')
              EXECUTE FUNCTION disk_full_too()`.execute(db);
    const order = { external_order_id: 'N-1', items: [{ item_id: 'PIZZA-1', quantity: 1 }] };
    const place = () => service.call('POST', '/v1/third-party/orders/', { headers: tenant.partner, json: order });
    assert.equal(await statusOf(), 200);
    assert.equal((await place()).status, 503);
    await eventually(async () => (await statusOf()) === 503, 'response 503 to /readyz');
    assert.equal((await service.call('GET', '/livez')).status, 200);
    await sql`DROP EVENT TRIGGER refuse_too`.execute(db);
    await sql`DROP TRIGGER refuse ON restaurant_order`.execute(db);
    await eventually(async () => (await statusOf()) === 200, 'response 200 to /readyz');
    assert.equal((await place()).status, 201);
  });

  it('concurrent calls of /readyz share one readiness check, and the check runs again when its result has expired', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] }); // The result of a check expires by a timer.
    const app = createHttpApp({ logger: pino({ level: 'silent' }), trustedProxies: [] });
    const checks: PromiseWithResolvers<boolean>[] = [];
    let isServing = true;
    healthRoutes(app, {
      isServing: () => isServing,
      isReady: () => {
        const result = Promise.withResolvers<boolean>();
        checks.push(result);
        return result.promise;
      },
    });
    const read = async () => await app.inject('/readyz');
    const readStatus = async () => (await read()).statusCode;
    const early = [readStatus(), readStatus(), readStatus()];
    await eventually(() => checks.length > 0, 'first check');
    checks[0]?.resolve(true);
    assert.deepEqual(await Promise.all(early), [200, 200, 200]);
    t.mock.timers.tick(999);
    assert.equal(await readStatus(), 200);
    assert.equal(checks.length, 1);
    isServing = false;
    assert.equal(await readStatus(), 503, 'a process that stops is not ready immediately');
    isServing = true;
    t.mock.timers.tick(1);
    const late = [read(), read()];
    await eventually(() => checks.length === 2, 'second check');
    checks[1]?.reject(new Error('an internal reason'));
    for (const { statusCode, body } of await Promise.all(late)) {
      assert.deepEqual(
        [statusCode, JSON.parse(body)],
        [503, { status: 'unavailable' }],
        'the response hides the error',
      );
    }
    assert.equal(checks.length, 2);
    await app.close();
  });
});
