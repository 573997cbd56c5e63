import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import { pino } from 'pino';
import { startService } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { createHttpApp } from './app.ts';
import { healthRoutes } from './health.ts';

describe('GET /livez and GET /readyz', () => {
  it('200: without credentials, once the database is reachable and migrated', async () => {
    const service = await startService();
    try {
      for (const path of ['/livez', '/livez/', '/readyz', '/readyz/']) {
        const answer = await service.call('GET', path);
        assert.deepEqual([answer.status, answer.body], [200, { status: 'ok' }], path);
        assert.equal((await service.call('HEAD', path)).status, 200);
        assert.equal((await service.call('POST', path)).headers.get('allow'), 'GET, HEAD');
      }
    } finally {
      await service.close();
    }
  });

  it('503: not ready, yet alive, while a migration is missing', async () => {
    const service = await startService();
    try {
      const { db } = service.database;
      await sql`DELETE FROM kysely_migration WHERE name = (SELECT max(name) FROM kysely_migration)`.execute(db);
      const answer = await service.call('GET', '/readyz');
      assert.deepEqual([answer.status, answer.body], [503, { status: 'unavailable' }]);
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]$/);
      assert.equal((await service.call('GET', '/livez')).status, 200);
    } finally {
      await service.close();
    }
  });

  it('503: not ready where readiness itself fails, with nothing of the reason', async () => {
    const app = createHttpApp({ logger: pino({ level: 'silent' }), trustedProxies: [] });
    healthRoutes(app, { isReady: () => Promise.reject(new Error('a secret of the inside')) });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const answer = await fetch(`${url}/readyz`);
    assert.deepEqual([answer.status, await answer.json()], [503, { status: 'unavailable' }]);
    await app.close();
  });

  it('asks once a second for all who ask together, while the question is under way too', async () => {
    const app = createHttpApp({ logger: pino({ level: 'silent' }), trustedProxies: [] });
    const asked: PromiseWithResolvers<boolean>[] = [];
    let isServing = true;
    healthRoutes(app, {
      isServing: () => isServing,
      isReady: () => {
        const answer = Promise.withResolvers<boolean>();
        asked.push(answer);
        return answer.promise;
      },
    });
    const ask = async () => (await app.inject('/readyz')).statusCode;
    const early = [ask(), ask(), ask()];
    await eventually(() => asked.length > 0, 'question');
    asked[0]?.resolve(true);
    assert.deepEqual(await Promise.all(early), [200, 200, 200]);
    assert.equal(await ask(), 200);
    assert.equal(asked.length, 1);
    isServing = false;
    assert.equal(await ask(), 503, 'a process that stops says so at once');
    isServing = true;
    const late = eventually(async () => (await ask()) === 503, 'later answer');
    await eventually(() => asked.length === 2, 'second question');
    asked[1]?.reject(new Error('gone'));
    await late;
    assert.equal(asked.length, 2);
    await app.close();
  });
});
