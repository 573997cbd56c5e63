import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { createDatabase } from '#platform/db/database.ts';
import { migrateToLatest } from '#platform/db/migrate.ts';
import { cleanUp, newDataDir, newFolder, refuse, startServing, succeed } from '#test/support/command.ts';
import { book, openHotel, reservationPath } from '#test/support/hotel.ts';
import { findOlderPostgres, startOlderPostgres } from '#test/support/older-postgres.ts';
import { orderPath } from '#test/support/restaurant.ts';
import { call, startService } from '#test/support/service.ts';
import { causeEvent } from '#test/support/webhooks.ts';

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
  serving.kill('SIGTERM');
  assert.equal((await serving.ended).code, 0);
});
