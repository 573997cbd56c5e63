import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { makeChannel, sendReservation } from '#test/support/channel.ts';
import { census, rotate, storedSecret } from '#test/support/rotation.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { register } from '#test/support/webhooks.ts';
import { channelSecrets } from '#hotel/channels/channels.ts';
import { webhookSecretLocation, webhookSecrets } from '#access/credentials/credentials.ts';
import { createDatabase, type Database } from '../db/database.ts';
import { newId } from '../lib/ids.ts';
import { listTenants } from '#access/tenants/tenants.ts';
import { type OpenKeyring, SecretDecryptionError } from './keyring.ts';
import { openKeyring } from './keys.ts';
import { unwrapKey } from './wrapping.ts';

let service: TestService;
let tenant: TestTenant;
let db: Database;
beforeEach(async () => {
  // One test registers webhooks as fast as it can, until its rotations have ended. This may take more calls than the default budget.
  service = await startService({ config: { rateLimitPerMinute: 1_000_000 } });
  tenant = await service.tenant({ features: ['restaurant', 'hotel'] });
  db = service.database.db;
});
afterEach(() => service.close());

const at = (name: string) => `https://127.0.0.1:2/${name}`;

describe('rotateEncryptionKey', () => {
  it('a rotation encrypts the secrets of all tenants with the new key and removes the old key, and the secrets stay the same', async () => {
    const other = await service.tenant();
    const secrets = [
      await register(service, tenant.partner, at('one')),
      await register(service, other.partner, at('two')),
    ];
    const channel = await makeChannel(service, tenant);
    const withoutWebhook = await service.credential(tenant.tenantId);
    assert.deepEqual(await census(service), { keys: [1], secrets: { 1: 3 } });
    assert.deepEqual(await rotate(service), {
      version: 2,
      reencrypted: 3,
      removed: [1],
      isResumed: false,
      unopened: [],
    });
    assert.deepEqual(await census(service), { keys: [2], secrets: { 2: 3 } });
    assert.deepEqual([await storedSecret(service, tenant), await storedSecret(service, other)], secrets);
    // The service started before the rotation, and must still accept the signature of the channel. The status 400 means that the signature
    // is accepted, and that only the body `{}` is invalid.
    assert.equal((await sendReservation(service, channel, {})).status, 400);
    assert.equal((await sendReservation(service, { ...channel, channel_secret: 'wrong' }, {})).status, 401);
    assert.equal((await service.call('GET', '/v1/third-party/menu/', { headers: withoutWebhook.partner })).status, 200);
  });

  it('a rotation reads 401 secrets of one tenant in batches of at most 200, and encrypts each secret once', async () => {
    const keyring = await openKeyring(db, service.masterKey);
    const rows = await db.transaction().execute(async (tx) => {
      const made = [];
      for (let number = 0; number < 401; number += 1) {
        const id = newId();
        const webhook_secret = await keyring.encrypt(
          tx,
          `secret ${number}`,
          webhookSecretLocation(tenant.tenantId, id),
        );
        made.push({ tenant_id: tenant.tenantId, id, audience: 'third_party', label: '', webhook_secret });
      }
      return made;
    });
    const rest = { secret_hash: Buffer.alloc(32), webhook_url: at('many') };
    await db
      .insertInto('credential')
      .values(rows.map((row) => ({ ...row, ...rest, api_key: row.id })))
      .execute();
    const sizes: number[] = [];
    const column: typeof webhookSecrets = {
      async readBefore(...parameters) {
        const batch = await webhookSecrets.readBefore(...parameters);
        sizes.push(batch.length);
        return batch;
      },
      replace: (...parameters) => webhookSecrets.replace(...parameters),
    };
    assert.equal((await rotate(service, { columns: [column] })).reencrypted, 401);
    assert.deepEqual(await census(service), { keys: [2], secrets: { 2: 401 } });
    assert.deepEqual(sizes, [200, 200, 1]);
  });

  it('each of three rotations raises the version of the key by 1, and the decrypted secret stays the same', async () => {
    const secret = await register(service, tenant.partner, at('one'));
    for (const version of [2, 3, 4]) {
      assert.deepEqual((await rotate(service)).removed, [version - 1]);
      assert.deepEqual(await census(service), { keys: [version], secrets: { [version]: 1 } });
    }
    assert.equal(await storedSecret(service, tenant), secret);
  });

  it('a rotation of the encryption key reads the list of tenants only after it has added the new key', async () => {
    let keys: number[] = [];
    const listWithKeys = async () => {
      keys = (await census(service)).keys;
      return await listTenants(db);
    };
    await rotate(service, { listTenants: listWithKeys });
    assert.deepEqual(keys, [1, 2]);
  });

  it('if a secret is replaced after a rotation has read it, the rotation does not overwrite the new secret', async () => {
    await register(service, tenant.partner, at('old'));
    let replaced = '';
    const column: typeof webhookSecrets = {
      async readBefore(...parameters) {
        const found = await webhookSecrets.readBefore(...parameters);
        replaced = await register(service, tenant.partner, at('new'));
        return found;
      },
      replace: (...parameters) => webhookSecrets.replace(...parameters),
    };
    assert.equal((await rotate(service, { columns: [column, channelSecrets] })).reencrypted, 0);
    assert.notEqual(replaced, '');
    assert.equal(await storedSecret(service, tenant), replaced);
    assert.deepEqual(await census(service), { keys: [2], secrets: { 2: 1 } });
  });

  it('if webhooks and channels are registered during four rotations, no secret is lost', async () => {
    const partners = await Promise.all(Array.from({ length: 6 }, () => service.credential(tenant.tenantId)));
    let isOver = false;
    const newest = new Map<string, string>();
    const registering = partners.map(async ({ credential, partner }) => {
      for (let round = 0; !isOver; round += 1) {
        newest.set(credential.id, await register(service, partner, at(String(round))));
      }
    });
    const making = (async () => {
      const channels = [];
      while (!isOver) {
        channels.push(await makeChannel(service, tenant));
      }
      return channels;
    })();
    try {
      for (let round = 0; round < 4; round += 1) {
        await rotate(service);
      }
    } finally {
      isOver = true;
      await Promise.all(registering);
    }
    const found = await census(service);
    assert.deepEqual([found.keys, Object.keys(found.secrets)], [[5], ['5']]);
    for (const { credential, partner } of partners) {
      assert.equal(await storedSecret(service, { ...tenant, credential, partner }), newest.get(credential.id));
    }
    for (const channel of await making) {
      assert.equal((await sendReservation(service, channel, {})).status, 400);
    }
  });

  it('a rotation keeps the old key for a grace time, so a process that has read an old ciphertext can still decrypt it', async (t) => {
    const secret = await register(service, tenant.partner, at('one'));
    const late = await openKeyring(db, service.masterKey);
    await rotate(service);
    const [early] = await webhookSecrets.readBefore(db, tenant.tenantId, Buffer.from('ff', 'hex'), null, 1);
    assert.ok(early);
    const decrypted: Promise<string>[] = [];
    let waitingSinceMs = 0;
    const progress = (message: string) => {
      if (message.startsWith('Waiting')) {
        waitingSinceMs = performance.now();
        decrypted.push(late.decrypt(early.ciphertext, early.location));
      }
    };
    const keyring = await openKeyring(db, service.masterKey);
    const endRotation = keyring.endRotation.bind(keyring);
    let waitedMs = 0;
    // On a slow machine, the process may need longer than the grace time of this test to decrypt the ciphertext. So the old key is deleted
    // only when the process has decrypted it.
    t.mock.method(keyring, 'endRotation', async (version: number) => {
      waitedMs = performance.now() - waitingSinceMs;
      await Promise.allSettled(decrypted);
      await endRotation(version);
    });
    await rotate(service, { keyring, progress, graceMs: 500 });
    assert.deepEqual(await Promise.all(decrypted), [secret]);
    assert.ok(waitedMs >= 498, `the old key was deleted after ${waitedMs} ms`);
    const later = await openKeyring(db, service.masterKey);
    await assert.rejects(later.decrypt(early.ciphertext, early.location), SecretDecryptionError);
  });

  it('if the master key is being replaced, a rotation wraps the new encryption key only with the new master key', async () => {
    const secret = await register(service, tenant.partner, at('one'));
    const previous = service.masterKey;
    service.masterKey = Buffer.alloc(32, 7);
    const keyring = await openKeyring(db, service.masterKey, previous);
    assert.deepEqual((await rotate(service, { keyring })).removed, [1]);
    assert.equal(await keyring.rewrap(), 2, 'the pepper and the token key were wrapped again');
    assert.equal(await storedSecret(service, tenant), secret);
    const wrapped = await db.selectFrom('service_key').selectAll().execute();
    assert.equal(wrapped.length, 3);
    for (const { version, wrapped_key } of wrapped.filter(({ purpose }) => purpose === 'encryption')) {
      const key = { purpose: 'encryption', version, wrapped_key } as const;
      assert.ok(unwrapKey(key, service.masterKey) && !unwrapKey(key, previous));
    }
  });
});

describe('replacement of the master key while a process runs', () => {
  it('500: if a process has only the old master key, the response to POST webhook/ hides the name MASTER_KEY, and the log says to restart the process', async (t) => {
    const lines: string[] = [];
    const old = await startService({ beside: service, onLog: (line) => lines.push(line) });
    t.after(() => old.close());
    const keyring = await openKeyring(db, Buffer.alloc(32, 7), service.masterKey);
    await rotate(service, { keyring });
    const json = { webhook_url: at('one') };
    const response = await old.call('POST', '/v1/third-party/webhook/', { headers: tenant.partner, json });
    assert.equal(response.status, 500);
    assert.doesNotMatch(response.text, /MASTER_KEY/);
    assert.match(
      lines.join(''),
      /MASTER_KEY of this process cannot decrypt the key .*encryption 2.* Restart this process/,
    );
  });
});

describe('interrupted rotation', () => {
  it('if a rotation was interrupted, the next one makes no new key, encrypts the remaining secrets, and reports isResumed', async () => {
    const other = await service.tenant();
    const secrets = [
      await register(service, tenant.partner, at('one')),
      await register(service, other.partner, at('two')),
    ];
    let calls = 0;
    const progress = () => {
      calls += 1;
      if (calls === 2) {
        throw new Error('killed');
      }
    };
    await assert.rejects(rotate(service, { progress }), /killed/);
    assert.deepEqual(await census(service), { keys: [1, 2], secrets: { 1: 1, 2: 1 } });
    assert.deepEqual(await rotate(service), {
      version: 2,
      reencrypted: 1,
      removed: [1],
      isResumed: true,
      unopened: [],
    });
    assert.deepEqual(await census(service), { keys: [2], secrets: { 2: 2 } });
    assert.deepEqual([await storedSecret(service, tenant), await storedSecret(service, other)], secrets);
    assert.equal((await rotate(service)).version, 3);
  });

  it('if a rotation was interrupted just before it removed the old key, the next one only removes the old key', async () => {
    await register(service, tenant.partner, at('one'));
    const progress = (message: string) => {
      if (message.startsWith('Waiting')) {
        throw new Error('killed');
      }
    };
    await assert.rejects(rotate(service, { progress }), /killed/);
    assert.deepEqual(await rotate(service), {
      version: 2,
      reencrypted: 0,
      removed: [1],
      isResumed: true,
      unopened: [],
    });
    assert.deepEqual(await census(service), { keys: [2], secrets: { 2: 1 } });
  });
});

describe('concurrent rotations', () => {
  it('three concurrent rotations make only one new key, encrypt each secret once, and all succeed', async () => {
    const partners = await Promise.all(Array.from({ length: 20 }, () => service.credential(tenant.tenantId)));
    const secrets = await Promise.all(partners.map(({ partner }) => register(service, partner, at('one'))));
    const databases = Array.from({ length: 3 }, () => createDatabase({ url: service.database.url, poolSize: 2 }));
    try {
      const keyrings = await Promise.all(databases.map((own) => openKeyring(own, service.masterKey)));
      // A rotation lists the tenants after it has begun. No rotation continues before all three have begun. Otherwise a slow one could
      // begin after the end of another one, and would rightly make a third key.
      const { promise: allHaveBegun, resolve: continueAll } = Promise.withResolvers<void>();
      let begun = 0;
      const listWhenAllHaveBegun = async () => {
        begun += 1;
        if (begun === databases.length) continueAll();
        await allHaveBegun;
        return await listTenants(db);
      };
      const ends = await Promise.all(
        databases.map((own, index) =>
          rotate(service, {
            db: own,
            keyring: keyrings[index] as OpenKeyring,
            listTenants: listWhenAllHaveBegun,
            graceMs: 300,
          }),
        ),
      );
      assert.deepEqual(
        ends.map(({ version }) => version),
        [2, 2, 2],
      );
      assert.equal(ends.filter(({ isResumed }) => !isResumed).length, 1);
      assert.equal(
        ends.reduce((sum, { reencrypted }) => sum + reencrypted, 0),
        20,
      );
    } finally {
      await Promise.all(databases.map((own) => own.destroy()));
    }
    assert.deepEqual(await census(service), { keys: [2], secrets: { 2: 20 } });
    const stored = partners.map(({ credential, partner }) => storedSecret(service, { ...tenant, credential, partner }));
    assert.deepEqual(await Promise.all(stored), secrets);
  });
});

describe('rotation with a secret that cannot be decrypted', () => {
  it('a rotation reports a secret that it cannot decrypt, and the old key stays until that secret is replaced', async () => {
    const other = await service.credential(tenant.tenantId);
    await register(service, tenant.partner, at('one'));
    await register(service, other.partner, at('two'));
    const { tenantId, credential } = tenant;
    await db
      .updateTable('credential')
      .set({ webhook_secret: Buffer.from('00000001aabbcc', 'hex') })
      .where('tenant_id', '=', tenantId)
      .where('id', '=', credential.id)
      .execute();
    const location = `webhook secret of ${tenantId} ${credential.id}`;
    assert.deepEqual(await rotate(service), {
      version: 2,
      reencrypted: 1,
      removed: [],
      isResumed: false,
      unopened: [location],
    });
    assert.deepEqual(await census(service), { keys: [1, 2], secrets: { 1: 1, 2: 1 } });
    const secret = await register(service, tenant.partner, at('three'));
    assert.deepEqual(await rotate(service), {
      version: 2,
      reencrypted: 0,
      removed: [1],
      isResumed: true,
      unopened: [],
    });
    assert.equal(await storedSecret(service, tenant), secret);
  });
});
