import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cleanUp, refuse, runCommand, succeed } from '#test/support/command.ts';
import { readToEnd } from '#test/support/feed.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { envOf, startService, type TestService } from '#test/support/service.ts';
import { eventually, isSignedWith, register } from '#test/support/webhooks.ts';
import { EVENT_TYPES } from '#webhooks/events/event-types.ts';

interface Issued {
  id: string;
  api_key: string;
  api_secret: string;
}

/** These tests share one database and run in order. Each test continues from the state that the previous test leaves. */
describe('roomservice trigger', () => {
  let service: TestService;
  let receiver: Receiver;
  let env: Record<string, string>;
  let credential: Issued;

  before(async () => {
    service = await startService({ worker: true });
    receiver = await startReceiver();
    env = envOf(service);
  });
  after(async () => {
    await cleanUp();
    await receiver.close();
    await service.close();
  });

  const trigger = (args: string[], more = {}) => succeed(['trigger', ...args], { env: { ...env, ...more } });
  const refuseTrigger = (message: RegExp, ...args: string[]) => refuse(['trigger', ...args], { env }, message);
  const issue = async (): Promise<Issued> => JSON.parse((await succeed(['demo', '--json'], { env })).stdout).credential;
  const shortened = (apiKey: string) => `${apiKey.slice(0, 8)}…${apiKey.slice(-4)}`;
  const headersOf = ({ api_key, api_secret }: Issued) => ({ 'x-api-key': api_key, 'x-api-secret': api_secret });

  it('trigger exits 1 if there is no demo tenant, and names the command that creates it', async () => {
    const other = await service.tenant();
    for (const args of [[], ['--api-key', other.credential.api_key]]) {
      const message = /^roomservice: The database has no demo tenant.+"roomservice demo" creates it\.\n$/;
      await refuseTrigger(message, 'order.status_changed', ...args);
    }
    assert.deepEqual((await readToEnd(service, other.partner)).ids, []);
  });

  it('trigger makes an event of each of the four types; a running service delivers it, and the feed contains it', async () => {
    credential = await issue();
    const secret = await register(service, headersOf(credential), receiver.url);
    const statuses = ['confirmed', 'confirmed', 'completed', 'cancelled'];
    for (const [index, type] of EVENT_TYPES.entries()) {
      const made = JSON.parse((await trigger([type, '--json'])).stdout);
      assert.deepEqual([made.event, made.data.status], [type, statuses[index]]);
      const delivered = await eventually(
        () => receiver.requests.find(({ headers }) => headers['x-service-event-id'] === made.event_id),
        `delivery of ${type}`,
      );
      const { event, event_id, occurred_at, data } = made;
      assert.equal(delivered.rawBody.toString(), JSON.stringify({ event, event_id, occurred_at, data }));
      assert.ok(isSignedWith(secret, delivered));
      const last = (await readToEnd(service, headersOf(credential))).all.at(-1);
      // The state of the delivery depends on the moment. Everything else is as the command has printed it.
      assert.deepEqual(made, { ...last, delivery: made.delivery });
      assert.deepEqual(Object.keys(made), Object.keys(last ?? {}));
      assert.deepEqual(Object.keys(made.delivery), Object.keys(last?.delivery ?? {}));
      await assertRead(data);
    }
  });

  /** Checks that the order or reservation in the event data exists, and has the status that the event reports. */
  async function assertRead(data: Record<string, string>): Promise<void> {
    const path = data['external_order_id']
      ? `/v1/third-party/orders/${data['external_order_id']}/`
      : `/v1/third-party/hotels/reservations/${data['external_reservation_id']}/`;
    const answer = await service.call('GET', path, { headers: headersOf(credential) });
    assert.deepEqual([answer.status, answer.body.status], [200, data['status']], answer.text);
  }

  it('trigger prints the event, its credential and webhook URL, and how to read the event', async () => {
    const { stdout } = await trigger(['reservation.created']);
    assert.match(stdout, /^reservation\.created: confirmed\n {2}event_id {2}\S+\n {2}reservation_id {2}\S+\n/);
    assert.ok(
      stdout.includes(
        `The event belongs to the credential ${shortened(credential.api_key)}. It is sent to ${receiver.url}.`,
      ),
    );
    assert.match(stdout, /"roomservice listen"/);
  });

  it('trigger uses the newest active credential, or the credential whose API key is in an option or environment variable', async () => {
    const [second, third] = [await issue(), await issue()];
    const idOf = async (args: string[] = [], more = {}) => {
      const { event_id: id } = JSON.parse((await trigger(['order.status_changed', '--json', ...args], more)).stdout);
      const events = service.database.db.selectFrom('event').select('credential_id').where('id', '=', id);
      return (await events.executeTakeFirstOrThrow()).credential_id;
    };
    assert.equal(await idOf(), third.id);
    await service.database.db.updateTable('credential').set({ is_active: false }).where('id', '=', third.id).execute();
    assert.equal(await idOf(), second.id);
    assert.equal(await idOf(['--api-key', credential.api_key]), credential.id);
    for (const name of ['ROOMSERVICE_API_KEY', 'KEY']) {
      assert.equal(await idOf([], { [name]: credential.api_key }), credential.id, name);
    }
    await refuseTrigger(new RegExp(third.api_key), 'order.status_changed', '--api-key', third.api_key);
    const short = shortened(credential.api_key);
    await refuseTrigger(/lists show only a part of each key/, 'order.status_changed', '--api-key', short);
  });

  it('trigger exits 1 and makes no event if the API key belongs to another tenant', async () => {
    const other = await service.tenant();
    const message = /^roomservice: The demo tenant has no active credential with the API key rsk_/;
    await refuseTrigger(message, 'reservation.created', '--api-key', other.credential.api_key);
    assert.deepEqual((await readToEnd(service, other.partner)).ids, []);
  });

  it('if the event type is unknown or missing, trigger exits 2 with a message about the event type', async () => {
    for (const args of [[], ['order.eaten']]) {
      const { code, stdout, stderr } = await runCommand(['trigger', ...args], { env });
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /order\.status_changed|missing required argument/);
    }
  });

  it('trigger exits 1 with a message about free rooms if the demo tenant has no free room', async () => {
    await service.database.db.updateTable('room_type').set({ physical_capacity: 0 }).execute();
    await refuseTrigger(/^roomservice: The demo tenant has no free room/, 'reservation.created');
  });
});
