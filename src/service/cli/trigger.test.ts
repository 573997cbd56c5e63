import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cleanUp, newFolder, runCommand } from '#test/support/command.ts';
import { readToEnd } from '#test/support/feed.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { eventually, isSignedWith, register } from '#test/support/webhooks.ts';
import { EVENT_TYPES } from '#webhooks/events/event-types.ts';

/** What a command prints of the credential that it issues. */
interface Issued {
  id: string;
  api_key: string;
  api_secret: string;
}

/** One story of one database, told in order: each part goes on from the one before. */
describe('roomservice trigger', () => {
  let service: TestService;
  let receiver: Receiver;
  let env: Record<string, string>;
  let credential: Issued;

  before(async () => {
    service = await startService({ worker: true });
    receiver = await startReceiver();
    env = { DATABASE_URL: service.database.url, MASTER_KEY: service.masterKey.toString('base64') };
  });
  after(async () => {
    await cleanUp();
    await receiver.close();
    await service.close();
  });

  const trigger = (...args: string[]) => runCommand(['trigger', ...args], { env });
  const issue = async (): Promise<Issued> =>
    JSON.parse((await runCommand(['demo', '--json'], { env })).stdout).credential;
  const shortened = (apiKey: string) => `${apiKey.slice(0, 8)}…${apiKey.slice(-4)}`;
  const headersOf = ({ api_key, api_secret }: Issued) => ({ 'x-api-key': api_key, 'x-api-secret': api_secret });

  it('1: ends so where there is no demo tenant, whatever others there are, and says what makes it', async () => {
    const other = await service.tenant();
    for (const args of [[], ['--api-key', other.credential.api_key]]) {
      const { code, stdout, stderr } = await trigger('order.status_changed', ...args);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /^roomservice: There is no demo tenant here.+"roomservice demo" makes it\.\n$/);
    }
    assert.deepEqual((await readToEnd(service, other.partner)).ids, []);
  });

  it('0: makes each of the four events, which a running service delivers and the feed shows', async () => {
    credential = await issue();
    const secret = await register(service, headersOf(credential), receiver.url);
    const statuses = ['confirmed', 'confirmed', 'completed', 'cancelled'];
    for (const [index, type] of EVENT_TYPES.entries()) {
      const { code, stdout, stderr } = await trigger(type, '--json');
      assert.equal(code, 0, stderr);
      const made = JSON.parse(stdout);
      assert.deepEqual([made.event, made.data.status], [type, statuses[index]]);
      assert.deepEqual(made.credential, { id: credential.id, api_key: shortened(credential.api_key) });
      const delivered = await eventually(
        () => receiver.requests.find(({ headers }) => headers['x-service-event-id'] === made.event_id),
        `delivery of ${type}`,
      );
      const { event, event_id, occurred_at, data } = made;
      assert.equal(delivered.rawBody.toString(), JSON.stringify({ event, event_id, occurred_at, data }));
      assert.ok(isSignedWith(secret, delivered));
      const { ids } = await readToEnd(service, headersOf(credential));
      assert.equal(ids.at(-1), event_id, 'the event that was asked for is the last');
      await assertRead(data);
    }
  });

  /** What the event tells of is there, with the status it tells. */
  async function assertRead(data: Record<string, string>): Promise<void> {
    const path = data['external_order_id']
      ? `/v1/third-party/orders/${data['external_order_id']}/`
      : `/v1/third-party/hotels/reservations/${data['external_reservation_id']}/`;
    const answer = await service.call('GET', path, { headers: headersOf(credential) });
    assert.deepEqual([answer.status, answer.body.status], [200, data['status']], answer.text);
  }

  it('0: says in words what it made, for whom, and where to see it', async () => {
    const { code, stdout } = await trigger('reservation.created');
    assert.equal(code, 0);
    assert.match(stdout, /^reservation\.created: confirmed\n {2}event_id {2}\S+\n {2}reservation_id {2}\S+\n/);
    assert.ok(stdout.includes(`of the credential ${shortened(credential.api_key)}. It is sent to ${receiver.url}.`));
    assert.match(stdout, /"roomservice listen"/);
  });

  it('0: makes it for the newest active credential, or for the one whose key is given or in the environment', async () => {
    const [second, third] = [await issue(), await issue()];
    const idOf = async (...args: string[]) =>
      JSON.parse((await trigger('order.status_changed', '--json', ...args)).stdout).credential.id;
    assert.equal(await idOf(), third.id);
    await service.database.db.updateTable('credential').set({ is_active: false }).where('id', '=', third.id).execute();
    assert.equal(await idOf(), second.id);
    assert.equal(await idOf('--api-key', credential.api_key), credential.id);
    for (const name of ['ROOMSERVICE_API_KEY', 'KEY']) {
      const ofShell = await runCommand(['trigger', 'order.status_changed', '--json'], {
        env: { ...env, [name]: credential.api_key },
      });
      assert.equal(JSON.parse(ofShell.stdout).credential.id, credential.id, name);
    }
    const revoked = await trigger('order.status_changed', '--api-key', third.api_key);
    assert.equal(revoked.code, 1);
    assert.ok(revoked.stderr.includes(third.api_key));
    const short = await trigger('order.status_changed', '--api-key', shortened(credential.api_key));
    assert.equal(short.code, 1);
    assert.match(short.stderr, /lists show keys shortened/);
  });

  it('1: ends so for a credential of another tenant, and makes nothing', async () => {
    const other = await service.tenant();
    const { code, stdout, stderr } = await trigger('reservation.created', '--api-key', other.credential.api_key);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^roomservice: The demo tenant has no active credential with the API key rsk_/);
    assert.deepEqual((await readToEnd(service, other.partner)).ids, []);
  });

  it('1: ends so where there is no database, and makes none', async () => {
    const dataDir = join(await newFolder(), 'data');
    for (const args of [
      ['trigger', 'order.status_changed'],
      ['nights', 'verify'],
      ['keys', 'rotate'],
    ]) {
      const { code, stderr } = await runCommand(args, { env: { DATA_DIR: dataDir } });
      assert.equal(code, 1);
      assert.equal(
        stderr,
        `roomservice: There is no database in ${dataDir}. Set DATA_DIR (or DATABASE_URL) to what the service has.\n`,
      );
      assert.equal(existsSync(dataDir), false);
    }
  });

  it('2: ends so for an event that there is not, and names those that there are', async () => {
    for (const args of [[], ['order.eaten']]) {
      const { code, stdout, stderr } = await trigger(...args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /order\.status_changed|missing required argument/);
    }
  });

  it('1: ends so where no room is left, and says so', async () => {
    await service.database.db.updateTable('room_type').set({ physical_capacity: 0 }).execute();
    const { code, stderr } = await trigger('reservation.created');
    assert.equal(code, 1);
    assert.match(stderr, /^roomservice: The demo tenant has no room left/);
  });
});
