/**
 * Fills a database through the commands and the API of a release, and dumps its schema and data. Run this program once for each release:
 *
 *   DATABASE_URL=… npx node test/upgrade/dump.ts VERSION FOLDER
 *
 * FOLDER is a checkout of the release with its packages. The database must be empty, and `pg_dump` must be on the PATH. The program writes
 * two files, `VERSION.json` and `VERSION.sql`. Commit both files. `upgrade.system.test.ts` then upgrades the dump.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeChannel, sendReservation } from '../support/channel.ts';
import { cleanUp, newFolder, startServingProgram, succeed } from '../support/command.ts';
import { readEvents } from '../support/feed.ts';
import { book, pmsHeaders, reservationPath, type TestHotel, writePlan } from '../support/hotel.ts';
import { orderPath, setOrderStatus } from '../support/restaurant.ts';
import type { Answer } from '../support/http.ts';
import { call, type TestService } from '../support/service.ts';
import { OWNER_PASSWORD, sampleHotel, sampleTenant } from '../support/tenants.ts';
import { placeOrder, register } from '../support/webhooks.ts';
import { type Dump, MASTER_KEY, readAll, signIn } from './release.ts';

const [version = '', folder = ''] = process.argv.slice(2);
const url = process.env['DATABASE_URL'] ?? '';

const HEADER =
  '-- Made by test/upgrade/dump.ts. It is one file, because pg_dump writes schema and data of a release as one script.\n';

const NIGHTS = { check_in: '2035-05-01', check_out: '2035-05-04' };

try {
  await main();
} finally {
  await cleanUp();
}

async function main(): Promise<void> {
  const options = { env: { DATABASE_URL: url, MASTER_KEY }, program: join(folder, 'bin/roomservice.js') };
  const document = sampleTenant({ slug: 'dumped', features: ['restaurant', 'hotel'], properties: sampleHotel() });
  const file = join(await newFolder(), 'tenant.json');
  await writeFile(file, JSON.stringify(document));
  await succeed(['tenant', 'apply', file], options);
  const serving = await startServingProgram(['--only', 'api'], options);
  const dump = await fill({ call: (...request) => call(serving.url, ...request) } as TestService);
  serving.kill('SIGTERM');
  await serving.ended;
  await writeFile(join(import.meta.dirname, `${version}.json`), `${JSON.stringify(dump, null, 2)}\n`);
  const sql = execFileSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', url], { encoding: 'utf8' });
  // Removes lines that begin with a backslash, because only psql understands them. Newer versions of pg_dump write such commands.
  await writeFile(join(import.meta.dirname, `${version}.sql`), HEADER + sql.replaceAll(/^\\.*\n/gm, ''));
}

/** Makes orders, stays, events, credentials, a webhook and a channel through the API of the release. */
async function fill(service: TestService): Promise<Dump> {
  const owner = await signIn(service, 'owner@dumped.example', OWNER_PASSWORD);
  const made = await service.call('POST', '/v1/third-party/credentials/', { headers: owner, json: { label: 'Old' } });
  const partner = { 'x-api-key': made.body.api_key, 'x-api-secret': made.body.api_secret };
  const tenant = { partner, owner, staff: owner } as unknown as TestHotel; // The helpers below need no other field.
  const webhookSecret = await register(service, partner, 'https://partner.example/hook');
  await placeOrders(service, tenant);
  const pms = await pmsHeaders(service, tenant);
  const channel = await makeChannel(service, tenant);
  const roomType = await takeRooms(service, tenant, pms);
  const sold = {
    external_id: 'ota stay',
    status: 'confirmed',
    guest: { full_name: 'Bo Berg' },
    room_type_id: roomType,
  };
  accepted(await sendReservation(service, channel, { ...sold, check_in: NIGHTS.check_in, check_out: '2035-05-07' }));
  const { next: cursor } = await readEvents(service, partner, '?limit=2');
  const answers = await readAll(service, { partner, pms, owner });
  return { partner, pms, channel, webhookSecret, cursor, roomType, answers };
}

async function placeOrders(service: TestService, tenant: TestHotel): Promise<void> {
  const { orderId } = await placeOrder(service, tenant.partner, 'ready order');
  for (const status of ['confirmed', 'preparing', 'ready']) {
    accepted(await setOrderStatus(service, tenant, orderId, status));
  }
  await placeOrder(service, tenant.partner, 'pending order');
  await placeOrder(service, tenant.partner, 'cancelled order');
  accepted(await service.call('POST', orderPath('cancelled order', 'cancel/'), { headers: tenant.partner }));
}

function accepted({ status, text }: Answer): void {
  assert.ok(status < 300, text);
}

/** Writes rates, books two stays in the room type Double and cancels one. @returns the id of the room type */
async function takeRooms(service: TestService, tenant: TestHotel, pms: Record<string, string>): Promise<string> {
  const properties = await service.call('GET', '/v1/channel-manager/pms/properties/', { headers: pms });
  const path = `/v1/channel-manager/pms/properties/${properties.body[0].id}/room-types/`;
  const { body: roomTypes } = await service.call('GET', path, { headers: pms });
  const double = roomTypes.find(({ name }: { name: string }) => name === 'Double');
  await writePlan(service, pms, 'rates', double.rate_plans[0].id, [{ date: '2035-05-02', price: '123.45' }]);
  const hotel = { ...tenant, roomTypes: { Double: double.id } };
  accepted(await book(service, hotel, { external_reservation_id: 'kept stay', ...NIGHTS }));
  accepted(await book(service, hotel, { external_reservation_id: 'cancelled stay', ...NIGHTS }));
  accepted(await service.call('POST', reservationPath('cancelled stay', 'cancel/'), { headers: tenant.partner }));
  return double.id;
}
