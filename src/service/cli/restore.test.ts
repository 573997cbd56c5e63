import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cleanUp, newDataDir, newFolder, refuse, runCommand, succeed } from '#test/support/command.ts';
import { createTestDatabase, rowsOf } from '#test/support/database.ts';
import { envOf, startService, type TestService } from '#test/support/service.ts';
import { noCopies } from '#test/support/test-cluster.ts';

describe('a backup or restore that is refused', { skip: noCopies }, () => {
  let service: TestService;
  let folder: string;
  let passphraseFile: string;
  let plain: string;
  let sealed: string;
  before(async () => {
    service = await startService();
    await service.tenant();
    folder = await newFolder();
    passphraseFile = join(folder, 'passphrase');
    await writeFile(passphraseFile, 'a long passphrase');
    [plain, sealed] = [join(folder, 'plain.backup'), join(folder, 'sealed.backup')];
    await succeed(['backup', plain], { env: envOf(service) });
    await succeed(['backup', sealed, '--passphrase-file', passphraseFile], { env: envOf(service) });
  });
  after(async () => {
    await cleanUp();
    await service.close();
  });

  it('backup exits 1 and writes nothing if the file exists, the passphrase file is missing, or MASTER_KEY cannot decrypt the service keys', async () => {
    const env = envOf(service);
    const names = await readdir(folder);
    const bytes = await readFile(plain);
    await refuse(['backup', plain], { env }, /already exists/);
    assert.deepEqual(await readFile(plain), bytes);
    const to = join(folder, 'refused.backup');
    await refuse(['backup', join(folder, 'no-folder', 'x')], { env }, /cannot be written/);
    await refuse(['backup', to, '--passphrase-file', join(folder, 'missing')], { env }, /missing/);
    const wrong = { ...env, MASTER_KEY: randomBytes(32).toString('base64') };
    const withKey = ['backup', to, '--passphrase-file', passphraseFile];
    await refuse(withKey, { env: wrong }, /The master key cannot decrypt the keys in this database/);
    await refuse(['backup', to], { env: { DATA_DIR: await newDataDir() } }, /There is no database/);
    await refuse(['backup', to], { env: { ...env, DATABASE_URL: 'postgres://127.0.0.1:1/x' } }, /out of reach/);
    assert.deepEqual(await readdir(folder), names);
    assert.equal((await runCommand(['backup'], { env })).code, 2);
  });

  it('restore exits 1 and changes nothing if the target has rows', async () => {
    const rows = await rowsOf(service.database, ['tenant', 'restaurant_order', 'service_key', 'feed_era']);
    await refuse(['restore', plain], { env: envOf(service) }, /The database is not empty: there are rows in/);
    assert.deepEqual(await rowsOf(service.database, Object.keys(rows)), rows);
  });

  it('restore exits 1 and makes no database if the file is missing or no backup, or if the passphrase is wrong; a cut or damaged file leaves an empty one', async () => {
    const dataDir = await newDataDir();
    const env = { DATA_DIR: dataDir };
    const bytes = await readFile(sealed);
    const damaged = Buffer.from(bytes);
    damaged.writeUInt8(damaged.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    await writeFile(join(folder, 'damaged'), damaged);
    await writeFile(join(folder, 'cut'), bytes);
    await truncate(join(folder, 'cut'), bytes.length - 1);
    await writeFile(join(folder, 'other-passphrase'), 'another passphrase\n');
    const at = (name: string) => join(folder, name);
    await refuse(['restore', at('nowhere')], { env }, /nowhere/);
    await refuse(['restore', passphraseFile], { env }, /is not a backup/);
    await refuse(['restore', sealed, '--passphrase-file', at('other-passphrase')], { env }, /passphrase does not/);
    await refuse(['restore', plain, '--passphrase-file', passphraseFile], { env }, /contains no master key/);
    await assert.rejects(stat(dataDir), { code: 'ENOENT' });
    for (const name of ['damaged', 'cut']) {
      await refuse(['restore', at(name), '--passphrase-file', passphraseFile], { env }, / is damaged/);
    }
    await succeed(['restore', sealed, '--passphrase-file', passphraseFile], { env });
  });

  it('restore exits 1 and leaves the database empty if the passphrase is missing, or if DATA_DIR has the master key of another installation', async () => {
    const env = { DATA_DIR: await newDataDir() };
    await refuse(
      ['restore', sealed],
      { env },
      /the backup contains it\. Run the command with --passphrase-file, or set MASTER_KEY/,
    );
    const withKey = ['restore', sealed, '--passphrase-file', passphraseFile];
    await succeed(withKey, { env });
    const keyed = await newFolder();
    const key = `${randomBytes(32).toString('base64')}\n`;
    await writeFile(join(keyed, 'master-key'), key, { mode: 0o600 });
    await refuse(
      withKey,
      { env: { DATA_DIR: keyed } },
      /master-key has another master key already\. Move the file away/,
    );
    assert.equal(await readFile(join(keyed, 'master-key'), 'utf8'), key);
    assert.match((await succeed(['tenant', 'list'], { env: { DATA_DIR: keyed } })).stdout, /^There is no tenant yet/);
  });

  it('after a restore without the passphrase, commands exit 1 until MASTER_KEY is set to the master key of the backup', async () => {
    const env = { DATA_DIR: await newDataDir() };
    const { stdout } = await succeed(['restore', plain], { env });
    assert.match(stdout, /This installation does not have the master key yet\. .* set MASTER_KEY\./);
    const { code, stderr } = await runCommand(['tenant', 'list'], { env });
    assert.equal(code, 1);
    assert.match(stderr, /master-key is missing/);
    await succeed(['tenant', 'list'], { env: { ...env, MASTER_KEY: service.masterKey.toString('base64') } });
  });

  it('after a restore with a newer master key, which is refused if the backup contains the right one, commands exit 1 until keys rewrap has run with the old and the new master key', async () => {
    const target = await createTestDatabase();
    const env = { DATABASE_URL: target.url, MASTER_KEY: randomBytes(32).toString('base64') };
    const { stdout } = await succeed(['restore', plain], { env });
    assert.match(
      stdout,
      /The master key of this installation does not decrypt the restored keys\. .* MASTER_KEY_PREVIOUS/,
    );
    assert.equal((await runCommand(['tenant', 'list'], { env })).code, 1);
    const untouched = await createTestDatabase();
    const message = /the backup contains it\. Run the command with --passphrase-file/;
    await refuse(['restore', sealed], { env: { ...env, DATABASE_URL: untouched.url } }, message);
    assert.deepEqual(await rowsOf(untouched, ['tenant', 'service_key']), { tenant: [], service_key: [] });
    await untouched.drop();
    await succeed(['keys', 'rewrap'], { env: { ...env, MASTER_KEY_PREVIOUS: service.masterKey.toString('base64') } });
    await succeed(['tenant', 'list'], { env });
    await target.drop();
  });
});
