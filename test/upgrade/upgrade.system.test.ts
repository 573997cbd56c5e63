import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { sendReservation } from '../support/channel.ts';
import { cleanUp, newCertificateFile, newFolder, startServingProgram, succeed } from '../support/command.ts';
import { openTestServer } from '../support/database.ts';
import { readToEnd } from '../support/feed.ts';
import { RESERVATIONS } from '../support/hotel.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { call, type TestService } from '../support/service.ts';
import { OWNER_PASSWORD } from '../support/tenants.ts';
import { eventually, isSignedWith, placeOrder } from '../support/webhooks.ts';
import { type Dump, knownFields, MASTER_KEY, readAll, signIn } from './release.ts';

/** Releases whose databases the tests upgrade to this version. */
const RELEASES = ['1.0.0'];

for (const release of RELEASES) {
  describe(`upgrade of a database of version ${release}`, () => {
    const closers: (() => Promise<unknown>)[] = [];
    let dump: Dump;
    let url: string;
    let env: Record<string, string>;
    let service: TestService;
    let receiver: Receiver;

    before(async () => {
      const server = await openTestServer();
      const empty = new URL(server.url);
      empty.pathname = `/upgrade_${randomBytes(6).toString('hex')}`;
      url = server.url;
      await run(`CREATE DATABASE ${empty.pathname.slice(1)} ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0`);
      closers.push(() => server.close());
      url = empty.href;
      dump = JSON.parse(await readFile(join(import.meta.dirname, `${release}.json`), 'utf8'));
      await run(await readFile(join(import.meta.dirname, `${release}.sql`), 'utf8'));
      const { certificate, path } = await newCertificateFile();
      receiver = await startReceiver({ certificate });
      closers.unshift(() => receiver.close());
      env = {
        DATABASE_URL: url,
        MASTER_KEY,
        NODE_EXTRA_CA_CERTS: path,
        WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
        EVENT_RETENTION_DAYS: '3650', // Otherwise the service would remove the old events of the dump.
        LOG_LEVEL: 'warn',
      };
    });
    after(async () => {
      await cleanUp();
      for (const close of closers) {
        await close();
      }
    });

    async function run(sql: string): Promise<void> {
      const client = new pg.Client(url);
      await client.connect();
      await client.query(sql);
      await client.end();
    }

    it('this version can restore a backup from before the upgrade, with correct room counts for each night and readable secrets', async () => {
      const file = join(await newFolder(), 'before.backup');
      await succeed(['backup', file], { env });
      const { stdout } = await succeed(['backup', 'verify', file], { env });
      assert.match(stdout, /correct nights: 6\)\. The master key decrypts every secret \(2\)\.\n$/);
    });

    it('migrate applies the newer migrations, and then the API returns each field that the older release returned, with the same value', async () => {
      assert.match((await succeed(['migrate'], { env })).stdout, /^Applied: 0019_deliveries, /);
      const serving = await startServingProgram(['--only', 'api'], { env });
      service = { call: (...request) => call(serving.url, ...request) } as TestService;
      const owner = await signIn(service, 'owner@dumped.example', OWNER_PASSWORD);
      // The current version may have added fields to the responses, so only the fields that the older release returned are compared.
      assert.deepEqual(knownFields(await readAll(service, { ...dump, owner }), dump.answers), dump.answers);
      const { stdout: nights } = await succeed(['nights', 'verify'], { env });
      assert.match(nights, /^dumped: 6 nights checked, 0 with a wrong counter\n$/);
    });

    it('external ids, the feed cursor and the booking channel of the older release still work after the upgrade', async () => {
      const headers = dump.partner;
      const items = [{ item_id: 'WATER', quantity: 1 }];
      const order = { external_order_id: 'ready order', items };
      const again = await service.call('POST', '/v1/third-party/orders/', { headers, json: order });
      assert.deepEqual(
        [again.status, again.headers.get('idempotent-replayed'), again.body.status],
        [200, 'true', 'ready'],
      );
      const stay = await service.call('GET', `${RESERVATIONS}kept%20stay/`, { headers });
      const cancelled = await service.call('POST', `${RESERVATIONS}kept%20stay/cancel/`, { headers });
      assert.deepEqual([stay.body.status, cancelled.status, cancelled.body.status], ['confirmed', 200, 'cancelled']);
      const sold = { external_id: 'ota stay', status: 'cancelled', guest: { full_name: 'Bo Berg' } };
      const dates = { room_type_id: dump.roomType, check_in: '2035-05-01', check_out: '2035-05-07' };
      assert.equal((await sendReservation(service, dump.channel, { ...sold, ...dates })).status, 200);
      await placeOrder(service, headers);

      const { all } = await readToEnd(service, headers, dump.cursor);
      const earlier = (dump.answers['/v1/third-party/events/'] as { results: { event_id: string }[] }).results;
      const expected = earlier.slice(2).map(({ event_id }) => event_id);
      assert.deepEqual(
        all.slice(0, expected.length).map(({ event_id }) => event_id),
        expected,
      );
      assert.ok(all.some(({ event, data }) => event === 'reservation.cancelled' && data['status'] === 'cancelled'));
    });

    it('every event that the older release had not delivered is delivered once, signed with the webhook secret from the older release', async () => {
      await run(`UPDATE credential SET webhook_url = '${receiver.url}' WHERE audience = 'third_party'`);
      await startServingProgram(['--only', 'worker'], { env });
      const { ids } = await readToEnd(service, dump.partner);
      await eventually(() => receiver.requests.length >= ids.length, 'delivery of all events');
      const sent = receiver.requests.map(({ rawBody }) => JSON.parse(rawBody.toString()).event_id as string);
      assert.deepEqual(sent.sort(), ids.sort());
      assert.ok(receiver.requests.every((request) => isSignedWith(dump.webhookSecret, request)));
    });
  });
}
