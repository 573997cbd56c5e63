import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { openRecorded, type RecordedDatabase } from '#test/support/statements.ts';
import { ownerOf } from '#test/support/streams.ts';
import { eventually } from '#test/support/webhooks.ts';
import { LiveChanges } from './live-changes.ts';
import { registerLiveMetrics } from './metrics.ts';

/** Time in milliseconds in which at least two looks run. A look reads the newest rows of a tenant. */
const TWO_LOOKS_MS = 1_300;

describe('LiveChanges (reads of the newest rows of tenants)', () => {
  let database: TestDatabase;
  let recorded: RecordedDatabase;
  let live: LiveChanges;
  before(async () => {
    database = await createTestDatabase();
    recorded = openRecorded(database.url, 2);
    const log = pino({ level: 'silent' });
    live = new LiveChanges({ db: recorded.db, changes: { onChanges() {} }, noteUse() {}, log });
  });
  after(async () => {
    await live.close();
    await recorded.db.destroy();
    await database.drop();
  });

  it('while no stream of live changes is open, no statement is sent, even after a write', async () => {
    assert.deepEqual(await recorded.statementsOf(() => sleep(TWO_LOOKS_MS)), []);
    live.unsubscribe(await live.subscribe(ownerOf(1), undefined));
    await sleep(TWO_LOOKS_MS);
    const statements = await recorded.statementsOf(async () => {
      live.wake(1);
      await sleep(TWO_LOOKS_MS);
    });
    assert.deepEqual(statements, []);
  });

  it('if the streams of live changes of 50 tenants open together, the first and each later read of recent changes is one statement for all tenants', async () => {
    const tenants = Array.from({ length: 50 }, (_, index) => index + 1);
    const opened = await recorded.statementsOf(() =>
      Promise.all(tenants.map((tenantId) => live.subscribe(ownerOf(tenantId), undefined))),
    );
    assert.equal(opened.length, 1);
    const looks = (await recorded.statementsOf(() => sleep(TWO_LOOKS_MS))).filter((text) => text.includes('newest'));
    assert.ok(looks.length >= 2 && looks.length <= 3, String(looks.length));
  });

  it('the metrics of live changes show how often recent changes were read, how many messages were sent and how many streams are open', async () => {
    const registry = new Registry();
    registerLiveMetrics(registry, { looks: 7, hints: 5 }, { size: 3 });
    const text = await registry.metrics();
    for (const line of ['live_looks_total 7', 'live_hints_total 5', 'live_streams 3']) {
      assert.ok(text.split('\n').includes(line), text);
    }
    assert.ok(live.counts.looks > 0);
  });

  it('after a write for a tenant with an open stream, LiveChanges reads recent changes within 300 ms, and writes for one second cause at most 14 reads', async () => {
    const subscription = await live.subscribe(ownerOf(1), undefined);
    // Each write must cause a look (a read of the newest rows) within 300 ms. If writes caused no looks, there would be only the regular
    // looks, one every 500 ms. A regular look may come in time for the first write. But the second write comes immediately after this look,
    // so the next regular look comes too late for the second write.
    for (let write = 0; write < 3; write += 1) {
      const looksBefore = live.counts.looks;
      live.wake(1);
      live.wake(99);
      await eventually(() => live.counts.looks > looksBefore, 'look', 300);
    }
    const looks = (
      await recorded.statementsOf(async () => {
        for (const end = performance.now() + 1_000; performance.now() < end; await sleep(1)) {
          live.wake(1);
        }
      })
    ).filter((text) => text.includes('newest'));
    assert.ok(looks.length <= 14, String(looks.length));
    live.unsubscribe(subscription);
  });
});
