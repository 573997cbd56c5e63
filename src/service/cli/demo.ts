import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#platform/config.ts';
import { Credentials } from '#access/credentials/credentials.ts';
import type { CredentialSecret } from '#access/credentials/schema.ts';
import type { Database } from '#platform/db/database.ts';
import { applyTenantDocument } from '../tenant-document/tenant-document.ts';
import { findTenantBySlug, hasUser, listTenants, setPassword, type Tenant } from '#access/tenants/tenants.ts';
import { openRuntime, type Runtime } from './runtime.ts';
import { print, printJson, showProgress } from './terminal.ts';

const DOCUMENT = join(import.meta.dirname, '../../../demo/tenant.json');
const OWNER_EMAIL = 'owner@demo.example';

/** What a newcomer needs to try the service. */
export interface Demo {
  owner: { email: string; password: string };
  credential: CredentialSecret;
}

/** `roomservice demo`. */
export async function demo(config: Config, options: { json?: boolean }): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', progress: showProgress });
  try {
    const made = await makeDemo(runtime);
    if (options.json) {
      printJson(made);
    } else {
      print(describeDemo(made, `http://${config.host}:${config.port}`));
    }
  } finally {
    await runtime.close();
  }
}

/** The demo tenant as a tenant document, without users. */
async function readDemoDocument(): Promise<{ slug: string }> {
  return JSON.parse(await readFile(DOCUMENT, 'utf8')) as { slug: string };
}

/** Makes the demo tenant where it is missing; gives its owner a new password and issues a new credential either way. */
async function makeDemo({ db, keyring }: Runtime): Promise<Demo> {
  const document = await readDemoDocument();
  const owner = { email: OWNER_EMAIL, password: randomBytes(12).toString('base64url') };
  let tenant = await findTenantBySlug(db, document.slug);
  if (tenant === null) {
    await applyTenantDocument(db, { ...document, users: [{ ...owner, role: 'owner' }] });
    tenant = await findTenantBySlug(db, document.slug);
  } else {
    await setPassword(db, tenant.id, owner.email, owner.password);
  }
  if (tenant === null) {
    throw new Error('the demo tenant is gone');
  }
  const credentials = new Credentials({ db, keyring, audience: 'third_party' });
  const credential = await credentials.create({ tenantId: tenant.id, type: 'operator', id: null }, 'Demo platform');
  return { owner, credential };
}

/** Makes it where there is no tenant at all yet, and says how to try it. */
export async function introduceDemo(runtime: Runtime, address: string): Promise<void> {
  if ((await listTenants(runtime.db)).length === 0) {
    print(describeDemo(await makeDemo(runtime), address));
  } else {
    print('"npx roomservice demo" issues a new sign-in and credential of the demo tenant (the old password ends).');
  }
}

/** Null where nobody has made it yet. A tenant of its slug without its owner is somebody's real house. */
export async function findDemoTenant(db: Database): Promise<Tenant | null> {
  const tenant = await findTenantBySlug(db, (await readDemoDocument()).slug);
  return tenant !== null && (await hasUser(db, tenant.id, OWNER_EMAIL)) ? tenant : null;
}

/** The demo for a person: sign-in, credential, and a first call to paste. */
function describeDemo({ owner, credential }: Demo, baseUrl: string): string {
  return `
  The demo tenant is Harbour House, a restaurant and a hotel. Everything below is shown this once; "npx roomservice demo" issues a new set.

  Owner     ${owner.email}
  Password  ${owner.password}

  Give the shell its credential, then read the menu:

  export BASE=${baseUrl} KEY=${credential.api_key} SECRET=${credential.api_secret}

  curl -s ${baseUrl}/v1/third-party/menu/ -H "X-API-Key: ${credential.api_key}" -H "X-API-Secret: ${credential.api_secret}"

  The README goes on from here: an order, its status, a signed webhook.
`;
}
