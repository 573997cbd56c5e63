import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { sleepRunning } from '#test/support/running-time.ts';
import { openRecorded, type RecordedDatabase } from '#test/support/statements.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { ownerOf } from '#test/support/streams.ts';
import { eventually } from '#test/support/webhooks.ts';
import { LiveChanges } from './live-changes.ts';
import { registerLiveMetrics } from './metrics.ts';

/** Time in milliseconds in which at least two looks run. A look reads the newest rows of a tenant. */
const TWO_LOOKS_MS = 1_300;

const isCluster = await isTestCluster();

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

  it('if the streams of live changes of 50 tenants open together, the first and each later read of recent changes is one statement for all tenants', {
    skip: isCluster && 'on a cluster, each tenant has a statement of its own',
  }, async () => {
    const tenants = Array.from({ length: 50 }, (_, index) => index + 1);
    const opened = await recorded.statementsOf(() =>
      Promise.all(tenants.map((tenantId) => live.subscribe(ownerOf(tenantId), undefined))),
    );
    assert.equal(opened.length, 1);
    const begunAtMs = performance.now();
    const looksBefore = live.counts.looks;
    const statements = await recorded.statementsOf(() => sleepRunning(TWO_LOOKS_MS));
    const looks = statements.filter((text) => text.includes('newest')).length;
    assert.equal(
      live.counts.looks - looksBefore,
      looks * tenants.length,
      'each statement reads the rows of all tenants',
    );
    // A round of looks begins every 500 ms.
    assert.ok(looks >= 2 && looks <= 1 + (performance.now() - begunAtMs) / 500, String(looks));
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
    const subscriptions = [await live.subscribe(ownerOf(1), undefined), await live.subscribe(ownerOf(2), undefined)];
    // A look is a read of the newest rows of one tenant. A write causes a look for its tenant only, but the regular looks, one every 500 ms,
    // are for all tenants with open streams. So if the number of looks rises by one, the write has caused this look. The machine may delay
    // some of these looks, so the fastest of three looks must come within 300 ms.
    const waitsMs: number[] = [];
    for (let write = 0; waitsMs.length < 3; write += 1) {
      assert.ok(write < 10, `only ${waitsMs.length} of 10 writes caused a look`);
      const [looksBefore, wroteAtMs] = [live.counts.looks, performance.now()];
      live.wake(1);
      live.wake(99);
      await eventually(() => live.counts.looks > looksBefore, 'look');
      if (live.counts.looks === looksBefore + 1) {
        waitsMs.push(performance.now() - wroteAtMs);
      }
    }
    assert.ok(Math.min(...waitsMs) < 300, waitsMs.join());
    const begunAtMs = performance.now();
    const looks = (
      await recorded.statementsOf(async () => {
        while (performance.now() < begunAtMs + 1_000) {
          live.wake(1);
          await sleep(1);
        }
      })
    ).filter((text) => text.includes('newest'));
    const seconds = (performance.now() - begunAtMs) / 1_000;
    assert.ok(looks.length <= Math.floor(14 * seconds), `${looks.length} reads in ${seconds} s`);
    subscriptions.forEach((subscription) => live.unsubscribe(subscription));
  });
});
