import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import {
  cleanUp,
  newCertificateFile,
  newFolder,
  runProgram,
  type Serving,
  startServing,
  startServingProgram,
  succeed,
} from './support/command.ts';
import { book, openHotel, reservationPath, type TestHotel } from './support/hotel.ts';
import { callUnchecked } from './support/http.ts';
import { makeNextVersion, NEXT_MIGRATION } from './support/next-version.ts';
import { signInForToken } from './support/people.ts';
import { type Receiver, startReceiver } from './support/receiver.ts';
import { startService, type TestService } from './support/service.ts';
import { OWNER_PASSWORD } from './support/tenants.ts';
import { eventually, isSignedWith, moveOrder, placeOrder, register } from './support/webhooks.ts';

const READS = [
  '/v1/third-party/menu/',
  '/v1/third-party/orders/',
  '/v1/third-party/hotels/rooms/',
  '/v1/third-party/hotels/reservations/',
];

describe('the next version of the service, which has one more migration', () => {
  let service: TestService;
  let hotel: TestHotel;
  let receiver: Receiver;
  let webhookSecret: string;
  let env: Record<string, string>;
  let program: string;
  let running: Serving;
  let next: Serving;

  before(async () => {
    const { certificate, path } = await newCertificateFile();
    [service, receiver, program] = await Promise.all([
      startService(),
      startReceiver({ certificate }),
      makeNextVersion(),
    ]);
    hotel = await openHotel(service);
    webhookSecret = await register(service, hotel.partner, receiver.url);
    await placeOrder(service, hotel.partner);
    await book(service, hotel, { external_reservation_id: 'kept stay' });
    env = {
      DATABASE_URL: service.database.url,
      MASTER_KEY: service.masterKey.toString('base64'),
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      NODE_EXTRA_CA_CERTS: path,
    };
    running = await startServing([], { env });
  });
  after(async () => {
    await cleanUp();
    await service.close();
    await receiver.close();
  });

  const at = ({ url }: Serving): TestService => ({
    ...service,
    call: (...request) => callUnchecked(url, ...request),
  });
  const readAll = async (from: TestService) =>
    await Promise.all(
      READS.map(async (path) => {
        const { status, body, text } = await from.call('GET', path, { headers: hotel.partner });
        assert.equal(status, 200, `${path}: ${text}`);
        return body;
      }),
    );
  /** Places an order at one version, changes its status at the other, and waits for the event. */
  async function orderThrough(one: TestService, other: TestService): Promise<void> {
    const { orderId } = await placeOrder(one, hotel.partner);
    const earlier = receiver.requests.length;
    const { email = '' } = hotel.document.users?.[0] ?? {};
    const { body } = await signInForToken(other, email, OWNER_PASSWORD);
    const bearer = { authorization: `Bearer ${body.access_token}` };
    await moveOrder(other, { ...hotel, owner: bearer, staff: bearer }, orderId, 'confirmed');
    await eventually(() => receiver.requests.length > earlier, 'delivery of the event');
    const request = receiver.requests.at(-1);
    assert.ok(request !== undefined && isSignedWith(webhookSecret, request));
  }

  it('the next version restores a backup of this version, and returns the same data', async () => {
    const file = join(await newFolder(), 'before.backup');
    await succeed(['backup', file], { env });
    const empty = new URL(service.database.url);
    empty.pathname = `/upgrade_${randomBytes(6).toString('hex')}`;
    const name = empty.pathname.slice(1);
    await sql.raw(`CREATE DATABASE ${name} ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0`).execute(service.database.db);
    const restored = { ...env, DATABASE_URL: empty.href };
    const { code, stderr } = await runProgram(['restore', file], { env: restored, program });
    assert.equal(code, 0, stderr);
    const serving = await startServingProgram(['--only', 'api'], { env: restored, program });
    assert.deepEqual(await readAll(at(serving)), await readAll(service));
    serving.kill('SIGTERM');
    await serving.ended;
    const { stdout } = await runProgram(['nights', 'verify'], { env: restored, program });
    assert.match(stdout, /, 0 with a wrong counter\n$/);
    await sql.raw(`DROP DATABASE ${name} WITH (FORCE)`).execute(service.database.db);
  });

  it('the next version migrates the database while this version runs, and this version continues to work', async () => {
    const { stdout } = await runProgram(['migrate'], { env, program });
    assert.equal(stdout, `Applied: ${NEXT_MIGRATION}\n`);
    await orderThrough(at(running), at(running));
  });

  it('processes of both versions serve the same orders and stays, and deliver their events', async () => {
    next = await startServingProgram([], { env, program });
    await orderThrough(at(running), at(next));
    await orderThrough(at(next), at(running));
    const booked = await book(at(next), hotel, { external_reservation_id: 'stay of the next version' });
    assert.equal(booked.status, 201, booked.text);
    for (const [from, id] of [
      [at(running), 'stay of the next version'],
      [at(next), 'kept stay'],
    ] as const) {
      const cancelled = await from.call('POST', reservationPath(id, 'cancel/'), { headers: hotel.partner });
      assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'cancelled']);
    }
  });

  it('this version starts again on the migrated database, says that a newer version has migrated it, and returns all data', async () => {
    const expected = await readAll(at(next));
    next.kill('SIGTERM');
    await next.ended;
    const serving = await startServing([], { env });
    assert.match(serving.output(), new RegExp(`was migrated by a newer version \\(${NEXT_MIGRATION}\\)`));
    assert.deepEqual(await readAll(at(serving)), expected);
    await orderThrough(at(serving), at(running));
  });
});
