import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { NO_CACHES } from '#platform/changes/changes.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { Authentication } from './authentication.ts';
import { updateLastUsed } from './store.ts';

let service: TestService;
let tenant: TestTenant;
let db: Database;
/** Statements that wrote to credentials. */
let writes = 0;
before(async () => {
  service = await startService();
  tenant = await service.tenant();
  db = createDatabase({
    url: service.database.url,
    poolSize: 4,
    log: ({ query }) => {
      writes += /\bupdate\b.*\bcredential\b/is.test(query.sql) ? 1 : 0;
    },
  });
});
after(async () => {
  await db.destroy();
  await service.close();
});
beforeEach(() => {
  writes = 0;
});

/** As the owner sees it. */
async function lastUsedAt(id: string): Promise<string | null> {
  const { body } = await service.call('GET', '/v1/third-party/credentials/', { headers: tenant.owner });
  return body.find((credential: { id: string }) => credential.id === id).last_used_at;
}

async function waitUntil(isSo: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await isSo())) {
    assert.ok(Date.now() < deadline, 'waited for 10 s');
    await sleep(10);
  }
}

describe('last_used_at', () => {
  it('is null until the first use, moves with use, and never with a refused call', async () => {
    const { credential, partner } = await service.credential(tenant.tenantId);
    const node = await startService({ beside: service });
    await node.call('GET', '/v1/third-party/menu/', { headers: { ...partner, 'x-api-secret': 'wrong' } });
    await node.close();
    assert.equal(await lastUsedAt(credential.id), null);

    const begun = Date.now();
    const later = await startService({ beside: service });
    await later.call('GET', '/v1/third-party/menu/', { headers: partner });
    await later.close();
    const at = Date.parse((await lastUsedAt(credential.id)) ?? '');
    assert.ok(at >= begun && at <= Date.now());
  });

  it('costs one write for many requests of many credentials', async () => {
    const authentication = new Authentication({
      audience: 'third_party',
      db,
      keyring: service.keyring,
      caches: NO_CACHES,
      onError: (error) => assert.fail(String(error)),
    });
    const made = [];
    for (let count = 0; count < 5; count += 1) {
      made.push((await service.credential(tenant.tenantId)).credential);
    }
    for (let round = 0; round < 40; round += 1) {
      await Promise.all(made.map((each) => authentication.authenticate(each.api_key, each.api_secret)));
    }
    assert.equal(writes, 0, 'none while requests are answered');
    await authentication.close();
    assert.equal(writes, 1);
    for (const { id } of made) {
      assert.notEqual(await lastUsedAt(id), null);
    }
  });

  it('never goes back, in whatever order processes report', async () => {
    const { credential } = await service.credential(tenant.tenantId);
    const [early, late] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-01T00:00:30Z')];
    for (const at of [late, early]) {
      await updateLastUsed(db, [{ tenantId: tenant.tenantId, credentialId: credential.id, at }]);
    }
    assert.equal(await lastUsedAt(credential.id), late.toISOString());
  });

  it('belongs to the tenant: the same id under another tenant moves nothing', async () => {
    const { credential } = await service.credential(tenant.tenantId);
    const other = await service.tenant();
    await updateLastUsed(db, [{ tenantId: other.tenantId, credentialId: credential.id, at: new Date() }]);
    assert.equal(await lastUsedAt(credential.id), null);
  });
});

describe('within a minute of use', () => {
  /** The background write is set off by the clock alone. */
  async function withClock(work: (authentication: Authentication, errors: unknown[]) => Promise<void>): Promise<void> {
    const errors: unknown[] = [];
    mock.timers.enable({ apis: ['setInterval'] });
    const authentication = new Authentication({
      audience: 'third_party',
      db,
      keyring: service.keyring,
      caches: NO_CACHES,
      onError: (error) => errors.push(error),
    });
    try {
      await work(authentication, errors);
    } finally {
      await authentication.close();
      mock.timers.reset();
    }
  }

  it('it is written, and nothing is while there is no use', async () => {
    const { credential } = await service.credential(tenant.tenantId);
    await withClock(async (authentication) => {
      await authentication.authenticate(credential.api_key, credential.api_secret);
      mock.timers.tick(60_000);
      await waitUntil(async () => (await lastUsedAt(credential.id)) !== null);
      assert.equal(writes, 1);
      mock.timers.tick(600_000);
      await authentication.close();
      assert.equal(writes, 1);
    });
  });

  it('a write that failed is told, and made up for by the next one', async () => {
    const { credential } = await service.credential(tenant.tenantId);
    await withClock(async (authentication, errors) => {
      await authentication.authenticate(credential.api_key, credential.api_secret);
      await sql`ALTER TABLE credential RENAME TO elsewhere`.execute(db);
      try {
        mock.timers.tick(15_000);
        await waitUntil(() => errors.length > 0);
      } finally {
        await sql`ALTER TABLE elsewhere RENAME TO credential`.execute(db);
      }
      assert.equal(await lastUsedAt(credential.id), null);
      mock.timers.tick(45_000);
      await waitUntil(async () => (await lastUsedAt(credential.id)) !== null);
    });
  });
});
