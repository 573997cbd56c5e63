import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { NO_CACHES } from '#platform/changes/changes.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import type { LastUsed } from '#platform/db/last-used.ts';
import { Authentication, createLastUsed } from './authentication.ts';
import type { CredentialSecret } from './schema.ts';
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

async function lastUsedAt(id: string): Promise<string | null> {
  const { body } = await service.call('GET', '/v1/third-party/credentials/', { headers: tenant.owner });
  return body.find((credential: { id: string }) => credential.id === id).last_used_at;
}

/**
 * Options of `updateLastUsed` that switch off the minimum time between two writes of a row. `updateLastUsed` skips a row that was last
 * written after the time `writtenBefore`. Here `writtenBefore` equals `now`, the time of the new write. No row was written after `now`, so
 * no row is skipped.
 */
const NO_REST = { now: new Date('2026-01-01T00:01:00Z'), writtenBefore: new Date('2026-01-01T00:01:00Z') };

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
    const made: CredentialSecret[] = [];
    for (let count = 0; count < 5; count += 1) {
      made.push((await service.credential(tenant.tenantId)).credential);
    }
    await withClock(async (authentication, errors) => {
      for (let round = 0; round < 40; round += 1) {
        await Promise.all(made.map((each) => authentication.authenticate(each.api_key, each.api_secret)));
      }
      assert.equal(writes, 0, 'the calls themselves do not write last_used_at');
      await authentication.close();
      assert.deepEqual(errors, []);
    });
    assert.equal(writes, 1);
    for (const { id } of made) {
      assert.notEqual(await lastUsedAt(id), null);
    }
  });

  it('last_used_at keeps its time if an earlier time is written', async () => {
    const { credential } = await service.credential(tenant.tenantId);
    const [early, late] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-01T00:00:30Z')];
    for (const at of [late, early]) {
      const use = { tenantId: tenant.tenantId, id: credential.id, atMs: at.getTime() };
      await updateLastUsed(db, [use], NO_REST);
    }
    assert.equal(await lastUsedAt(credential.id), late.toISOString());
  });

  it('last_used_at of a credential does not change if the update names the id of another tenant', async () => {
    const { credential } = await service.credential(tenant.tenantId);
    const other = await service.tenant();
    await updateLastUsed(db, [{ tenantId: other.tenantId, id: credential.id, atMs: Date.now() }], NO_REST);
    assert.equal(await lastUsedAt(credential.id), null);
  });

  it('if eight nodes try to write last_used_at of one credential at the same time, exactly one of them writes the row', async () => {
    const { credential } = await service.credential(tenant.tenantId);
    const nodes = Array.from({ length: 8 }, () => createDatabase({ url: service.database.url, poolSize: 1 }));
    try {
      for (const minute of [0, 1, 2]) {
        const now = new Date(Date.UTC(2026, 0, 1, 0, minute));
        const written = await Promise.all(
          nodes.map((node, index) => {
            const use = { tenantId: tenant.tenantId, id: credential.id, atMs: now.getTime() - 1_000 + index };
            return updateLastUsed(node, [use], { now, writtenBefore: new Date(now.getTime() - 30_000) });
          }),
        );
        assert.equal(written.filter(({ size }) => size > 0).length, 1);
      }
    } finally {
      await Promise.all(nodes.map((node) => node.destroy()));
    }
  });

  it('on a database cluster, updateLastUsed sends one UPDATE statement for each tenant, with the tenant id as a parameter', async () => {
    const statements: { sql: string; parameters: readonly unknown[] }[] = [];
    const cluster = createDatabase({
      url: service.database.url,
      poolSize: 1,
      layout: 'cluster',
      log: ({ query }) => void statements.push(query),
    });
    try {
      const other = await service.tenant();
      const uses = await Promise.all(
        [tenant.tenantId, other.tenantId, tenant.tenantId].map(async (tenantId) => {
          const { credential } = await service.credential(tenantId);
          return { tenantId, id: credential.id, atMs: Date.now() };
        }),
      );
      const written = await updateLastUsed(cluster, uses, NO_REST);
      assert.deepEqual(written, new Set(uses.map(({ id }) => id)));
      assert.equal(statements.length, 2);
      for (const { sql: text, parameters } of statements) {
        const number = Number(/c\.tenant_id = coalesce\(\$(\d+)::bigint/.exec(text)?.[1]);
        assert.ok([tenant.tenantId, other.tenantId].includes(parameters[number - 1] as number), text);
      }
    } finally {
      await cluster.destroy();
    }
  });
});

describe('last_used_at of one credential that five nodes use, over five minutes of a mocked clock', () => {
  const BEGIN_MS = Date.UTC(2026, 0, 1);

  interface Write {
    second: number;
    /** Value of `last_used_at` that this write stored, in seconds since the start of the simulation. */
    use: number;
  }

  /**
   * Simulates five minutes of five nodes, each with its own database connection. The nodes start at different times, so their background
   * writes come at different seconds.
   * @param usersAt returns the indices (0 to 4) of the nodes that use the credential in a given second
   * @returns the writes of the credential's row. The function notices a write by the changed version (`xmin`) of the row
   */
  async function simulate(usersAt: (second: number) => number[]): Promise<Write[]> {
    const { credential } = await service.credential(tenant.tenantId);
    const databases = [0, 1, 2, 3, 4].map(() => createDatabase({ url: service.database.url, poolSize: 1 }));
    const readRow = async () => {
      const { rows } = await sql<{ version: string; used_at: Date }>`
        SELECT xmin::text AS version, last_used_at AS used_at FROM credential
        WHERE tenant_id = ${tenant.tenantId} AND id = ${credential.id}`.execute(db);
      return rows[0] ?? assert.fail('the credential is missing');
    };
    mock.timers.enable({ apis: ['setInterval', 'Date'], now: BEGIN_MS });
    const nodes: LastUsed[] = [];
    try {
      const stored: Write[] = [];
      let { version } = await readRow();
      for (let second = 0; second < 300; second += 1) {
        const database = second % 3 === 0 ? databases[nodes.length] : undefined;
        if (database !== undefined) {
          nodes.push(createLastUsed(database, (error) => assert.fail(String(error))));
        }
        usersAt(second).forEach((user) => nodes[user]?.touch(tenant.tenantId, credential.id));
        mock.timers.tick(1_000);
        await turn();
        // The UPDATE that a node has just started may not have ended. Each node has only one connection, so an empty statement on this
        // connection waits for the UPDATE.
        await Promise.all(databases.map((each) => sql`SELECT`.execute(each)));
        const row = await readRow();
        if (row.version !== version) {
          stored.push({ second: second + 1, use: (row.used_at.getTime() - BEGIN_MS) / 1_000 });
        }
        ({ version } = row);
      }
      return stored;
    } finally {
      await Promise.all(nodes.map((node) => node.close()));
      mock.timers.reset();
      await Promise.all(databases.map((each) => each.destroy()));
    }
  }

  function assertAtMostTwoEachMinute(stored: Write[]): void {
    for (const { second } of stored) {
      const inMinute = stored.filter((each) => each.second >= second && each.second < second + 60);
      assert.ok(inMinute.length <= 2, `writes at the seconds ${inMinute.map((each) => each.second).join(', ')}`);
    }
  }

  it('if each node uses the credential every second, last_used_at is written at most twice a minute, and is at most 40 s old just before each later write', async () => {
    const stored = await simulate(() => [0, 1, 2, 3, 4]);
    assertAtMostTwoEachMinute(stored);
    assert.ok(stored.length >= 7 && stored.length <= 10, `${stored.length} writes`);
    stored.slice(1).forEach(({ second }, index) => {
      assert.ok(second - (stored[index]?.use ?? 0) <= 40, `second ${second}`);
    });
  });

  it('if nodes take turns with one use every 7 s, last_used_at reaches the time of each use less than 60 s later, with at most two writes a minute', async () => {
    const stored = await simulate((second) => (second % 7 === 0 ? [(second / 7) % 5] : []));
    assertAtMostTwoEachMinute(stored);
    stored.slice(1).forEach(({ second }, index) => {
      // `stored[index]` is the previous write, and `use` is the time of the use that it stored. The previous write did not store the next
      // use, which came 7 s later. So the write at `second` must come less than a minute after this next use.
      assert.ok(second - (stored[index]?.use ?? 0) - 7 < 60, `second ${second}`);
    });
  });

  it('if two nodes use the credential once each, at most 15 s apart, last_used_at has the time of the later use at most 60 s after this use', async () => {
    const uses = [100, 115, 200, 201];
    const stored = await simulate((second) => (uses.includes(second) ? [second % 2] : []));
    for (const use of uses) {
      const { second = Number.POSITIVE_INFINITY } =
        stored.find((write) => write.use >= use && write.use <= use + 15) ?? {};
      assert.ok(second - use <= 60, `the use at second ${use} was stored at second ${second}`);
    }
    assertAtMostTwoEachMinute(stored);
  });
});

describe('the background write of last_used_at', () => {
  it('last_used_at is written within a minute after a call, and is not written again without another call', async () => {
    const { credential } = await service.credential(tenant.tenantId);
    await withClock(async (authentication) => {
      await authentication.authenticate(credential.api_key, credential.api_secret);
      mock.timers.tick(60_000);
      // Another connection may read the new value a little before this process gets the response to the UPDATE and counts the UPDATE.
      await waitUntil(async () => (await lastUsedAt(credential.id)) !== null && writes > 0);
      assert.equal(writes, 1);
      mock.timers.tick(600_000);
      await authentication.close();
      assert.equal(writes, 1);
    });
  });

  it('if a write of last_used_at fails, the failure is reported, and a retry writes last_used_at at most 60 s after the use of the credential', async () => {
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
