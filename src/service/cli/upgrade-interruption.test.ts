import assert from 'node:assert/strict';
import { mkdir, open, rename, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { findPostmaster } from '#platform/db/embedded/postmaster.ts';
import { namesOfThisVersion } from '#platform/db/migrate.ts';
import { cleanUp, clusterDirOf, newDataDir, refuse, startCommand, succeed } from '#test/support/command.ts';
import { findOlderPostgres, foldersOf, OLDER, openOlderData } from '#test/support/older-postgres.ts';
import { eventually } from '#test/support/webhooks.ts';

const { older, skip } = await findOlderPostgres();
const CURRENT = 18;
const UPGRADE = ['upgrade-database'];
/** Number of tenants in the old data. There are many tenants, so that the copy takes some time, and a test can interrupt it. */
const TENANTS = 500;

after(cleanUp);

describe('upgrade that is refused or interrupted', { skip }, () => {
  let dataDir: string;
  let env: Record<string, string>;
  let cluster: string;
  before(async () => {
    dataDir = await newDataDir();
    env = { DATA_DIR: dataDir };
    // The schema of the old data lacks the two newest migrations of Roomservice. So the upgrade must also apply these two migrations.
    const only = new Set((await namesOfThisVersion()).slice(0, -2));
    const data = await openOlderData(older, dataDir, { only });
    await sql`INSERT INTO tenant (slug, name, currency, timezone, features)
      SELECT 'tenant-' || n, repeat('x', 10000), 'EUR', 'UTC', '{hotel}' FROM generate_series(1, ${TENANTS}::int) AS n`.execute(
      data.db,
    );
    await data.drop();
    cluster = await clusterDirOf(dataDir);
    // An interrupted upgrade leaves the programs of the older PostgreSQL in this folder. The next upgrade uses them without npm.
    await symlink(older.folder, `${cluster}.binaries`);
  });

  it('serve and upgrade-database exit 1 on data of an unsupported PostgreSQL version, and name the versions that they support', async () => {
    const version = join(cluster, 'PG_VERSION');
    await writeFile(version, '99\n');
    const newer = /PostgreSQL 99 made the database .* PostgreSQL 18\. Install the newer version of Roomservice again\./;
    await refuse(['serve'], { env }, newer);
    await refuse(UPGRADE, { env }, newer);
    await writeFile(version, '12\n');
    await refuse(
      UPGRADE,
      { env },
      /cannot upgrade a database of PostgreSQL 12 on this platform\. It can upgrade PostgreSQL 17\./,
    );
    await writeFile(version, `${OLDER}\n`);
  });

  it('upgrade-database exits 1 and changes nothing if the disk is too small, the folder for the old data exists, or another process uses the data', async () => {
    const large = join(cluster, 'large');
    const handle = await open(large, 'w');
    // This sparse file has a size of 8 TiB, but uses no space on the disk. A copy of the file would need more space than the disk has.
    await handle.truncate(2 ** 43);
    await handle.close();
    await refuse(
      UPGRADE,
      { env },
      /The upgrade needs 83\d{5} MiB of free space in .*, but \d+ MiB are free\. Free some space/,
    );
    await rm(large);
    await mkdir(`${cluster}-${OLDER}`);
    await refuse(UPGRADE, { env }, /keeps the old data in .*postgres-17, but that folder exists already\. Move/);
    await rmdir(`${cluster}-${OLDER}`);
    for (const role of ['serve', 'command'] as const) {
      const data = await openOlderData(older, dataDir, { role, only: new Set() });
      await refuse(
        UPGRADE,
        { env },
        /Another process uses the database in .*postgres.* Stop it, and run the command again/,
      );
      await data.drop();
    }
    await assertUnchanged();
  });

  it('upgrade-database that gets SIGTERM stops both PostgreSQL servers and removes the new data', async () => {
    const command = startCommand(UPGRADE, { env });
    await eventually(() => isReady(`${cluster}.new`), 'new server', 30_000);
    command.kill('SIGTERM');
    const { code, stdout, stderr } = await command.ended;
    assert.deepEqual([code, stdout, stderr], [143, '', '']);
    await assertUnchanged();
  });

  it('upgrade-database that is killed during the copy leaves the old data unchanged, and a second run succeeds', async () => {
    const command = startCommand(UPGRADE, { env });
    await eventually(() => isReady(`${cluster}.new`), 'new server', 30_000);
    command.kill('SIGKILL');
    await command.ended;
    assert.equal(await isReady(cluster), true, 'the older PostgreSQL still runs');
    await refuse(['tenant', 'list'], { env }, /PostgreSQL 17 made the database/);
    // An upgrade renames the folder of the new data to `postgres.upgraded`, and then renames the folder of the old data. If the upgrade is
    // killed between these two steps, the folder `postgres.upgraded` stays. The next run must remove this folder.
    await mkdir(`${cluster}.upgraded`);
    const { stdout } = await succeed(UPGRADE, { env });
    assert.match(stdout, new RegExp(`PostgreSQL ${CURRENT} now \\(rows: \\d+, tenants: ${TENANTS}, orders: 0`));
    assert.deepEqual(await foldersOf(dataDir), ['postgres', `postgres-${OLDER}`]);
    assert.equal((await tenants()).length, TENANTS);
  });

  it('if upgrade-database has renamed the old data folder but is killed before it renames the new data folder to postgres, the next command finishes the upgrade', async () => {
    await rename(cluster, `${cluster}.upgraded`);
    assert.equal((await tenants()).length, TENANTS);
    assert.deepEqual(await foldersOf(dataDir), ['postgres', `postgres-${OLDER}`]);
  });

  async function tenants(): Promise<unknown[]> {
    return JSON.parse((await succeed(['tenant', 'list', '--json'], { env })).stdout);
  }

  /** Asserts that only the old data is there, with all rows, and that no PostgreSQL runs. */
  async function assertUnchanged(): Promise<void> {
    const folders = await foldersOf(dataDir);
    assert.deepEqual(
      folders.filter((name) => name !== 'postgres.binaries'),
      ['postgres'],
    );
    for (const clusterDir of [cluster, `${cluster}.new`]) {
      assert.equal(await findPostmaster(clusterDir), undefined, clusterDir);
    }
    const data = await openOlderData(older, dataDir, { only: new Set() });
    const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM tenant`.execute(data.db);
    await data.drop();
    assert.equal(rows[0]?.count, TENANTS);
  }

  async function isReady(clusterDir: string): Promise<boolean> {
    return (await findPostmaster(clusterDir))?.isReady === true;
  }
});
