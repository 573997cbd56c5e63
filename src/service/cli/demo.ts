import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#platform/config.ts';
import { Credentials } from '#access/credentials/credentials.ts';
import type { CredentialSecret } from '#access/credentials/schema.ts';
import type { Database } from '#platform/db/database.ts';
import { applyTenantDocument } from '../tenant-document/tenant-document.ts';
import { findTenantBySlug, hasUser, listTenants, setPassword, type Tenant } from '#access/tenants/tenants.ts';
import { COMMAND } from './command-name.ts';
import { openRuntime, type Runtime } from './runtime.ts';
import { print, printJson, showProgress } from './terminal.ts';

const DOCUMENT = join(import.meta.dirname, '../../../demo/tenant.json');
const OWNER_EMAIL = 'owner@demo.example';

/** The owner's sign-in and a credential of the demo tenant. With them, a new user can try the service. */
export interface Demo {
  owner: { email: string; password: string };
  credential: CredentialSecret;
}

/** Runs `roomservice demo`. */
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

/** Reads the tenant document of the demo tenant, which has no users. */
async function readDemoDocument(): Promise<{ slug: string }> {
  return JSON.parse(await readFile(DOCUMENT, 'utf8')) as { slug: string };
}

/** Creates the demo tenant if it is missing. Always gives its owner a new password, and issues a new credential. */
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
    throw new Error('The demo tenant is missing after it was created.');
  }
  const credentials = new Credentials({ db, keyring, audience: 'third_party' });
  const credential = await credentials.create({ tenantId: tenant.id, type: 'operator', id: null }, 'Demo platform');
  return { owner, credential };
}

/** Creates the demo tenant if the database has no tenant, and prints how to try it. Otherwise prints how to get a new sign-in. */
export async function introduceDemo(runtime: Runtime, address: string): Promise<void> {
  if ((await listTenants(runtime.db)).length === 0) {
    print(describeDemo(await makeDemo(runtime), address));
  } else {
    print(`"${COMMAND} demo" prints a new password and credential of the demo tenant. The old password then ends.`);
  }
}

/**
 * Finds the demo tenant. A tenant with the slug of the demo but without the demo owner is a real tenant and does not count.
 * @returns null if the demo tenant does not exist
 */
export async function findDemoTenant(db: Database): Promise<Tenant | null> {
  const tenant = await findTenantBySlug(db, (await readDemoDocument()).slug);
  return tenant !== null && (await hasUser(db, tenant.id, OWNER_EMAIL)) ? tenant : null;
}

/** Describes the demo for a person: sign-in, credential, and a first call to copy. */
function describeDemo({ owner, credential }: Demo, baseUrl: string): string {
  return `
  The demo tenant is Harbour House, a restaurant and a hotel. The secrets below are shown only once. "${COMMAND} demo" issues new ones.

  Owner     ${owner.email}
  Password  ${owner.password}

  Set the credential in your shell, then read the menu:

  export BASE=${baseUrl} KEY=${credential.api_key} SECRET=${credential.api_secret}

  curl -s ${baseUrl}/v1/third-party/menu/ -H "X-API-Key: ${credential.api_key}" -H "X-API-Secret: ${credential.api_secret}"

  The README shows the next steps: an order, its status, a signed webhook.
`;
}
