import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/webhooks.ts';
import { withPooler } from '../lib/postgres-url.ts';
import { type Listener, listenTo, notify } from './notifications.ts';

const CHANNEL = 'tests';

describe('Listener', () => {
  let database: TestDatabase;
  let heard: string[];
  const listeners: Listener[] = [];

  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());
  beforeEach(() => {
    heard = [];
  });
  afterEach(() => Promise.all(listeners.splice(0).map((listener) => listener.close())));

  function listen(url = database.url): void {
    listeners.push(listenTo({ url, channel: CHANNEL, onNotification: (payload) => heard.push(payload) }));
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

  it('if `close` of a listener is called, the listener closes its database connection', async () => {
    listen();
    await eventually(() => heard.length === 1, 'begin of listening');
    assert.equal(await countConnections(), 1);
    await Promise.all(listeners.map((listener) => listener.close()));
    await eventually(async () => (await countConnections()) === 0, 'end of the connection');
  });

  it('behind a connection pooler, a listener opens no connection', async () => {
    listen(withPooler(database.url));
    listen();
    await eventually(() => heard.length === 1, 'begin of listening without a pooler');
    assert.equal(await countConnections(), 1);
  });
});
