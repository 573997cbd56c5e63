import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeChannel } from '#test/support/channel.ts';
import { cleanUp, newDataDir, newFolder, runCommand, succeed } from '#test/support/command.ts';
import { book, dayAhead, openHotel, type TestHotel } from '#test/support/hotel.ts';
import { envOf, startService, type TestService } from '#test/support/service.ts';
import { register } from '#test/support/webhooks.ts';
import { noCopies } from '#test/support/test-cluster.ts';

describe('backup verify', { skip: noCopies }, () => {
  let service: TestService;
  let hotel: TestHotel;
  let folder: string;
  let passphraseFile: string;
  before(async () => {
    service = await startService();
    folder = await newFolder();
    passphraseFile = join(folder, 'passphrase');
    await writeFile(passphraseFile, 'a long passphrase');
    hotel = await openHotel(service);
    await book(service, hotel);
    await register(service, hotel.partner, 'https://partner.example/hook');
    await makeChannel(service, hotel);
  });
  after(async () => {
    await cleanUp();
    await service.close();
  });

  it('backup verify exits 0, prints its checks and leaves no file, both with DATABASE_URL and with DATA_DIR', async () => {
    const file = join(folder, 'sound.backup');
    await succeed(['backup', file, '--passphrase-file', passphraseFile], { env: envOf(service) });
    const onServer = await succeed(['backup', 'verify', file], { env: envOf(service) });
    assert.match(
      onServer.stdout,
      / is complete: .* \(tenants: 1, rows: \d+, correct nights: 2\)\. .* every secret \(2\)\.\n$/,
    );

    const env = { DATA_DIR: await newDataDir(), TMPDIR: await newFolder() };
    const skipped = await succeed(['backup', 'verify', file], { env });
    assert.match(skipped.stdout, /The secrets were not checked, because there is no master key\./);
    const otherKey = { ...env, MASTER_KEY: randomBytes(32).toString('base64') };
    const { code, stderr } = await runCommand(['backup', 'verify', file], { env: otherKey });
    assert.equal(code, 1);
    assert.match(stderr, /The rows of the backup are right\. But the master key is not the one with which the backup/);
    const args = ['backup', 'verify', file, '--passphrase-file', passphraseFile, '--json'];
    const { secrets, nights, tenants, faults } = JSON.parse((await succeed(args, { env })).stdout);
    assert.deepEqual({ secrets, nights, tenants, faults }, { secrets: 2, nights: 2, tenants: 1, faults: [] });
    await assert.rejects(stat(env.DATA_DIR), { code: 'ENOENT' });
    assert.deepEqual(await readdir(env.TMPDIR), []);
  });

  it('backup verify exits 1 and names a night with a wrong counter, and a secret that cannot be decrypted', async () => {
    const { db } = service.database;
    await db.updateTable('night').set({ held: 3 }).where('date', '=', dayAhead(31)).execute();
    await db
      .updateTable('credential')
      .set({ webhook_secret: Buffer.alloc(60) })
      .execute();
    const file = join(folder, 'wrong.backup');
    await succeed(['backup', file], { env: envOf(service) });
    const { code, stdout, stderr } = await runCommand(['backup', 'verify', file], { env: envOf(service) });
    assert.deepEqual([code, stdout], [1, '']);
    const night = `night ${dayAhead(31)} of room type ${hotel.roomTypes['Double']} has 3 rooms held, but the reservations hold 1`;
    const secret = `the webhook secret of ${hotel.tenantId} ${hotel.credential.id} cannot be decrypted`;
    assert.match(
      stderr,
      new RegExp(`^roomservice: .* has faults \\(2\\): ${night}; ${secret}\\. Do not rely on this backup\\.\\n$`),
    );
    const asJson = await runCommand(['backup', 'verify', file, '--json'], { env: envOf(service) });
    assert.equal(asJson.code, 1);
    assert.deepEqual(JSON.parse(asJson.stdout).faults, [night, secret]);
  });
});
