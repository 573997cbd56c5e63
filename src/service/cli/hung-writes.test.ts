import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { cleanUp, runCommand, type Serving, startServing, untilReady } from '#test/support/command.ts';
import { freePort } from '#test/support/free-port.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { call } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '#platform/db/embedded/embedded.ts';

const ORDERS = '/v1/third-party/orders/';
const WAITING = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;

/**
 * These tests use a real PostgreSQL, which is set to wait for a standby at each COMMIT. The standby does not exist, so the COMMIT of every
 * write hangs.
 */
describe('writes to a database that has lost its standbys', () => {
  let server: EmbeddedPostgres;
  let admin: pg.Client;
  let serving: Serving;
  let headers: Record<string, string>;
  let metricsUrl: string;
  let sku: string;
  before(async () => {
    const env = {
      DATA_DIR: await newMigratedDataDir(),
      METRICS_PORT: String(await freePort()),
      DATABASE_POOL_SIZE: '6',
      RATE_LIMIT_PER_MINUTE: '10000',
    };
    metricsUrl = `http://127.0.0.1:${env.METRICS_PORT}/metrics`;
    const { stdout } = await runCommand(['demo', '--json'], { env });
    const { credential } = JSON.parse(stdout) as { credential: { api_key: string; api_secret: string } };
    headers = { 'x-api-key': credential.api_key, 'x-api-secret': credential.api_secret };
    serving = await startServing([], { env });
    server = await openEmbeddedPostgres({ dataDir: env.DATA_DIR, role: 'command' });
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query('SET synchronous_commit = local');
    const { body } = await ask('GET', '/v1/third-party/menu/');
    sku = body.find((dish: { price_variants: unknown[] }) => dish.price_variants.length === 0).sku;
  });
  after(async () => {
    await admin.end();
    serving.kill('SIGTERM');
    assert.equal((await serving.ended).code, 0);
    await server.close();
    await cleanUp();
  });

  const ask = (method: string, path: string, json?: unknown) => call(serving.url, method, path, { headers, json });

  const place = (externalOrderId: string) =>
    ask('POST', ORDERS, {
      external_order_id: externalOrderId,
      order_type: 'pick_up',
      customer: { name: 'A. Guest', phone: '1' },
      items: [{ item_id: sku, quantity: 1 }],
    });

  async function setStandbys(names: string): Promise<void> {
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await admin.query('SELECT pg_reload_conf()');
    await eventually(async () => {
      const { rows } = await admin.query('SHOW synchronous_standby_names');
      return rows[0].synchronous_standby_names === names;
    }, 'setting');
  }

  /**
   * Waits until a COMMIT hangs because of a new value of `synchronous_standby_names`. `setStandbys` waits only until `SHOW` returns the new
   * value. But a COMMIT hangs only after the checkpointer process of PostgreSQL has read the value too, which may be a moment later.
   */
  async function untilCommitHangs(): Promise<void> {
    const writer = new pg.Client({ connectionString: server.url });
    await writer.connect();
    const pid = (await writer.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    const isHanging = async () => {
      const waits = async () => (await admin.query(`${WAITING} AND pid = ${pid}`)).rows[0].count > 0;
      let isCommitted = false;
      const commit = writer.query(`SELECT pg_logical_emit_message(true, 'test', 'a write')`);
      void commit.then(() => (isCommitted = true));
      const outcome = await eventually(async () => (isCommitted ? 'committed' : (await waits()) && 'hangs'), 'outcome');
      if (outcome === 'hangs') {
        await admin.query(`SELECT pg_cancel_backend(${pid})`);
      }
      await commit;
      return outcome === 'hangs';
    };
    await eventually(isHanging, 'COMMIT that hangs');
    await writer.end();
  }

  const countOf = (line: RegExp) => serving.output().match(line)?.length ?? 0;
  const lines = () => ({
    hang: countOf(/"writes do not complete/g),
    goOn: countOf(/"writes complete again/g),
    other: countOf(/request refused with 503/g),
  });
  const gauge = async () => /^database_writes_hanging (\d)$/m.exec(await (await fetch(metricsUrl)).text())?.[1];

  it('200: a write that waits four seconds for a lock is not treated as hanging, and ends when the lock is free', async () => {
    await place('locked');
    await admin.query(`BEGIN; SELECT FROM restaurant_order WHERE external_order_id = 'locked' FOR UPDATE`);
    let isAnswered = false;
    const cancelled = ask('POST', `${ORDERS}locked/cancel/`).finally(() => (isAnswered = true));
    const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '4 s'`;
    await eventually(async () => (await admin.query(waits)).rows.length > 0, 'wait of 4 s', 30_000);
    assert.equal(isAnswered, false);
    await admin.query('COMMIT');
    assert.equal((await cancelled).status, 200);
    assert.deepEqual(lines(), { hang: 0, goOn: 0, other: 0 });
  });

  it('503: if COMMIT hangs, each write gets 503, at most six connections wait, reads succeed, and serve logs the hang once', async () => {
    await place('before');
    await setStandbys('nobody');
    await untilCommitHangs();
    const burst = await Promise.all([
      ask('POST', `${ORDERS}before/cancel/`),
      ...Array.from({ length: 40 }, (_, index) => place(`in-doubt-${index}`)),
    ]);
    for (const { status, headers: answered, body } of burst) {
      assert.equal(status, 503);
      assert.match(answered.get('retry-after') ?? '', /^[1-9]$/);
      assert.deepEqual(Object.keys(body), ['message', 'request_id']);
    }
    const waiting = (await admin.query(WAITING)).rows[0].count;
    assert.ok(waiting > 0 && waiting <= 6, `${waiting} sessions wait`);
    for (let count = 0; count < 20; count += 1) {
      assert.equal((await place('in-doubt-0')).status, 503);
    }
    assert.equal((await admin.query(WAITING)).rows[0].count, waiting, 'no further write was sent');
    assert.equal((await ask('GET', `${ORDERS}before/`)).status, 200);
    assert.equal((await ask('GET', '/v1/third-party/menu/')).status, 200);
    await untilReady(serving); // Readiness does not depend on the writes, because other processes could not complete them either.
    assert.equal(await gauge(), '1');
    // The metrics lack the queue if the database takes more than 2 s to count it.
    const isQueueCounted = async () => /^webhook_queue_depth \d+$/m.test(await (await fetch(metricsUrl)).text());
    await eventually(isQueueCounted, 'depth of the queue in the metrics');
    assert.deepEqual(lines(), { hang: 1, goOn: 0, other: 0 });
  });

  it('200 or 201: when COMMIT no longer hangs, serve logs once that writes continue, and an order that is sent again is not stored twice', async () => {
    await setStandbys('');
    await eventually(() => lines().goOn === 1, 'line', 30_000);
    assert.equal(await gauge(), '0');
    const stored = async () => (await admin.query(`SELECT external_order_id FROM restaurant_order`)).rows.length;
    const count = await stored();
    const again = await Promise.all(Array.from({ length: 40 }, (_, index) => place(`in-doubt-${index}`)));
    const placed = again.filter(({ status }) => status === 201).length;
    const found = again.filter(({ status }) => status === 200).length;
    assert.deepEqual([placed + found, await stored()], [40, count + placed]);
    assert.ok(found > 0, 'the orders whose COMMIT hung were stored');
    assert.ok([200, 409].includes((await ask('POST', `${ORDERS}before/cancel/`)).status));
    assert.deepEqual(lines(), { hang: 1, goOn: 1, other: 0 });
  });
});
