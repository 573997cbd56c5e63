import { channelSecrets } from '#hotel/channels/channels.ts';
import { webhookSecretLocation, webhookSecrets } from '#access/credentials/credentials.ts';
import { openKeyring } from '#platform/keys/keys.ts';
import { type Rotation, rotateEncryptionKey } from '#platform/keys/rotation.ts';
import { listTenants } from '#access/tenants/tenants.ts';
import type { TestService, TestTenant } from './service.ts';

type Options = Parameters<typeof rotateEncryptionKey>[0];

/**
 * Rotates the encryption key as `roomservice keys rotate` does. By default, it first loads the keys again, as a new process does. It does
 * not wait until other processes have stopped using the old key.
 */
export async function rotate(service: TestService, changes: Partial<Options> = {}): Promise<Rotation> {
  const { db } = service.database;
  return await rotateEncryptionKey({
    db,
    keyring: changes.keyring ?? (await openKeyring(db, service.masterKey)),
    columns: [webhookSecrets, channelSecrets],
    listTenants: () => listTenants(db),
    progress: () => {},
    graceMs: 0,
    ...changes,
  });
}

/**
 * Reads the versions of all encryption keys. Counts for each version the stored secrets that are encrypted with the key of this version.
 */
export async function census({ database: { db } }: TestService) {
  const keys = await db
    .selectFrom('service_key')
    .select('version')
    .where('purpose', '=', 'encryption')
    .orderBy('version')
    .execute();
  const stored = [
    ...(await db.selectFrom('credential').select('webhook_secret as secret').execute()),
    ...(await db.selectFrom('channel').select('channel_secret as secret').execute()),
  ].flatMap(({ secret }) => (secret === null ? [] : [secret.readUInt32BE(0)]));
  const secrets: Record<string, number> = {};
  stored.forEach((version) => (secrets[version] = (secrets[version] ?? 0) + 1));
  return { keys: keys.map(({ version }) => version), secrets };
}

/** Decrypts the stored webhook secret of a credential with a new key ring, like a process that has just started. */
export async function storedSecret(service: TestService, { tenantId, credential }: TestTenant): Promise<string> {
  const { db } = service.database;
  const { webhook_secret } = await db
    .selectFrom('credential')
    .select('webhook_secret')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', credential.id)
    .executeTakeFirstOrThrow();
  const keyring = await openKeyring(db, service.masterKey);
  return await keyring.decrypt(webhook_secret ?? Buffer.alloc(0), webhookSecretLocation(tenantId, credential.id));
}
