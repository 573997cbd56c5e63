import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startDatabaseProxy } from '#test/support/database-proxy.ts';
import { eventOf, insertEvents, readToEnd } from '#test/support/feed.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import type { Database } from '#platform/db/database.ts';
import { firstIdAt, newId } from '#platform/lib/ids.ts';
import { removeOldEvents, startRetention } from './retention.ts';

const DAY_MS = 86_400_000;

let service: TestService;
let db: Database;
let tenant: TestTenant;
before(async () => {
  service = await startService({ config: { rateLimitPerMinute: 100_000 } });
  ({ db } = service.database);
});
beforeEach(async () => {
  await db.deleteFrom('event').execute();
  tenant = await service.tenant();
});
after(() => service.close());

/** An id that was made then. */
const idAt = (atMs: number) => firstIdAt(atMs).slice(0, 14) + newId().slice(14);

/** Writes events of so many days ago. */
async function insertOld(count: number, days = 31, of: TestTenant = tenant, changes = {}): Promise<string[]> {
  const atMs = Date.now() - days * DAY_MS;
  const events = Array.from({ length: count }, () => eventOf(of, { id: idAt(atMs), ...changes }));
  return await insertEvents(db, events);
}

async function idsLeft(): Promise<string[]> {
  return (await db.selectFrom('event').select('id').orderBy('id').execute()).map(({ id }) => id);
}

/** @returns the rows of each batch */
async function remove(moment: Date): Promise<number[]> {
  const counts: number[] = [];
  for await (const count of removeOldEvents(db, moment)) {
    counts.push(count);
  }
  return counts.filter((count) => count > 0);
}

describe('the removal of old events', () => {
  it('takes what happened before the moment, to the millisecond, and nothing of the moment itself', async () => {
    const moment = new Date('2026-05-06T07:08:09.123Z');
    const atMs = moment.getTime();
    const last = `${firstIdAt(atMs - 1).slice(0, 14)}7fff-bfff-ffffffffffff`;
    const kept = [firstIdAt(atMs), idAt(atMs + 1), idAt(Date.now())];
    const removed = [firstIdAt(1), idAt(atMs - DAY_MS), firstIdAt(atMs - 1), last];
    await insertEvents(
      db,
      [...removed, ...kept].map((id) => eventOf(tenant, { id })),
    );
    assert.deepEqual(await remove(moment), [4]);
    assert.deepEqual(await idsLeft(), kept);
  });

  it('takes ended deliveries of every kind and events without one, and never one that is pending', async () => {
    for (const status of ['delivered', 'failed', 'stopped', null]) {
      await insertOld(2, 31, tenant, { delivery_status: status });
    }
    const pending = await insertOld(3, 400, tenant, { delivery_status: 'pending' });
    assert.deepEqual(await remove(new Date()), [8]);
    assert.deepEqual(await idsLeft(), pending.toSorted());
  });

  it('goes through every tenant, and removes by the age of the event alone', async () => {
    const other = await service.tenant();
    await insertOld(3);
    await insertOld(2, 31, other);
    const [mine] = await insertOld(1, 29);
    const [theirs] = await insertOld(1, 29, other);
    assert.deepEqual(await remove(new Date(Date.now() - 30 * DAY_MS)), [3, 2]);
    assert.deepEqual(await idsLeft(), [mine ?? '', theirs ?? ''].toSorted());
  });

  it('takes at most 1,000 at a time, past any number that are pending', async () => {
    const pending = await insertOld(1_200, 40, tenant, { delivery_status: 'pending' });
    await insertOld(2_345);
    assert.deepEqual(await remove(new Date()), [1_000, 1_000, 345]);
    assert.equal((await idsLeft()).length, pending.length);
  });

  it('by two at once removes each event once, and neither waits for a row that is held', {
    timeout: 30_000,
  }, async (t) => {
    const ids = await insertOld(4_000);
    const tx = await db.startTransaction().execute();
    t.after(() =>
      tx
        .rollback()
        .execute()
        .catch(() => {}),
    );
    const held = ids.slice(0, 5);
    await tx
      .selectFrom('event')
      .select('id')
      .where('tenant_id', '=', tenant.tenantId)
      .where('id', 'in', held)
      .forUpdate()
      .execute();
    const counts = (await Promise.all([remove(new Date()), remove(new Date())])).flat();
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      3_995,
    );
    assert.deepEqual(await idsLeft(), held.toSorted());
    await tx.rollback().execute();
    assert.deepEqual(await remove(new Date()), [5], 'the next pass takes what was held');
  });

  it('leaves a feed that shows what is left, under the cursors it had', async () => {
    await insertOld(3);
    const kept = await insertOld(2, 1);
    const { all, next } = await readToEnd(service, tenant.partner);
    await remove(new Date(Date.now() - 30 * DAY_MS));
    const left = await readToEnd(service, tenant.partner);
    assert.deepEqual(left.all, all.slice(3));
    const [late] = await insertOld(1, 1);
    assert.deepEqual((await readToEnd(service, tenant.partner, next)).ids, [late]);
    assert.equal(left.ids.length, kept.length);
  });
});

describe('the loop that removes', () => {
  const lines: { msg: string; level: number; removed?: number }[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  beforeEach(() => lines.splice(0));

  it('goes by the days that are set, again and again, and says what it removed', async (t) => {
    const retention = startRetention({ db, log, retentionDays: 7, pace: { firstAfterMs: 0, everyMs: 20, restMs: 0 } });
    t.after(() => retention.stop());
    const [kept] = await insertOld(1, 6);
    for (const count of [2_500, 3]) {
      await insertOld(count, 8);
      await eventually(async () => (await idsLeft()).length === 1, 'old events removed');
    }
    await retention.stop();
    assert.deepEqual(await idsLeft(), [kept]);
    assert.equal(
      lines.reduce((sum, line) => sum + (line.removed ?? 0), 0),
      2_503,
    );
    assert.ok(lines.every((line) => line.msg === 'old events removed' && line.removed));
  });

  it('stops between two batches, at once', { timeout: 30_000 }, async (t) => {
    await insertOld(3_000);
    const retention = startRetention({ db, log, retentionDays: 30, pace: { firstAfterMs: 0, restMs: 60_000 } });
    t.after(() => retention.stop());
    await eventually(async () => (await idsLeft()).length < 3_000, 'batch removed');
    const begin = performance.now();
    await retention.stop();
    assert.ok(performance.now() - begin < 1_000);
    assert.equal((await idsLeft()).length, 2_000);
    assert.deepEqual(
      lines.map((line) => line.removed),
      [1_000],
    );
  });

  it('stops before its first pass, at once', async () => {
    const retention = startRetention({ db, log, retentionDays: 30 });
    const begin = performance.now();
    await retention.stop();
    assert.ok(performance.now() - begin < 1_000);
  });

  it('warns where the database is lost, and goes on when it is back', async (t) => {
    const proxy = await startDatabaseProxy(service.database.url, 2);
    t.after(() => proxy.close());
    await proxy.refuse();
    const pace = { firstAfterMs: 0, everyMs: 50, restMs: 0 };
    const retention = startRetention({ db: proxy.db, log, retentionDays: 30, pace });
    t.after(() => retention.stop());
    await eventually(() => lines.some((line) => line.level === 40), 'warning');
    await insertOld(5);
    await proxy.restore();
    await eventually(async () => (await idsLeft()).length === 0, 'removal');
    await retention.stop();
    await sleep(100);
    assert.equal(lines.at(-1)?.removed, 5);
  });
});
