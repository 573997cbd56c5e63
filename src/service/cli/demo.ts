import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { Config } from '#platform/config.ts';
import { Links, WELCOME_MINUTES } from '#access/people/people.ts';
import type { Database } from '#platform/db/database.ts';
import { PACKAGE_ROOT } from '#platform/lib/package-root.ts';
import { type AppliedTenant, applyTenantDocument } from '../tenant-document/tenant-document.ts';
import {
  type Area,
  findTenantBySlug,
  listTenants,
  listUsers,
  setPassword,
  type Tenant,
} from '#access/tenants/tenants.ts';
import { houseBooking } from '#hotel/reservations/reservations.ts';
import { addDays, todayIn } from '#platform/lib/dates.ts';
import { newId } from '#platform/lib/ids.ts';
import { createBusiness } from '../business.ts';
import { type Context, type Runtime, withRuntime } from './runtime.ts';
import type { OutputOptions } from './terminal.ts';

/** Outside a checkout, npx may download and run a package of another author that is also named `roomservice`. */
const COMMAND = existsSync(join(PACKAGE_ROOT, 'package-lock.json')) ? 'npx roomservice' : 'roomservice';
const DOCUMENT = join(PACKAGE_ROOT, 'examples/demo/tenant.json');
const OWNER_EMAIL = 'owner@demo.example';
const FRONT_DESK_EMAIL = 'front-desk@demo.example';
/** examples/demo/tenant.json has no users, because each new user needs a password, and the repository should contain no password. */
const STAFF: { email: string; name: string; areas: Area[] }[] = [
  { email: FRONT_DESK_EMAIL, name: 'Inês Duarte', areas: ['hotel', 'rates'] },
  { email: 'kitchen@demo.example', name: 'Tomás Reis', areas: ['orders', 'menu'] },
];
/** The pages in docs/guides show numbers of free rooms only for other types, so the demo stay makes no number in them wrong. */
const BOOKED_ROOM_TYPE = 'Family';

export async function demo(context: Context, options: OutputOptions): Promise<void> {
  await withRuntime(context, async (runtime) => {
    const made = await makeDemo(runtime);
    context.terminal.printResult(options, made, describeDemo(made, addressOf(context.config)));
  });
}

/** Returns the URL for the printed calls. If the service uses any free port, the URL has the word PORT in its place. */
function addressOf({ publicUrl, host, port }: Config): string {
  const everywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
  const name = everywhere[host] ?? (isIPv6(host) ? `[${host}]` : host);
  return publicUrl ?? `http://${name}:${port === 0 ? 'PORT' : port}`;
}

async function readDemoDocument(): Promise<{ slug: string }> {
  return JSON.parse(await readFile(DOCUMENT, 'utf8')) as { slug: string };
}

type DemoParts = Pick<Runtime, 'db' | 'keyring'>;

/** Creates the demo tenant if it is missing. Always gives its owner and its staff a new password, and issues a new credential. */
async function makeDemo({ db, keyring }: Runtime) {
  const document = await readDemoDocument();
  const password = randomBytes(12).toString('base64url');
  const stored = await findTenantBySlug(db, document.slug);
  const tenant = stored ?? (await createDemoTenant({ db, keyring }, document, password));
  if (stored !== null) {
    for (const email of [OWNER_EMAIL, ...STAFF.map((person) => person.email)]) {
      await setPassword(db, stored.id, email, password);
    }
  }
  const { credentials } = createBusiness({ db, keyring });
  const credential = await credentials.create({ tenantId: tenant.id, type: 'operator', id: null }, 'Demo platform');
  return {
    owner: { email: OWNER_EMAIL, password },
    staff: STAFF.map(({ email }) => ({ email, password })),
    credential,
  };
}

async function createDemoTenant(parts: DemoParts, document: { slug: string }, password: string): Promise<Tenant> {
  const { db } = parts;
  const users = [
    { name: 'Ana Sequeira', email: OWNER_EMAIL, password, role: 'owner' },
    ...STAFF.map((person) => ({ ...person, password, role: 'staff' })),
  ];
  const { properties } = await applyTenantDocument(db, { ...document, users });
  const tenant = (await findTenantBySlug(db, document.slug)) as Tenant;
  await bookStay(parts, tenant, properties);
  return tenant;
}

/** Books a stay that arrives tomorrow, as a call of the front desk to `POST /v1/staff/reservations/` does. */
async function bookStay({ db, keyring }: DemoParts, tenant: Tenant, properties: AppliedTenant['properties']) {
  const person = (await listUsers(db, tenant.id)).find(({ email }) => email === FRONT_DESK_EMAIL);
  const roomType = properties.flatMap(({ room_types }) => room_types).find(({ name }) => name === BOOKED_ROOM_TYPE);
  if (person === undefined || roomType === undefined) {
    throw new Error(`demo/tenant.json has no room type "${BOOKED_ROOM_TYPE}"`);
  }
  const today = todayIn(tenant.timezone);
  const stay = {
    request_id: newId(),
    room_type_id: roomType.id,
    check_in: addDays(today, 1),
    check_out: addDays(today, 3),
    guests: 2,
    guest: { name: 'Beatriz Nunes', phone: '+351 900 222 333' },
  };
  const { reservations } = createBusiness({ db, keyring });
  await reservations.book(...houseBooking({ type: 'person', id: person.id, tenant }, stay));
}

/** Creates the demo tenant if the database has no tenant, and returns the text that says how to try it. */
export async function introduceDemo(runtime: Runtime, address: string): Promise<string> {
  return (await listTenants(runtime.db)).length === 0
    ? describeDemo(await makeDemo(runtime), address)
    : `"${COMMAND} demo" prints a new password and a new credential of the demo tenant. The old password then stops working.`;
}

/** A tenant with this slug but without this owner is a real tenant. */
export async function findDemoTenant(db: Database): Promise<Tenant | null> {
  return (await findDemoOwner(db))?.tenant ?? null;
}

async function findDemoOwner(db: Database): Promise<{ tenant: Tenant; id: string } | null> {
  const tenant = await findTenantBySlug(db, (await readDemoDocument()).slug);
  const users = tenant === null ? [] : await listUsers(db, tenant.id);
  const owner = users.find(({ email }) => email === OWNER_EMAIL);
  return tenant === null || owner === undefined ? null : { tenant, id: owner.id };
}

/**
 * Makes a link that signs in the owner of the demo tenant once, and ends the link of an earlier start. Returns the text with the link, or
 * null if there is no demo tenant. Only a terminal may show the text.
 */
export async function welcomeDemoOwner({ db, keyring }: DemoParts, address: string): Promise<string | null> {
  const owner = await findDemoOwner(db);
  if (owner === null) {
    return null;
  }
  const links = new Links({ db, pepper: keyring.pepper, mailer: null, baseUrl: () => address });
  const url = await links.issueWelcome(owner.tenant.id, owner.id);
  return `
  Console  ${url}

  The link signs you in as the owner of ${owner.tenant.name}, once, within ${WELCOME_MINUTES} minutes. The next start prints another.
`;
}

function describeDemo({ owner, staff, credential }: Awaited<ReturnType<typeof makeDemo>>, baseUrl: string): string {
  return `
  The demo tenant is Harbour House, a restaurant and a hotel. The secrets below are shown only once. "${COMMAND} demo" issues new ones.

  Owner     ${owner.email}
  Password  ${owner.password}
${staff.map(({ email }) => `  Staff     ${email}, with the same password\n`).join('')}
  Set the credential and the password in your shell, then read the menu:

  export BASE=${baseUrl} KEY=${credential.api_key} SECRET=${credential.api_secret}
  export PASSWORD=${owner.password}

  curl -s ${baseUrl}/v1/third-party/menu/ -H "X-API-Key: ${credential.api_key}" -H "X-API-Secret: ${credential.api_secret}"

  The README shows the next steps: an order and its events.
  ${baseUrl}/docs/guides/staff/ shows what the owner and the staff can do.
`;
}
