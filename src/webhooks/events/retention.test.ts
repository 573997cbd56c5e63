import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startDatabaseProxy } from '#test/support/database-proxy.ts';
import { removeAllEvents } from '#test/support/events.ts';
import { eventOf, insertEvents, readToEnd } from '#test/support/feed.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import type { Database } from '#platform/db/database.ts';
import { firstIdAt, newId } from '#platform/lib/ids.ts';
import { removeOldEvents, type Retention, startRetention } from './retention.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let service: TestService;
let db: Database;
let tenant: TestTenant;
before(async () => {
  service = await startService({ config: { rateLimitPerMinute: 100_000 } });
  ({ db } = service.database);
});
beforeEach(async () => {
  await removeAllEvents(db);
  tenant = await service.tenant();
});
after(() => service.close());

/** Returns a new event id (UUIDv7) that contains the given time in milliseconds of Unix time. */
const idAt = (atMs: number) => firstIdAt(atMs).slice(0, 14) + newId().slice(14);

async function insertOld(count: number, days = 31, of: TestTenant = tenant, changes = {}): Promise<string[]> {
  const atMs = Date.now() - days * DAY_MS;
  const events = Array.from({ length: count }, () => eventOf(of, { id: idAt(atMs), ...changes }));
  return await insertEvents(db, events);
}

async function idsLeft(): Promise<string[]> {
  return (await db.selectFrom('event').select('id').orderBy('id').execute()).map(({ id }) => id);
}

/** Removes the events before the given time. Returns the number of removed events of each batch, without empty batches. */
async function remove(moment: Date): Promise<number[]> {
  const counts: number[] = [];
  for await (const count of removeOldEvents(db, moment)) {
    counts.push(count);
  }
  return counts.filter((count) => count > 0);
}

describe('the removal of old events', () => {
  it('removeOldEvents removes the events before the given time, and keeps the events at exactly this millisecond or later', async () => {
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

  it('removeOldEvents removes old events that are delivered, failed, stopped or without a delivery, and keeps pending events', async () => {
    for (const status of ['delivered', 'failed', 'stopped']) {
      await insertOld(2, 31, tenant, { delivery: { status } });
    }
    await insertOld(2);
    const pending = await insertOld(3, 400, tenant, { delivery: { status: 'pending' } });
    assert.deepEqual(await remove(new Date()), [8]);
    assert.deepEqual(await idsLeft(), pending.toSorted());
    const deliveries = await db.selectFrom('delivery').select('id').orderBy('id').execute();
    assert.deepEqual(
      deliveries.map(({ id }) => id),
      pending.toSorted(),
    );
  });

  it('removeOldEvents removes the old events of two tenants and keeps their newer events', async () => {
    const other = await service.tenant();
    await insertOld(3);
    await insertOld(2, 31, other);
    const [newer] = await insertOld(1, 29);
    const [newerOfOther] = await insertOld(1, 29, other);
    assert.deepEqual(await remove(new Date(Date.now() - 30 * DAY_MS)), [3, 2]);
    assert.deepEqual(await idsLeft(), [newer ?? '', newerOfOther ?? ''].toSorted());
  });

  it('removeOldEvents removes at most 1,000 events in a batch, and keeps 1,200 events with a pending delivery', async () => {
    const pending = await insertOld(1_200, 40, tenant, { delivery: { status: 'pending' } });
    await insertOld(2_345);
    assert.deepEqual(await remove(new Date()), [1_000, 1_000, 345]);
    assert.equal((await idsLeft()).length, pending.length);
  });

  it('two concurrent runs of removeOldEvents remove each old event only once, and skip locked rows without waiting', {
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
    assert.deepEqual(await remove(new Date()), [5], 'the next pass removes the rows that were locked');
  });

  it('after old events were removed, the feed returns the remaining events with unchanged cursors', async () => {
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

describe('the background loop that removes old events', () => {
  const lines: { msg: string; level: number; removed?: number }[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  beforeEach(() => lines.splice(0));

  /** Stops the loop while it waits. Asserts that the stop does not wait as long as the loop would. */
  async function stopSoon(retention: Retention): Promise<void> {
    const isStopped = retention.stop().then(() => true);
    assert.ok(await Promise.race([isStopped, sleep(10_000, false, { ref: false })]), 'the stop did not end the wait');
  }

  it('each pass of the retention loop removes events older than the configured number of days, and logs the number of removed events', async (t) => {
    const retention = startRetention(db, log, 7, { everyMs: 20, restMs: 0 });
    t.after(() => retention.stop());
    const [kept] = await insertOld(1, 6);
    for (const count of [2_500, 3]) {
      await insertOld(count, 8);
      await eventually(async () => (await idsLeft()).length === 1, 'removal of the old events');
    }
    await retention.stop();
    assert.deepEqual(await idsLeft(), [kept]);
    assert.equal(
      lines.reduce((sum, line) => sum + (line.removed ?? 0), 0),
      2_503,
    );
    assert.ok(lines.every((line) => line.msg === 'old events removed' && line.removed));
  });

  it('a stop during the wait of an hour between two batches ends the retention loop within 10 s', async (t) => {
    await insertOld(3_000);
    const retention = startRetention(db, log, 30, { everyMs: HOUR_MS, restMs: HOUR_MS });
    t.after(() => retention.stop());
    await eventually(async () => (await idsLeft()).length < 3_000, 'removal of the first batch');
    await stopSoon(retention);
    assert.equal((await idsLeft()).length, 2_000);
    assert.deepEqual(
      lines.map((line) => line.removed),
      [1_000],
    );
  });

  it('the retention loop logs a warning while the database cannot be reached, and removes old events afterwards', async (t) => {
    const proxy = await startDatabaseProxy(service.database.url, 2);
    t.after(() => proxy.close());
    await proxy.refuse();
    const retention = startRetention(proxy.db, log, 30, { everyMs: 50, restMs: 0 });
    t.after(() => retention.stop());
    await eventually(() => lines.some((line) => line.level === 40), 'a warning in the log');
    await insertOld(5);
    await proxy.restore();
    await eventually(async () => (await idsLeft()).length === 0, 'removal of all old events');
    await retention.stop();
    await sleep(100);
    assert.equal(lines.at(-1)?.removed, 5);
  });
});
