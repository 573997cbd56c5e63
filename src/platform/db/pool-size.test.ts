import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { connectToDatabase } from '#test/support/database-socket.ts';
import { announcePoolSize, automaticSize, tellOfPool, warnOfPool } from './pool-size.ts';

describe('the automatic size of a connection pool', () => {
  const server = { max: 103, allowed: 100, processes: 0, ofProcesses: 0, ofOthers: 0 };

  it('if 100 connections of the server are free, the automatic pool size of a process is 20 connections', () => {
    assert.equal(automaticSize(server, 1), 20);
  });

  it('if 40 server connections are free, the automatic pool size is 18 (40 / 2 - 2), and if at most 10 are free, the size is 4', () => {
    assert.deepEqual(
      [60, 80, 90, 100, 150].map((ofProcesses) => automaticSize({ ...server, ofProcesses }, 1)),
      [18, 8, 4, 4, 4],
    );
    assert.equal(automaticSize({ ...server, ofProcesses: 30, ofOthers: 40 }, 1), 13);
  });

  it('if ten processes start at the same time, the server allows the connections of all ten together', () => {
    assert.equal(automaticSize(server, 10), 8);
  });
});

/** Message of PostgreSQL that tells a client that its connection is ready for statements (ReadyForQuery, outside a transaction). */
const READY = Buffer.from('Z\0\0\0\x05I');

/**
 * Starts a proxy to PostgreSQL for exactly `count` connections. The clients learn that their connections are ready only when all of these
 * connections are ready.
 */
async function startGatheringProxy(url: string, count: number): Promise<{ url: string; close: () => void }> {
  const { promise: allReady, resolve: release } = Promise.withResolvers<void>();
  const isReady = new Set<Socket>();
  const server = createServer((client) => {
    const database = connectToDatabase(url);
    let end = Buffer.alloc(0);
    database.on('data', (bytes: Buffer) => {
      end = Buffer.concat([end, bytes]).subarray(-READY.length);
      if (end.equals(READY) && isReady.add(database).size === count) {
        release();
      }
      if (isReady.has(database)) {
        void allReady.then(() => client.write(bytes));
      } else {
        client.write(bytes);
      }
    });
    client.on('data', (bytes) => database.write(bytes));
    client.on('error', () => {}).on('close', () => database.destroy());
    database.on('error', () => {}).on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: proxied.href, close: () => void server.close() };
}

describe('announcePoolSize', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(async () => await database.drop());

  it('if thirty processes start at the same time, each gets an automatic pool size of 4 to 19, and PostgreSQL allows the connections of all thirty together', async () => {
    // The server allows 300 connections. If the 30 processes did not count each other, each would get 20 connections, which is 600
    // together. The proxy makes sure that all processes have connected before the first one counts, even on a busy machine.
    const proxy = await startGatheringProxy(database.url, 30);
    const found = await Promise.all(Array.from({ length: 30 }, () => announcePoolSize(proxy.url, 'auto')));
    try {
      const later = await announcePoolSize(database.url, 10);
      await later.close();
      const { processes, ofProcesses, allowed } = later.server;
      assert.ok(processes >= 30, `${processes} processes`);
      const taken = found.reduce((sum, { size }) => sum + size + 2, 0);
      assert.ok(ofProcesses >= taken && taken <= allowed, `${taken} of ${ofProcesses} and ${allowed}`);
      assert.ok(
        found.every(({ size, server }) => server.processes >= 29 && size >= 4 && size < 20),
        found.map(({ size }) => size).join(),
      );
    } finally {
      await Promise.all(found.map(({ close }) => close()));
      proxy.close();
    }
  });

  it('if another program is connected to PostgreSQL, announcePoolSize returns the connection limits of the server and counts at least one connection of other programs', async () => {
    const other = new pg.Client({ connectionString: database.url, application_name: 'other program' });
    await other.connect();
    const { server, close } = await announcePoolSize(database.url, 10);
    await Promise.all([close(), other.end()]);
    const { rows } = await sql<{ max: number; reserved: number }>`
      SELECT current_setting('max_connections')::int AS max,
             current_setting('superuser_reserved_connections')::int AS reserved`.execute(database.db);
    assert.deepEqual([server.max, server.allowed], [rows[0]?.max, (rows[0]?.max ?? 0) - (rows[0]?.reserved ?? 0)]);
    assert.ok(server.ofOthers >= 1);
  });

  it('tellOfPool says how many processes with this pool size fit on the server, and warnOfPool warns of a pool size that is too large', async () => {
    const fitting = await announcePoolSize(database.url, 10);
    const tooLarge = await announcePoolSize(database.url, 1000);
    await Promise.all([fitting.close(), tooLarge.close()]);
    const { allowed, max } = fitting.server;
    assert.match(
      tellOfPool(fitting, 10),
      new RegExp(
        `^DATABASE_POOL_SIZE is 10: this process takes up to 12 connections\\. PostgreSQL allows ${allowed} \\(max_connections ${max}\\), so ${Math.floor(allowed / 12)} processes of this size fit\\.`,
      ),
    );
    assert.match(
      warnOfPool(tooLarge) ?? '',
      /^PostgreSQL allows \d+ connections, but .* may take 1\d\d\d\. .* Set a smaller DATABASE_POOL_SIZE/,
    );
    assert.equal(warnOfPool({ ...fitting, server: { ...fitting.server, ofProcesses: 0, ofOthers: 0 } }), null);
  });
});
