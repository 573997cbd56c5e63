import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { makeChannel, sendReservation, type TestChannel } from '#test/support/channel.ts';
import {
  cleanUp,
  clusterDirOf,
  newCertificateFile,
  newDataDir,
  newFolder,
  type Serving,
  startCommand,
  startProgram,
  startServing,
  succeed,
} from '#test/support/command.ts';
import type { Tx } from '#platform/db/database.ts';
import { createTestDatabase, rowsOf, type TestDatabase } from '#test/support/database.ts';
import { EVENTS, readToEnd } from '#test/support/feed.ts';
import { book, dayAhead, openHotel, reservationPath, stay, type TestHotel } from '#test/support/hotel.ts';
import { insertOrders } from '#test/support/orders.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { orderPath } from '#test/support/restaurant.ts';
import { call, envOf, startService, type TestService } from '#test/support/service.ts';
import { OWNER_PASSWORD } from '#test/support/tenants.ts';
import { causeEvent, eventually, isSignedWith, moveOrder, placeOrder, register } from '#test/support/webhooks.ts';
import { noCopies } from '#test/support/test-cluster.ts';

const CLIENTS = 4;
/** Number of orders that each client places before the backup begins. */
const ORDERS_BEFORE = 10;
/**
 * Number of orders in the backup for the tests that kill a restore. With so many orders, a restore takes so long that the test can kill it
 * before its end.
 */
const MANY_ORDERS = 20_000;

/** Data and credentials of a tenant. After a restore, they must work in the same way as before the backup. */
interface House {
  hotel: TestHotel;
  channel: TestChannel;
  webhookSecret: string;
  /** Cursor of the end of the feed, read before the backup. */
  cursor: string;
}

let service: TestService;
let receiver: Receiver;
let trust: Record<string, string>;
let house: House;
let folder: string;
/** File with the passphrase, without a newline at its end. */
let passphraseFile: string;
const databases: TestDatabase[] = [];

before(async () => {
  const { certificate, path } = await newCertificateFile();
  receiver = await startReceiver({ certificate });
  trust = { NODE_EXTRA_CA_CERTS: path, WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true', LOG_LEVEL: 'warn' };
  service = await startService({ config: { rateLimitPerMinute: 1_000_000 } });
  house = await openHouse(service);
  folder = await newFolder();
  passphraseFile = join(folder, 'passphrase');
  await writeFile(passphraseFile, 'a long passphrase');
});
after(async () => {
  await cleanUp();
  await service.close();
  await receiver.close();
  for (const database of databases) {
    await database.drop();
  }
});

async function openHouse(at: TestService): Promise<House> {
  const hotel = await openHotel(at);
  const channel = await makeChannel(at, hotel);
  const webhookSecret = await register(at, hotel.partner, receiver.url);
  await causeEvent(at, hotel);
  const { next: cursor } = await readToEnd(at, hotel.partner);
  return { hotel, channel, webhookSecret, cursor };
}

async function newDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  databases.push(database);
  return database;
}

const remoteOf = (serving: Serving): TestService => ({
  ...service,
  call: (...request) => call(serving.url, ...request),
});

interface Written {
  orders: string[];
  stays: string[];
}

/**
 * Places orders and books stays until `isOver` returns true, with several clients at the same time. The lists in `written` get the external
 * ids of the orders and stays that the service has accepted.
 */
async function writeUntil(isOver: () => boolean, written: Written): Promise<void> {
  const write = async (client: number) => {
    for (let round = 0; !isOver(); round += 1) {
      const { orderId, externalId } = await placeOrder(service, house.hotel.partner);
      written.orders.push(externalId);
      await moveOrder(service, house.hotel, orderId, 'confirmed');
      const checkIn = 30 + round * 2;
      const json = stay(house.hotel, { check_in: dayAhead(checkIn), check_out: dayAhead(checkIn + 2) });
      const answer = await book(service, house.hotel, json);
      assert.ok([201, 409].includes(answer.status), `client ${client}: ${answer.text}`);
      if (answer.status === 201) {
        written.stays.push(json.external_reservation_id);
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => write(client)));
}

async function statusesOf(at: TestService, paths: string[]): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (const path of paths) {
    statuses.add((await at.call('GET', path, { headers: house.hotel.partner })).status);
  }
  return statuses;
}

describe('backup and restore', { skip: noCopies }, () => {
  it('a backup made under load restores all orders and reservations accepted before the backup began, and all credentials and secrets work', async () => {
    const earlier: Written = { orders: [], stays: [] };
    const file = join(folder, 'under-load.backup');
    let isOver = false;
    const load = writeUntil(() => isOver, earlier);
    await eventually(() => earlier.orders.length >= CLIENTS * ORDERS_BEFORE, 'load', 60_000);
    const acknowledged: Written = { orders: [...earlier.orders], stays: [...earlier.stays] };
    const { stdout } = await succeed(['backup', file, '--passphrase-file', passphraseFile], { env: envOf(service) });
    isOver = true;
    await load;
    assert.match(
      stdout,
      / is complete \(rows: \d+, size: \d+ KiB\)\. It contains the master key, encrypted with the passphrase\./,
    );
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const late = await placeOrder(service, house.hotel.partner);

    await writeFile(join(folder, 'with-newline'), `${await readFile(passphraseFile, 'utf8')}\n`);
    const env = { ...trust, DATA_DIR: await newDataDir() };
    const restored = await succeed(['restore', file, '--passphrase-file', join(folder, 'with-newline')], { env });
    assert.match(restored.stdout, /All credentials, webhook secrets and users work as before\./);
    const { stdout: nights } = await succeed(['nights', 'verify'], { env });
    assert.match(nights, /: \d+ nights checked, 0 with a wrong counter\n$/);

    const serving = await startServing([], { env });
    const remote = remoteOf(serving);
    await assertHouse(remote);
    assert.deepEqual(
      await statusesOf(
        remote,
        acknowledged.orders.map((id) => orderPath(id)),
      ),
      new Set([200]),
    );
    assert.deepEqual(
      await statusesOf(
        remote,
        acknowledged.stays.map((id) => reservationPath(id)),
      ),
      new Set([200]),
    );
    assert.deepEqual(await statusesOf(remote, [orderPath(late.externalId)]), new Set([404]));
    serving.kill('SIGTERM');
    assert.equal((await serving.ended).code, 0);

    await assertMovesToServer(env);
  });

  /**
   * Asserts that sign-in, tokens, API key, webhook secret and channel secret work, and that a cursor from before the restore is refused.
   */
  async function assertHouse(remote: TestService): Promise<void> {
    const { hotel, channel, webhookSecret, cursor } = house;
    const signIn = { email: hotel.document.users?.[0]?.email, password: OWNER_PASSWORD };
    assert.equal((await remote.call('POST', '/v1/auth/token/', { json: signIn })).status, 200);
    assert.equal((await remote.call('GET', '/v1/staff/orders/', { headers: hotel.staff })).status, 200);
    const { guest, external_reservation_id, ...dates } = stay(hotel, { check_in: dayAhead(3), check_out: dayAhead(4) });
    const sold = {
      ...dates,
      external_id: external_reservation_id,
      status: 'confirmed',
      guest: { full_name: guest.name },
    };
    assert.equal((await sendReservation(remote, channel, sold)).status, 201);
    const seen = receiver.requests.length;
    const { orderId } = await causeEvent(remote, hotel);
    const request = await eventually(
      () => receiver.requests.slice(seen).find(({ rawBody }) => rawBody.includes(orderId)),
      'event of the restored service',
    );
    assert.ok(isSignedWith(webhookSecret, request), 'the webhook secret is the one of before');

    const old = await remote.call('GET', `${EVENTS}?after=${cursor}`, { headers: hotel.partner });
    assert.equal(old.status, 400);
    assert.match(old.text, /before the data of the service was restored from a backup\. Leave out `after`/);
    assert.ok((await readToEnd(remote, hotel.partner)).all.some(({ data }) => data['order_id'] === orderId));
  }

  /**
   * Backs up the embedded database of `env` with its master key. Restores the backup into two databases of a server, one with the same
   * master key and one with a new master key. Asserts that both get the same rows, and that the service works with the new master key.
   */
  async function assertMovesToServer(env: Record<string, string>): Promise<void> {
    const file = join(folder, 'embedded.backup');
    await succeed(['backup', file, '--passphrase-file', passphraseFile], { env });
    const exact = await newDatabase();
    const other = await newDatabase();
    const key = await readFile(join(env['DATA_DIR'] ?? '', 'master-key'), 'utf8');
    const newKey = randomBytes(32).toString('base64');
    await succeed(['restore', file], { env: { DATABASE_URL: exact.url, MASTER_KEY: key.trim() } });
    const rewrapping = { env: { ...trust, DATABASE_URL: other.url, MASTER_KEY: newKey } };
    const { stdout } = await succeed(['restore', file, '--passphrase-file', passphraseFile, '--json'], rewrapping);
    const { rows, master_key } = JSON.parse(stdout);
    assert.equal(master_key, 'opens');
    const changed = ['feed_era', 'service_key'];
    const tables = Object.keys(rows).filter((table) => !changed.includes(table));
    assert.ok(tables.includes('restaurant_order') && tables.includes('reservation') && tables.includes('night'));
    assert.deepEqual(await rowsOf(exact, tables), await rowsOf(other, tables));
    assert.deepEqual(
      Object.fromEntries(tables.map((table) => [table, rows[table]])),
      Object.fromEntries(Object.entries(await rowsOf(other, tables)).map(([table, all]) => [table, all.length])),
    );
    const serving = await startServing([], rewrapping);
    house.cursor = (await readToEnd({ ...service, database: exact }, house.hotel.partner)).next;
    await assertHouse(remoteOf(serving));
    serving.kill('SIGTERM');
    await serving.ended;
  }

  it('a backup that SIGTERM interrupts leaves no file', async () => {
    const file = join(await newFolder(), 'interrupted.backup');
    await service.database.db.transaction().execute(async (tx) => {
      await lockWithoutTimeLimit(tx, 'ACCESS EXCLUSIVE');
      const command = startCommand(['backup', file], { env: envOf(service) });
      await waitForLock(service.database);
      command.kill('SIGTERM');
      const { code, stdout } = await command.ended;
      assert.deepEqual([code, stdout], [143, '']);
    });
    assert.deepEqual(await readdir(join(file, '..')), []);
  });
});

/**
 * Locks the table of orders until the transaction ends. By default, PostgreSQL would end the transaction if it sends no statement for 15 s.
 * On a busy machine, the command that the test starts may need longer until it waits for the lock.
 */
async function lockWithoutTimeLimit(tx: Tx, mode: 'SHARE' | 'ACCESS EXCLUSIVE'): Promise<void> {
  await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(tx);
  await sql`LOCK TABLE restaurant_order IN ${sql.raw(mode)} MODE`.execute(tx);
}

async function waitForLock({ db }: TestDatabase): Promise<void> {
  const isWaiting = async () => {
    const { rows } = await sql`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db);
    return rows.length > 0;
  };
  await eventually(isWaiting, 'connection that waits for a lock', 60_000);
}

describe('a restore that is killed', { skip: noCopies }, () => {
  let file: string;
  let large: TestService;
  before(async () => {
    large = await startService();
    await insertOrders(large, await openHotel(large), MANY_ORDERS);
    file = join(folder, 'large.backup');
    await succeed(['backup', file, '--passphrase-file', passphraseFile], { env: envOf(large) });
  });
  after(() => large.close());

  it('after SIGKILL of a restore, the database of DATABASE_URL has no row, and the same command then restores all rows', async () => {
    const target = await newDatabase();
    const options = { env: { ...envOf(large), DATABASE_URL: target.url } };
    await target.db.transaction().execute(async (tx) => {
      // The restore cannot insert orders while the test holds this lock. So the test kills the restore before it has loaded all rows.
      await lockWithoutTimeLimit(tx, 'SHARE');
      const command = startProgram(['restore', file], options);
      await waitForLock(target);
      command.kill('SIGKILL');
      await command.ended;
    });
    assert.deepEqual(Object.values(await rowsOf(target, ['tenant', 'service_key', 'restaurant_order'])), [[], [], []]);
    const { stdout } = await succeed(['restore', file], options);
    assert.match(stdout, new RegExp(`, orders: ${MANY_ORDERS},`));
    const [from, to] = [await rowsOf(large.database, ['restaurant_order']), await rowsOf(target, ['restaurant_order'])];
    assert.deepEqual(to, from);
  });

  it('after SIGKILL of a restore, the same command restores all rows into the same DATA_DIR', async () => {
    const dataDir = await newDataDir();
    const args = ['restore', file, '--passphrase-file', passphraseFile];
    const command = startProgram(args, { env: { DATA_DIR: dataDir } });
    const isStarted = async () =>
      (await readdir(await clusterDirOf(dataDir)).catch((): string[] => [])).includes('postmaster.pid');
    await eventually(isStarted, 'start of PostgreSQL', 60_000);
    command.kill('SIGKILL');
    assert.equal((await command.ended).signal, 'SIGKILL');
    const { stdout } = await succeed(args, { env: { DATA_DIR: dataDir } });
    assert.match(stdout, new RegExp(`, orders: ${MANY_ORDERS},`));
    assert.match((await succeed(['tenant', 'list'], { env: { DATA_DIR: dataDir } })).stdout, /Lisbon|house/i);
  });
});
