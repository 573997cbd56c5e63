import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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
  refuse,
  runCommand,
  type Serving,
  startCommand,
  startProgram,
  startServing,
  stop,
  succeed,
} from '#test/support/command.ts';
import type { Tx } from '#platform/db/database.ts';
import { createTestDatabase, rowsOf, type TestDatabase } from '#test/support/database.ts';
import { EVENTS, readToEnd } from '#test/support/feed.ts';
import { book, dayAhead, openHotel, reservationPath, stay, type TestHotel } from '#test/support/hotel.ts';
import { signInForToken } from '#test/support/people.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { orderPath } from '#test/support/restaurant.ts';
import { call, envOf, startService, type TestService } from '#test/support/service.ts';
import { countWaiting } from '#test/support/statements.ts';
import { OWNER_PASSWORD } from '#test/support/tenants.ts';
import { noCopies } from '#test/support/test-cluster.ts';
import { causeEvent, eventually, isSignedWith, moveOrder, placeOrder, register } from '#test/support/webhooks.ts';

const CLIENTS = 4;
/** Number of orders that each client places before the backup begins. */
const ORDERS_BEFORE = 10;

let service: TestService;
let hotel: TestHotel;
let channel: TestChannel;
let receiver: Receiver;
let webhookSecret: string;
let trust: Record<string, string>;
let folder: string;
/** Options with the file of the passphrase, which has no newline at its end. */
let passphrase: [string, string];
const databases: TestDatabase[] = [];

before(async () => {
  const { certificate, path } = await newCertificateFile();
  receiver = await startReceiver({ certificate });
  trust = { NODE_EXTRA_CA_CERTS: path, WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true', LOG_LEVEL: 'warn' };
  service = await startService({ config: { rateLimitPerMinute: 1_000_000 } });
  hotel = await openHotel(service);
  channel = await makeChannel(service, hotel);
  webhookSecret = await register(service, hotel.partner, receiver.url);
  await causeEvent(service, hotel);
  folder = await newFolder();
  passphrase = ['--passphrase-file', join(folder, 'passphrase')];
  await writeFile(passphrase[1], 'a long passphrase');
});
after(async () => {
  await cleanUp();
  await service.close();
  await receiver.close();
  for (const database of databases) {
    await database.drop();
  }
});

async function newDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  databases.push(database);
  return database;
}

/** Paths of the orders and stays that the service has accepted. */
type Written = string[];

/** Places orders and books stays until `isOver` returns true, with several clients at the same time. */
async function writeUntil(isOver: () => boolean, written: Written): Promise<void> {
  const write = async () => {
    for (let round = 0; !isOver(); round += 1) {
      const { orderId, externalId } = await placeOrder(service, hotel.partner);
      written.push(orderPath(externalId));
      await moveOrder(service, hotel, orderId, 'confirmed');
      const json = stay(hotel, { check_in: dayAhead(30 + round * 2), check_out: dayAhead(32 + round * 2) });
      const { status, text } = await book(service, hotel, json);
      assert.ok([201, 409].includes(status), text);
      if (status === 201) {
        written.push(reservationPath(json.external_reservation_id));
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, write));
}

/**
 * Asserts that sign-in, tokens, API key, webhook secret and channel secret work, and that a cursor from before the restore is refused.
 * @returns the cursor of the end of the feed
 */
async function assertHouse(serving: Serving, cursor: string): Promise<string> {
  const remote: TestService = { ...service, call: (...request) => call(serving.url, ...request) };
  const { email = '' } = hotel.document.users?.[0] ?? {};
  assert.equal((await signInForToken(remote, email, OWNER_PASSWORD)).status, 200);
  assert.equal((await remote.call('GET', '/v1/staff/orders/', { headers: hotel.staff })).status, 200);
  const { guest, external_reservation_id, ...dates } = stay(hotel, { check_in: dayAhead(3), check_out: dayAhead(4) });
  const ids = { external_id: external_reservation_id, status: 'confirmed', guest: { full_name: guest.name } };
  assert.equal((await sendReservation(remote, channel, { ...dates, ...ids })).status, 201);
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
  const { all, next } = await readToEnd(remote, hotel.partner);
  assert.ok(all.some(({ data }) => data['order_id'] === orderId));
  return next;
}

/**
 * Locks the table of orders until the transaction ends. By default, PostgreSQL would end the transaction if it sends no statement for 15 s.
 * On a busy machine, the command that the test starts may need longer until it waits for the lock.
 */
async function lockWithoutTimeLimit(tx: Tx, mode: 'SHARE' | 'ACCESS EXCLUSIVE'): Promise<void> {
  await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(tx);
  await sql`LOCK TABLE restaurant_order IN ${sql.raw(mode)} MODE`.execute(tx);
}

const whenWaiting = ({ db }: TestDatabase) =>
  eventually(async () => (await countWaiting(db)) > 0, 'connection that waits for a lock', 60_000);

describe('backup and restore', { skip: noCopies }, () => {
  it('a backup made under load restores all orders and reservations accepted before the backup began, and all credentials and secrets work, also with a new master key', async () => {
    const { next: cursor } = await readToEnd(service, hotel.partner);
    const written: Written = [];
    const file = join(folder, 'under-load.backup');
    let isOver = false;
    const load = writeUntil(() => isOver, written);
    await eventually(() => written.length >= CLIENTS * ORDERS_BEFORE, 'load', 60_000);
    const acknowledged = [...written];
    const { stdout } = await succeed(['backup', file, ...passphrase], { env: envOf(service) });
    isOver = true;
    await load;
    assert.match(
      stdout,
      / is complete \(rows: \d+, size: \d+ KiB\)\. It contains the master key, encrypted with the passphrase\./,
    );
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const late = await placeOrder(service, hotel.partner);

    const withNewline = join(folder, 'with-newline');
    await writeFile(withNewline, 'a long passphrase\n');
    const env = { ...trust, DATA_DIR: await newDataDir() };
    const restored = await succeed(['restore', file, '--passphrase-file', withNewline], { env });
    assert.match(restored.stdout, /All credentials, webhook secrets and users work as before\./);
    const { stdout: nights } = await succeed(['nights', 'verify'], { env });
    assert.match(nights, /: \d+ nights checked, 0 with a wrong counter\n$/);
    const serving = await startServing([], { env });
    const nextCursor = await assertHouse(serving, cursor);
    for (const path of acknowledged) {
      assert.equal((await call(serving.url, 'GET', path, { headers: hotel.partner })).status, 200, path);
    }
    const lost = await call(serving.url, 'GET', orderPath(late.externalId), { headers: hotel.partner });
    assert.equal(lost.status, 404);
    await stop(serving);

    const again = join(folder, 'embedded.backup');
    await succeed(['backup', again, ...passphrase], { env });
    const target = await newDatabase();
    const onServer = { ...trust, DATABASE_URL: target.url, MASTER_KEY: randomBytes(32).toString('base64') };
    const made = await succeed(['restore', again, ...passphrase, '--json'], { env: onServer });
    const { rows, master_key } = JSON.parse(made.stdout);
    assert.equal(master_key, 'opens');
    for (const table of ['restaurant_order', 'reservation', 'night']) {
      assert.equal((await rowsOf(target, [table]))[table]?.length, rows[table], table);
    }
    const moved = await startServing([], { env: onServer });
    await assertHouse(moved, nextCursor);
    await stop(moved);
  });

  it('a backup that SIGTERM interrupts leaves no file', async () => {
    const file = join(await newFolder(), 'interrupted.backup');
    await service.database.db.transaction().execute(async (tx) => {
      await lockWithoutTimeLimit(tx, 'ACCESS EXCLUSIVE');
      const command = startCommand(['backup', file], { env: envOf(service) });
      await whenWaiting(service.database);
      command.kill('SIGTERM');
      const { code, stdout } = await command.ended;
      assert.deepEqual([code, stdout], [143, '']);
    });
    assert.deepEqual(await readdir(join(file, '..')), []);
  });

  it('after SIGKILL of a restore, the database of DATABASE_URL has no row, and the same command then restores all rows', async () => {
    const file = join(folder, 'kill-on-server.backup');
    await succeed(['backup', file], { env: envOf(service) });
    const target = await newDatabase();
    const env = { ...envOf(service), DATABASE_URL: target.url };
    await target.db.transaction().execute(async (tx) => {
      // The restore cannot insert orders while the test holds this lock. So the test kills the restore before it has loaded all rows.
      await lockWithoutTimeLimit(tx, 'SHARE');
      const command = startProgram(['restore', file], { env });
      await whenWaiting(target);
      command.kill('SIGKILL');
      await command.ended;
    });
    assert.deepEqual(Object.values(await rowsOf(target, ['tenant', 'service_key', 'restaurant_order'])), [[], [], []]);
    await succeed(['restore', file], { env });
    const orders = ['restaurant_order'];
    assert.deepEqual(await rowsOf(target, orders), await rowsOf(service.database, orders));
  });

  it('after SIGKILL of a restore, the same command restores all rows into the same DATA_DIR', async () => {
    const file = join(folder, 'kill-embedded.backup');
    await succeed(['backup', file, ...passphrase], { env: envOf(service) });
    const env = { DATA_DIR: await newDataDir() };
    const args = ['restore', file, ...passphrase];
    const command = startProgram(args, { env });
    const isStarted = async () =>
      (await readdir(await clusterDirOf(env.DATA_DIR)).catch((): string[] => [])).includes('postmaster.pid');
    await eventually(isStarted, 'start of PostgreSQL', 60_000);
    command.kill('SIGKILL');
    assert.equal((await command.ended).signal, 'SIGKILL');
    const { rows } = JSON.parse((await succeed([...args, '--json'], { env })).stdout);
    assert.equal(
      rows.restaurant_order,
      (await rowsOf(service.database, ['restaurant_order']))['restaurant_order']?.length,
    );
    assert.match((await succeed(['tenant', 'list'], { env })).stdout, /Harbour House/);
  });
});

describe('backup verify', { skip: noCopies }, () => {
  let small: TestService;
  let house: TestHotel;
  before(async () => {
    small = await startService();
    house = await openHotel(small);
    await book(small, house);
    await register(small, house.partner, 'https://partner.example/hook');
    await makeChannel(small, house);
  });
  after(() => small.close());

  it('backup verify exits 0, prints its checks and leaves no file, both with DATABASE_URL and with DATA_DIR', async () => {
    const file = join(folder, 'sound.backup');
    await succeed(['backup', file, ...passphrase], { env: envOf(small) });
    const onServer = await succeed(['backup', 'verify', file], { env: envOf(small) });
    assert.match(
      onServer.stdout,
      / is complete: .* \(tenants: 1, rows: \d+, correct nights: 2\)\. .* every secret \(2\)\.\n$/,
    );

    const env = { DATA_DIR: await newDataDir() };
    const skipped = await succeed(['backup', 'verify', file], { env });
    assert.match(skipped.stdout, /The secrets were not checked, because there is no master key\./);
    await refuse(
      ['backup', 'verify', file],
      { env: { ...env, MASTER_KEY: randomBytes(32).toString('base64') } },
      /The rows of the backup are right\. But the master key is not the one with which the backup/,
    );
    const { stdout } = await succeed(['backup', 'verify', file, ...passphrase, '--json'], { env });
    const { secrets, nights, tenants, faults } = JSON.parse(stdout);
    assert.deepEqual({ secrets, nights, tenants, faults }, { secrets: 2, nights: 2, tenants: 1, faults: [] });
    await assert.rejects(stat(env.DATA_DIR), { code: 'ENOENT' });
    const left = (await readdir(tmpdir())).filter((name) => name.startsWith('roomservice-verify-'));
    assert.deepEqual(left, []);
  });

  it('backup verify exits 1 and names a night with a wrong counter, and a secret that cannot be decrypted', async () => {
    const { db } = small.database;
    await db.updateTable('night').set({ held: 3 }).where('date', '=', dayAhead(31)).execute();
    await db
      .updateTable('credential')
      .set({ webhook_secret: Buffer.alloc(60) })
      .execute();
    const file = join(folder, 'wrong.backup');
    await succeed(['backup', file], { env: envOf(small) });
    const night = `night ${dayAhead(31)} of room type ${house.roomTypes['Double']} has 3 rooms held, but the reservations hold 1`;
    const secret = `the webhook secret of ${house.tenantId} ${house.credential.id} cannot be decrypted`;
    await refuse(
      ['backup', 'verify', file],
      { env: envOf(small) },
      new RegExp(`^roomservice: .* has faults \\(2\\): ${night}; ${secret}\\. Do not rely on this backup\\.\\n$`),
    );
    const asJson = await runCommand(['backup', 'verify', file, '--json'], { env: envOf(small) });
    assert.equal(asJson.code, 1);
    assert.deepEqual(JSON.parse(asJson.stdout).faults, [night, secret]);
  });
});
