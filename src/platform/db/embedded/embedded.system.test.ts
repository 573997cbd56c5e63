import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { isRoot, newDataDir, open, postmasterPid, query, spawnOpened } from '#test/support/embedded-postgres.ts';
import { OperatorError } from '../failures.ts';

test('the first start creates a database with a password, fsync and no TCP port, even if the path of DATA_DIR has special characters', async (t) => {
  const dataDir = await newDataDir(t, `o'dd, "%20 ü`);
  const embedded = await open(dataDir, { settings: {} });
  assert.equal((await stat(dataDir)).mode & 0o777, 0o700);
  assert.equal((await stat(join(dataDir, 'postgres-password'))).mode & 0o777, 0o600);
  const [row] = await query(
    embedded.url,
    `SELECT current_database() AS name, current_user AS role, current_setting('fsync') AS fsync,
       current_setting('server_encoding') AS encoding, current_setting('listen_addresses') AS addresses,
       (SELECT datlocprovider::text || datlocale FROM pg_database WHERE datname = current_database()) AS locale`,
  );
  assert.deepEqual(row, {
    name: 'roomservice',
    role: 'roomservice',
    fsync: 'on',
    encoding: 'UTF8',
    addresses: '',
    locale: 'bC.UTF-8',
  });
  const wrong = embedded.url.replace(/roomservice:[^@]+@/, 'roomservice:wrong@');
  await assert.rejects(query(wrong, 'SELECT 1'), { code: '28P01' });
  await embedded.close();
});

test('processes share one PostgreSQL, which stops when the last of them closes the database; the next start finds the data', async (t) => {
  const dataDir = await newDataDir(t);
  const first = await open(dataDir);
  const pid = await postmasterPid(first.clusterDir);
  const second = await spawnOpened(dataDir, 'serve');
  await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS value');
  await first.close();
  await first.close();
  assert.equal(await postmasterPid(first.clusterDir), pid);
  const third = await open(dataDir);
  second.stdin?.end();
  const [exitCode] = await new Promise<unknown[]>((resolve) => second.once('exit', (...ending) => resolve(ending)));
  assert.equal(exitCode, 0);
  assert.equal(await postmasterPid(first.clusterDir), pid);
  assert.equal(third.url, first.url);
  await third.close();
  assert.equal(await postmasterPid(first.clusterDir), undefined);
  const again = await open(dataDir);
  assert.deepEqual(await query(again.url, 'SELECT value FROM kept'), [{ value: 42 }]);
  await again.close();
});

test('PostgreSQL stops if all processes close the database at the same time, and no temporary files remain in DATA_DIR', async (t) => {
  const dataDir = await newDataDir(t);
  for (let round = 0; round < 5; round += 1) {
    const all = await Promise.all([open(dataDir), open(dataDir), open(dataDir, { role: 'serve' })]);
    await Promise.all(all.map((each) => each.close()));
    assert.equal(await postmasterPid(all[0].clusterDir), undefined);
  }
  const names = (await readdir(dataDir)).sort();
  assert.deepEqual(names, ['postgres', 'postgres-password', 'postgres.log', 'socket']);
});

test('if two processes start "serve" on one DATA_DIR at the same time, one starts and the other is refused', async (t) => {
  const dataDir = await newDataDir(t);
  const attempts = await Promise.allSettled([open(dataDir, { role: 'serve' }), open(dataDir, { role: 'serve' })]);
  const winners = attempts.filter((attempt) => attempt.status === 'fulfilled');
  const losers = attempts.filter((attempt) => attempt.status === 'rejected');
  assert.equal(winners.length, 1);
  assert.ok(losers[0]?.reason instanceof OperatorError);
  assert.match(losers[0].reason.message, /^Another "serve" already runs on this DATA_DIR \(.*\/data\)\. Stop it, or/);
  await winners[0]?.value.close();
  await (await open(dataDir, { role: 'serve' })).close();
});

test('if the path of DATA_DIR is too long for a socket, the database is inside DATA_DIR, but the socket is outside', async (t) => {
  const dataDir = await newDataDir(t, 'a'.repeat(100), `it's "b", ünd % c ${'d'.repeat(60)}`);
  const embedded = await open(dataDir);
  assert.equal(dirname(embedded.clusterDir), dataDir);
  assert.deepEqual(await query(embedded.url, 'SELECT 1 AS one'), [{ one: 1 }]);
  await embedded.close();
  await rm(decodeURIComponent(new URL(embedded.url).hostname), { recursive: true });
});

test('if the service runs as root and PostgreSQL may not enter DATA_DIR, the database is under /var/lib', {
  skip: !isRoot,
}, async (t) => {
  const dataDir = await newDataDir(t, 'private');
  await mkdir(dirname(dataDir), { mode: 0o700 });
  const messages: string[] = [];
  const embedded = await open(dataDir, { log: (message) => messages.push(message) });
  assert.match(embedded.clusterDir, /^\/var\/lib\/roomservice\/[^/]+\/postgres$/);
  assert.ok(
    messages.some((message) => message.includes(`is in ${dirname(embedded.clusterDir)}`)),
    messages.join(),
  );
  assert.equal((await stat(dataDir)).uid, 0);
  await query(embedded.url, 'CREATE TABLE kept AS SELECT 42 AS value');
  await embedded.close();
  await chmod(dirname(dataDir), 0o755); // Now PostgreSQL could enter DATA_DIR, but the database stays where the first start put it.
  const again = await open(dataDir);
  assert.deepEqual(await query(again.url, 'SELECT value FROM kept'), [{ value: 42 }]);
  await again.close();
});

test('if a setting is invalid, the password is lost or DATA_DIR is a file, the start fails with a message that names the cause', async (t) => {
  const dataDir = await newDataDir(t);
  await (await open(dataDir)).close();
  await assert.rejects(open(dataDir, { settings: { shared_buffers: 'plenty' } }), (error: Error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /does not start: .*postgres\.log ends with:\n.*shared_buffers.*"plenty"/s);
    return true;
  });
  await unlink(join(dataDir, 'postgres-password'));
  await assert.rejects(open(dataDir), /The password in .*postgres-password is not the password of the database/);
  const file = join(dirname(dataDir), 'file');
  await writeFile(file, '');
  await assert.rejects(open(file), /DATA_DIR .*\/file cannot be used \(E[A-Z]+\)/);
});
