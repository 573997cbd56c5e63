import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { type DatabaseProxy, startDatabaseProxy } from '#test/support/database-proxy.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { retrying } from '../db/failures.ts';
import { UnavailableError } from '../errors.ts';

/** A packet filter between us and the database: nothing is refused, nothing is answered. */
describe('503: the database is silent', { concurrency: true, timeout: 60_000 }, () => {
  let service: TestService;
  let tenant: TestTenant;
  let proxy: DatabaseProxy;
  let node: TestService;
  before(async () => {
    service = await startService();
    tenant = await service.tenant();
    proxy = await startDatabaseProxy(service.database.url, 5);
    node = await startService({ beside: { ...service, database: { ...service.database, db: proxy.db } } });
    // Some connections are there already, others will have to be made.
    await Promise.all([sql`SELECT pg_sleep(0.1)`.execute(proxy.db), sql`SELECT pg_sleep(0.1)`.execute(proxy.db)]);
    proxy.swallow();
  });
  after(async () => {
    await proxy.restore();
    const answer = await node.call('GET', '/v1/third-party/orders/', { headers: tenant.partner });
    assert.equal(answer.status, 200, 'it goes on when the database is back');
    await node.close();
    await proxy.close();
    await service.close();
  });

  /** @returns the milliseconds that the work took */
  async function timed(work: () => Promise<void>): Promise<number> {
    const begin = performance.now();
    await work();
    return performance.now() - begin;
  }

  it('gives up within 15 s, on connections old and new and for those who wait for one', async () => {
    const calls = Array.from({ length: 8 }, () =>
      timed(async () => {
        const answer = await node.call('GET', '/v1/third-party/orders/', { headers: tenant.partner });
        assert.equal(answer.status, 503, answer.text);
        assert.ok(answer.headers.has('retry-after'));
        assert.deepEqual(Object.keys(answer.body), ['message', 'request_id']);
      }),
    );
    for (const durationMs of await Promise.all(calls)) {
      assert.ok(durationMs < 15_000, `${durationMs} ms`);
    }
  });

  it('does not ask again and again: work that may be retried fails as fast', async () => {
    const fresh = await startDatabaseProxy(service.database.url, 1);
    fresh.swallow();
    const work = () =>
      assert.rejects(
        retrying(() => sql`SELECT 1`.execute(fresh.db)),
        UnavailableError,
      );
    try {
      const durationMs = await timed(work);
      assert.ok(durationMs < 15_000, `${durationMs} ms`);
    } finally {
      await fresh.close();
    }
  });

  it('answers what needs no database', async () => {
    assert.equal((await node.call('GET', '/livez')).status, 200);
    assert.equal((await node.call('GET', '/nope')).status, 404);
    assert.equal((await node.call('DELETE', '/v1/third-party/orders/')).status, 405);
  });

  it('is not ready', async () => {
    assert.equal((await node.call('GET', '/readyz')).status, 503);
  });
});
