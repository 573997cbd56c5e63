import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { startDatabaseProxy } from '#test/support/database-proxy.ts';
import { eventually } from '#test/support/webhooks.ts';
import { Listener, type ListenerOptions, notify } from './notifications.ts';

const CHANNEL = 'tests';

describe('Listener', () => {
  let database: TestDatabase;
  let heard: string[];
  let deafCount: number;
  const listeners: Listener[] = [];

  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());
  beforeEach(() => {
    heard = [];
    deafCount = 0;
  });
  afterEach(() => Promise.all(listeners.splice(0).map((listener) => listener.close())));

  function listen(options: Partial<ListenerOptions> = {}): void {
    const onNotification = (payload: string) => heard.push(payload);
    const onDeaf = () => (deafCount += 1);
    // By default, a listener waits 2 s for its own test notification. A process that stalls for this time would be deaf for ever.
    const testWithinMs = 60_000;
    listeners.push(
      new Listener({ url: database.url, channel: CHANNEL, onNotification, onDeaf, testWithinMs, ...options }),
    );
  }

  async function countConnections(): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'roomservice listener'
    `.execute(database.db);
    return rows[0]?.count ?? 0;
  }

  it('a listener reports its start to onNotification with an empty text, and then reports each notification of its channel', async () => {
    listen();
    await eventually(() => heard.length === 1, 'begin of listening');
    await notify(database.db, 'another', 'of another channel');
    await notify(database.db, CHANNEL, 'first');
    await notify(database.db, CHANNEL, 'second');
    await eventually(() => heard.includes('second'), 'second notification');
    assert.deepEqual(heard, ['', 'first', 'second']);
    assert.equal(deafCount, 0);
  });

  it('listens again on a new connection after its connection was closed', async () => {
    listen();
    await eventually(() => heard.length === 1, 'begin of listening');
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'roomservice listener'
    `.execute(database.db);
    await eventually(() => heard.length === 2, 'begin of listening on a new connection');
    await notify(database.db, CHANNEL, 'after the loss');
    await eventually(() => heard.includes('after the loss'), 'notification after the loss');
    assert.deepEqual(heard, ['', '', 'after the loss']);
  });

  it('if a listener does not receive its own test notification in time, the listener closes its database connection and calls `onDeaf` once', async (t) => {
    const proxy = await startDatabaseProxy(database.url, 1);
    t.after(() => proxy.close());
    proxy.dropNotifications();
    listen({ url: proxy.url, testWithinMs: 200 });
    await eventually(() => deafCount === 1, 'report that the listener is deaf');
    await eventually(async () => (await countConnections()) === 0, 'end of the connection');
    await sleep(1_500);
    assert.deepEqual([deafCount, heard, await countConnections()], [1, [], 0]);
  });

  it('if `close` of a listener is called, the listener closes its database connection', async () => {
    listen();
    await eventually(() => heard.length === 1, 'begin of listening');
    assert.equal(await countConnections(), 1);
    await Promise.all(listeners.map((listener) => listener.close()));
    await eventually(async () => (await countConnections()) === 0, 'end of the connection');
  });
});
