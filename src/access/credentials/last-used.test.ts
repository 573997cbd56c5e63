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
/** Number of UPDATE statements on the table `credential` in the current test. */
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

/** Returns `last_used_at` of a credential, as the owner's list of credentials shows it. */
async function lastUsedAt(id: string): Promise<string | null> {
  const { body } = await service.call('GET', '/v1/third-party/credentials/', { headers: tenant.owner });
  return body.find((credential: { id: string }) => credential.id === id).last_used_at;
}

async function waitUntil(condition: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, 'the condition was not met within 10 s');
    await sleep(10);
  }
}

describe('last_used_at', () => {
  it('last_used_at is null until the first accepted call sets it, and a refused call does not set it', async () => {
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

  it('after 200 calls with five credentials, one UPDATE statement writes last_used_at of all five credentials', async () => {
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
    assert.equal(writes, 0, 'the calls themselves do not write last_used_at');
    await authentication.close();
    assert.equal(writes, 1);
    for (const { id } of made) {
      assert.notEqual(await lastUsedAt(id), null);
    }
  });

  it('last_used_at keeps its time if an earlier time is written', async () => {
    const { credential } = await service.credential(tenant.tenantId);
    const [early, late] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-01T00:00:30Z')];
    for (const at of [late, early]) {
      await updateLastUsed(db, [{ tenantId: tenant.tenantId, credentialId: credential.id, at }]);
    }
    assert.equal(await lastUsedAt(credential.id), late.toISOString());
  });

  it('last_used_at of a credential does not change if the update names the id of another tenant', async () => {
    const { credential } = await service.credential(tenant.tenantId);
    const other = await service.tenant();
    await updateLastUsed(db, [{ tenantId: other.tenantId, credentialId: credential.id, at: new Date() }]);
    assert.equal(await lastUsedAt(credential.id), null);
  });
});

describe('the background write of last_used_at', () => {
  /** Runs `work` with a mocked timer, so that a background write starts only when the test advances the timer. */
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

  it('last_used_at is written within a minute after a call, and is not written again without another call', async () => {
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

  it('if a write of last_used_at fails, the failure is reported, and a retry succeeds within a minute after the call', async () => {
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
