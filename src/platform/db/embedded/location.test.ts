import assert from 'node:assert/strict';
import { chmod, mkdir, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { isRoot, newDataDir } from '#test/support/embedded-postgres.ts';
import { locate, prepareSocketDir } from './location.ts';

const quiet = () => {};

test('a DATA_DIR with files of others keeps its mode and its owner, and a new one is closed to other users', async (t) => {
  const dataDir = await newDataDir(t);
  await mkdir(dataDir);
  await writeFile(join(dataDir, 'README'), 'other users read this file');
  await chmod(dataDir, 0o755);
  const before = await stat(dataDir);
  const { clusterDir } = await locate(dataDir, quiet);
  const after = await stat(dataDir);
  assert.deepEqual([after.mode, after.uid], [before.mode, before.uid]);
  assert.equal(clusterDir, join(dataDir, 'postgres'));
  const made = join(dirname(dataDir), 'made');
  await locate(made, quiet);
  assert.equal((await stat(made)).mode & 0o777, 0o700);
});

test('if four processes of root start at the same time, all use the same database folder under /var/lib', {
  skip: !isRoot,
}, async (t) => {
  const dataDir = await newDataDir(t, 'private');
  await mkdir(dirname(dataDir), { mode: 0o700 });
  const locations = await Promise.all([1, 2, 3, 4].map(() => locate(dataDir, quiet)));
  const target = await readlink(join(dataDir, 'postgres'));
  assert.deepEqual(new Set(locations.map((location) => location.clusterDir)), new Set([target]));
  assert.match(target, /^\/var\/lib\/roomservice\/[^/]+\/postgres$/);
});

test('if DATA_DIR/postgres is a symbolic link into a folder that is missing, locate fails with an error that names this folder', async (t) => {
  const dataDir = await newDataDir(t);
  await mkdir(dataDir);
  await symlink(join(dirname(dataDir), 'unmounted', 'postgres'), join(dataDir, 'postgres'));
  await assert.rejects(
    locate(dataDir, quiet),
    /points to the database in .*unmounted\/postgres, but .*unmounted is missing/,
  );
});

test('a socket folder that other users may enter is refused', async (t) => {
  const dataDir = await newDataDir(t);
  const location = await locate(dataDir, quiet);
  await prepareSocketDir(location);
  await prepareSocketDir(location);
  await chmod(location.socketDir, 0o777);
  await assert.rejects(prepareSocketDir(location), /must be a folder that belongs to the user of PostgreSQL/);
});
