import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { type DatabaseProxy, startDatabaseProxy } from '#test/support/database-proxy.ts';
import { runningMsOf } from '#test/support/running-time.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { withRetries } from '../db/failures.ts';
import { UnavailableError } from '../errors.ts';

/** A proxy between the service and the database accepts every connection, but drops all data, as a firewall may do. */
describe('a database that does not respond', { concurrency: true, timeout: 60_000 }, () => {
  let service: TestService;
  let tenant: TestTenant;
  let proxy: DatabaseProxy;
  let node: TestService;
  before(async () => {
    service = await startService();
    tenant = await service.tenant();
    proxy = await startDatabaseProxy(service.database.url, 5);
    node = await startService({ beside: { ...service, database: { ...service.database, db: proxy.db } } });
    // Opens some of the 5 connections of the pool before the database stops responding. So the test covers connections that are already
    // open, and connections that must be opened.
    await Promise.all([sql`SELECT pg_sleep(0.1)`.execute(proxy.db), sql`SELECT pg_sleep(0.1)`.execute(proxy.db)]);
    proxy.swallow();
  });
  after(async () => {
    await proxy.restore();
    const answer = await node.call('GET', '/v1/third-party/orders/', { headers: tenant.partner });
    assert.equal(answer.status, 200, 'the service responds again when the database is back');
    await node.close();
    await proxy.close();
    await service.close();
  });

  it('503: while the database is silent, 8 calls on a pool of 5 connections all get a response within 23 s', async () => {
    // A call waits at most 10 s for a place to look up its credential, and then at most 12 s for the database.
    const calls = Array.from({ length: 8 }, () =>
      runningMsOf(async () => {
        const answer = await node.call('GET', '/v1/third-party/orders/', { headers: tenant.partner });
        assert.equal(answer.status, 503, answer.text);
        assert.ok(answer.headers.has('retry-after'));
        assert.deepEqual(Object.keys(answer.body), ['message', 'request_id']);
      }),
    );
    for (const durationMs of await Promise.all(calls)) {
      assert.ok(durationMs < 23_000, `${durationMs} ms`);
    }
  });

  it('while the database does not respond, a query that is retried automatically fails within 15 s in total', async () => {
    const fresh = await startDatabaseProxy(service.database.url, 1);
    fresh.swallow();
    const work = () =>
      assert.rejects(
        withRetries(() => sql`SELECT 1`.execute(fresh.db)),
        UnavailableError,
      );
    try {
      const durationMs = await runningMsOf(work);
      assert.ok(durationMs < 15_000, `${durationMs} ms`);
    } finally {
      await fresh.close();
    }
  });

  it('200, 404, 405: while the database is silent, requests that do not need it get their responses; 503: /readyz says so', async () => {
    assert.equal((await node.call('GET', '/livez')).status, 200);
    assert.equal((await node.call('GET', '/nope')).status, 404);
    assert.equal((await node.call('DELETE', '/v1/third-party/orders/')).status, 405);
    assert.equal((await node.call('GET', '/readyz')).status, 503);
  });
});
