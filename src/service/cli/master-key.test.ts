import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFile, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { assertError } from '#test/support/answers.ts';
import { channelHeaders, CHANNELS, RECEIVER } from '#test/support/channel.ts';
import { hotelTenant } from '#test/support/pms.ts';
import { cleanUp, refuse, startServing, stop, succeed, untilReady } from '#test/support/command.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { call, startService, type TestService } from '#test/support/service.ts';
import { OWNER_PASSWORD } from '#test/support/tenants.ts';
import { readWrappedPepper } from '#platform/keys/keys.ts';

const PMS_CREDENTIALS = '/v1/channel-manager/credentials/';
/** Commands that open the keys. */
const COMMANDS = [['serve'], ['tenant', 'list'], ['migrate'], ['keys', 'rewrap']];

const newMasterKey = () => randomBytes(32).toString('base64');

after(cleanUp);

/** These tests run the steps that docs/operating/keys.md describes for operators. */
describe('replacing the master key', () => {
  let service: TestService;
  let oldKey: string;
  let newKey: string;
  before(async () => {
    service = await startService();
    newKey = service.masterKey.toString('base64');
  });
  beforeEach(() => {
    [oldKey, newKey] = [newKey, newMasterKey()];
  });
  after(() => service.close());

  const envOf = (current: string, previous?: string) => ({
    DATABASE_URL: service.database.url,
    MASTER_KEY: current,
    ...(previous === undefined ? {} : { MASTER_KEY_PREVIOUS: previous }),
  });
  const wrapped = () => readWrappedPepper(service.database.db);

  it('while serve runs, the command `keys rewrap` wraps the service keys with a new master key, but `tenant list` with the old and the new key does not', async () => {
    const serving = await startServing(['--only', 'api'], { env: envOf(oldKey) });
    const stored = await wrapped();
    for (const env of [envOf(oldKey), envOf(newKey, oldKey), envOf(oldKey, newKey)]) {
      await succeed(['tenant', 'list'], { env });
      assert.deepEqual(await wrapped(), stored);
    }

    const rewrap = async (...args: string[]) =>
      (await succeed(['keys', 'rewrap', ...args], { env: envOf(newKey, oldKey) })).stdout;
    assert.match(
      await rewrap(),
      /^1 key wrapped again\. Only MASTER_KEY unwraps it now\. Restart .* MASTER_KEY_PREVIOUS\.\n$/,
    );
    assert.notDeepEqual(await wrapped(), stored);

    await refuse(['tenant', 'list'], { env: envOf(oldKey) }, /^roomservice: The master key cannot decrypt/);
    const tenant = await service.tenant();
    const register = { headers: tenant.partner, json: { webhook_url: 'https://partner.example/hooks' } };
    const answer = await call(serving.url, 'POST', '/v1/third-party/webhook/', register);
    assert.equal(answer.status, 200, 'the running process still encrypts secrets');

    assert.equal(await rewrap(), 'MASTER_KEY already unwraps all keys.\n');
    assert.deepEqual(JSON.parse(await rewrap('--json')), { rewrapped: 0 });
    await succeed(['tenant', 'list'], { env: envOf(newKey) });
    await stop(serving);
  });

  it('the first serve that gets the new and the old master key wraps the service keys again, and only the first serve logs this change', async () => {
    const logLine = /"msg":"only MASTER_KEY unwraps the keys now/;
    for (const [env, isLogged] of [
      [envOf(newKey, oldKey), true],
      [envOf(newKey, oldKey), false],
      [envOf(newKey), false],
    ] as const) {
      const { stdout } = await stop(await startServing(['--only', 'worker'], { env }));
      assert.equal(logLine.test(stdout), isLogged);
    }
  });

  it('if the operator replaces a lost master key and runs the command `keys discard`, owners can sign in and issue new credentials', async () => {
    const tenant = await hotelTenant(service, { features: ['restaurant', 'hotel'] });
    const { id: pmsId } = (await service.call('GET', PMS_CREDENTIALS, { headers: tenant.owner })).body[0];
    const register = { webhook_url: 'https://partner.example/hooks' };
    await service.call('POST', '/v1/third-party/webhook/', { headers: tenant.partner, json: register });
    const lost = { env: envOf(newKey) };
    const stored = await wrapped();
    await refuse(['keys', 'discard'], lost, /API secrets, .* invalid forever.* --yes\. Nothing was changed\.$/m);
    const known = { env: envOf(newKey, oldKey) };
    await refuse(
      ['keys', 'discard', '--yes'],
      known,
      /No key was deleted, because a master key .* still decrypts the keys .* not lost\. Start the service/m,
    );
    assert.deepEqual(await wrapped(), stored);
    assert.match((await succeed(['keys', 'discard', '--yes'], lost)).stdout, /^Deleted keys: 1\. Start the service/);
    assert.deepEqual(JSON.parse((await succeed(['keys', 'discard', '--yes', '--json'], lost)).stdout), {
      discarded: 0,
    });
    const serving = await startServing(['--only', 'api'], { env: envOf(newKey) });
    const ask = (method: string, path: string, options: Parameters<typeof call>[3]) =>
      call(serving.url, method, path, options);
    const signIn = { email: tenant.document.users?.[0]?.email, password: OWNER_PASSWORD };
    const { body: session } = await ask('POST', '/v1/auth/token/', { json: signIn });
    const owner = { authorization: `Bearer ${session.access_token}` };
    assert.equal((await ask('GET', '/v1/third-party/menu/', { headers: tenant.partner })).status, 401);
    const made = await ask('POST', '/v1/third-party/credentials/', { headers: owner, json: { label: 'New' } });
    assert.equal(made.status, 201, made.text);
    const partner = { 'x-api-key': made.body.api_key, 'x-api-secret': made.body.api_secret };
    assert.equal((await ask('GET', '/v1/third-party/menu/', { headers: partner })).status, 200);
    const refusedRotations = [
      [`/v1/third-party/credentials/${tenant.credential.id}/rotate/`, undefined],
      [`${PMS_CREDENTIALS}${pmsId}/rotate/`, undefined],
      [`/v1/staff/credentials/${tenant.credential.id}/rotate/`, { overlap_minutes: 60 }],
      [`/v1/staff/credentials/${pmsId}/rotate/`, { overlap_minutes: 0 }],
    ] as const;
    for (const [path, json] of refusedRotations) {
      const answer = await ask('POST', path, { headers: owner, ...(json && { json }) });
      assert.match(
        assertError(answer, 409, 'invalid_status_transition'),
        /^The API key stopped .* Create a new credential\.$/,
      );
    }
    // The key of a channel is made at each rotation, so a rotation restores the channel.
    const { body: channel } = await ask('POST', `${CHANNELS}${tenant.channel.id}/rotate/`, { headers: owner });
    const stay = JSON.stringify({
      external_id: 'OTA-1',
      status: 'confirmed',
      room_type_id: tenant.id('Harbour House', 'Double'),
      check_in: '2031-05-01',
      check_out: '2031-05-02',
      guest: { full_name: 'Ada Guest' },
    });
    assert.equal((await ask('POST', RECEIVER, { headers: channelHeaders(channel, stay), body: stay })).status, 201);
    // The old webhook secret cannot sign, so the same URL gets a new one.
    const webhook = `/v1/staff/credentials/${tenant.credential.id}/webhook/`;
    const [first, second] = [
      await ask('POST', webhook, { headers: owner, json: register }),
      await ask('POST', webhook, { headers: owner, json: register }),
    ];
    assert.match(first.body.webhook_secret, /^rss_/);
    assert.equal(second.body.webhook_secret, '');
    const revoke = `/v1/third-party/credentials/${tenant.credential.id}/revoke/`;
    assert.equal((await ask('POST', revoke, { headers: owner })).status, 200);
    await stop(serving);
  });
});

describe('master key file in DATA_DIR', () => {
  let dataDir: string;
  let env: Record<string, string>;
  let file: string;
  before(async () => {
    dataDir = await newMigratedDataDir();
    env = { DATA_DIR: dataDir };
    file = join(dataDir, 'master-key');
    await succeed(['demo', '--json'], { env });
  });

  it('if the master key file is missing, serve and other commands exit 1, name the file and the remedy, and change nothing', async () => {
    const key = await readFile(file, 'utf8');
    await rename(file, `${file}.elsewhere`);
    const files = await readdir(dataDir);
    for (const command of COMMANDS) {
      const message = /^roomservice: \S+master-key is missing.* Restore the file .* MASTER_KEY .*\n$/;
      await refuse(command, { env }, message);
    }
    assert.deepEqual(await readdir(dataDir), files, 'no command made a new key file');
    await succeed(['tenant', 'list'], { env: { ...env, MASTER_KEY: key.trim() } });
    await rename(`${file}.elsewhere`, file);
    await succeed(['tenant', 'list'], { env });
  });

  it('if the master key file is lost, keys discard is refused while serve runs, and later lets serve start with a new master key', async () => {
    const serving = await startServing([], { env });
    await rename(file, `${file}.lost`);
    await refuse(['keys', 'discard', '--yes'], { env }, /Another process uses the data .* Nothing was changed\./);
    await stop(serving);
    await refuse(['serve'], { env }, /master-key is missing/);
    assert.match((await succeed(['keys', 'discard', '--yes'], { env })).stdout, /^Deleted keys: 1\./);
    const again = await startServing([], { env });
    assert.notEqual(await readFile(file, 'utf8'), await readFile(`${file}.lost`, 'utf8'));
    await stop(again);
  });

  it('with a wrong MASTER_KEY, serve and other commands exit 1, and change no file and no key, also if MASTER_KEY_PREVIOUS is wrong too', async () => {
    const files = await readdir(dataDir);
    const [MASTER_KEY, MASTER_KEY_PREVIOUS] = [newMasterKey(), newMasterKey()];
    const message = /^roomservice: The master key cannot decrypt the keys in this database\. .*\n$/;
    for (const command of COMMANDS) {
      await refuse(command, { env: { ...env, MASTER_KEY } }, message);
    }
    await refuse(['keys', 'rewrap'], { env: { ...env, MASTER_KEY, MASTER_KEY_PREVIOUS } }, message);
    await succeed(['tenant', 'list'], { env });
    assert.deepEqual(await readdir(dataDir), files);
  });

  it('if the master key file is replaced while serve runs, serve keeps running, and a new serve is ready after the operator runs `keys rewrap`', async () => {
    const serving = await startServing([], { env });
    const old = `${file}.old`;
    await copyFile(file, old);
    await writeFile(file, `${newMasterKey()}\n`);
    await refuse(['tenant', 'list'], { env }, /master key cannot decrypt .* MASTER_KEY_PREVIOUS/);
    const { stdout } = await succeed(['keys', 'rewrap'], { env: { ...env, MASTER_KEY_PREVIOUS_FILE: old } });
    assert.match(stdout, /^1 key wrapped again/);
    await rm(old);
    await succeed(['tenant', 'list'], { env });
    assert.equal((await fetch(`${serving.url}/livez`)).status, 200);
    await stop(serving);
    const again = await startServing([], { env });
    await untilReady(again);
    await stop(again);
  });
});
