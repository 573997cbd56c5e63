import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { sleepRunning } from '#test/support/running-time.ts';
import { openRecorded, type RecordedDatabase } from '#test/support/statements.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { ownerOf } from '#test/support/streams.ts';
import { eventually } from '#test/support/webhooks.ts';
import { LiveChanges } from './live-changes.ts';

/** Time in milliseconds in which at least two looks run. A look reads the newest rows of tenants. */
const TWO_LOOKS_MS = 1_300;

const isCluster = await isTestCluster();

describe('LiveChanges (reads of the newest rows of tenants)', () => {
  let database: TestDatabase;
  let recorded: RecordedDatabase;
  let live: LiveChanges;
  const log = pino({ level: 'silent' });
  before(async () => {
    database = await createTestDatabase();
    recorded = openRecorded(database.url, 2);
    live = new LiveChanges({ db: recorded.db, changes: { catchUp: async () => {} }, noteUse() {}, log });
  });
  after(async () => {
    await live.close();
    await recorded.db.destroy();
    await database.drop();
  });

  /** Watches a tenant with a stream that sends no bytes. Returns the function that ends the stream. */
  function watch(tenantId: number): () => void {
    const response = Object.assign(new EventEmitter(), { write() {} });
    live.open(ownerOf(tenantId), response as never);
    return () => response.emit('close');
  }

  const looksIn = (statements: string[]) => statements.filter((text) => text.includes('restaurant_order')).length;

  it('while no stream of live changes is open, no statement is sent, even after a write', async () => {
    const statements = await recorded.statementsOf(async () => {
      live.wake(1);
      await sleepRunning(TWO_LOOKS_MS);
    });
    assert.deepEqual(statements, []);
  });

  it('the changes of 50 tenants with open streams are read with one statement at a time, and after the end of the streams no statement is sent', {
    skip: isCluster && 'on a cluster, each tenant has a statement of its own',
  }, async () => {
    const begunAtMs = performance.now();
    let ends: (() => void)[] = [];
    const statements = await recorded.statementsOf(async () => {
      ends = Array.from({ length: 50 }, (_, index) => watch(index + 1));
      await sleepRunning(TWO_LOOKS_MS);
    });
    const looks = looksIn(statements);
    assert.ok(looks >= 2 && looks <= 2 + (performance.now() - begunAtMs) / 500, String(looks));
    ends.forEach((end) => end());
    await sleepRunning(TWO_LOOKS_MS); // The statement under way ends.
    assert.deepEqual(await recorded.statementsOf(() => sleepRunning(TWO_LOOKS_MS)), []);
  });

  it('the messages of a look are sent only when the process has invalidated its cached data of all changes before the look', async () => {
    const caughtUp = Promise.withResolvers<void>();
    let isCatchingUp = false;
    const catchUp = async () => {
      isCatchingUp = true;
      await caughtUp.promise;
    };
    const waiting = new LiveChanges({ db: recorded.db, changes: { catchUp }, noteUse() {}, log });
    const texts: string[] = [];
    const response = Object.assign(new EventEmitter(), { write: (text: string) => texts.push(text) });
    waiting.open(ownerOf(1), response as never);
    await eventually(async () => isCatchingUp, 'look');
    assert.equal(texts.length, 1, 'the stream has only its first comment');
    caughtUp.resolve();
    await eventually(async () => texts.some((text) => text.includes('resync')), 'resync');
    response.emit('close');
    await waiting.close();
  });

  it('many writes for a tenant with an open stream cause at most one read of its changes in 100 ms', async () => {
    const end = watch(1);
    const begunAtMs = performance.now();
    let written = 0;
    const statements = await recorded.statementsOf(() =>
      eventually(async () => {
        live.wake(1);
        written += 1;
        return performance.now() > begunAtMs + 1_000;
      }, 'end of the writes'),
    );
    // The first read, one each 100 ms, and one each 500 ms.
    const most = 2 + (performance.now() - begunAtMs) / 100 + (performance.now() - begunAtMs) / 500;
    assert.ok(written > most && looksIn(statements) <= most, `${looksIn(statements)} reads after ${written} writes`);
    end();
  });
});
