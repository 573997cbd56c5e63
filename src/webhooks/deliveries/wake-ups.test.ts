import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { pino } from 'pino';
import { readConfig } from '#platform/config.ts';
import { type Listener, listenTo } from '#platform/db/notifications.ts';
import { startWorker, type Worker } from '#service/worker.ts';
import { type CredentialRef, eventInput, insertCredentials, writeEvent } from '#test/support/events.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { createTransactionWithEvents, type TransactionWithEvents } from '../events/events.ts';
import { readWakeUp, WAKE_UP_CHANNEL, createWakeUpSender } from './wake-ups.ts';

describe('notifications of new events', () => {
  let service: TestService;
  let receiver: Receiver;
  let tenantId: number;
  let transaction: TransactionWithEvents;
  let notifications: string[];
  let listener: Listener;
  let worker: Worker;

  before(async () => {
    service = await startService();
  });
  after(() => service.close());
  beforeEach(async () => {
    receiver = await startReceiver();
    ({ tenantId } = await service.tenant());
    transaction = createTransactionWithEvents(service.database.db, createWakeUpSender(service.database.db));
    notifications = [];
    listener = listenTo({
      url: service.database.url,
      channel: WAKE_UP_CHANNEL,
      onNotification: (payload) => notifications.push(payload),
    });
    await eventually(() => notifications.length === 1, 'begin of listening');
    // The worker waits at least 90 s between two polls. So if it sends an event during a test, a notification has
    // told it of the event.
    worker = startWorker({
      config: { ...readConfig({}), webhookAllowPrivateNetwork: true },
      db: service.database.db,
      databaseUrl: service.database.url,
      keyring: service.keyring,
      log: pino({ level: 'silent' }),
      pace: { pollEveryMs: 120_000 },
    });
  });
  afterEach(async () => {
    await Promise.all([worker.stop(0), listener.close(), receiver.close()]);
  });

  const credentials = (count: number) =>
    insertCredentials(
      service,
      tenantId,
      Array.from({ length: count }, (_, index) => `${receiver.url}/${index}`),
    );

  /**
   * Waits until the test has got a notification of an event. The worker has its own connection, and may send the event earlier than the
   * test gets the notification.
   */
  const firstNotification = () => eventually(() => notifications.length > 1, 'notification of an event');

  const first = async (count: number) => (await credentials(count))[0] as CredentialRef;

  it('if a process without a worker writes five events, the worker of another process gets database notifications and sends each event within 5 s', async () => {
    const credential = await first(1);
    for (let sent = 1; sent <= 5; sent += 1) {
      await writeEvent(transaction, credential);
      await receiver.waitFor(sent, 5_000);
    }
    assert.equal(receiver.requests.length, 5);
  });

  it('one notification names all credentials for which one transaction has written events', async () => {
    const all = await credentials(90);
    await transaction(async (_tx, record) => await record(...all.map((credential) => eventInput(credential))));
    await receiver.waitFor(90, 60_000);
    await firstNotification();
    const named = notifications.slice(1).map((payload) => readWakeUp(payload));
    assert.deepEqual(
      named.map((queues) => queues.length),
      [90],
    );
    assert.deepEqual(
      new Set(named[0]?.map(({ credentialId }) => credentialId)),
      new Set(all.map(({ credential }) => credential.id)),
    );
  });

  it('if one transaction writes events for 150 credentials, the database notification to the worker names no credential, but the worker still sends all 150 events', async () => {
    const all = await credentials(150);
    await transaction(async (_tx, record) => await record(...all.map((credential) => eventInput(credential))));
    await receiver.waitFor(150, 60_000);
    await firstNotification();
    assert.deepEqual(notifications.slice(1), ['']);
  });

  it('100 events that are committed at the same time cause fewer than 60 notifications, because several events share a notification', async () => {
    const [credential, other] = (await credentials(2)) as [CredentialRef, CredentialRef];
    await Promise.all(Array.from({ length: 100 }, () => writeEvent(transaction, credential)));
    // Notifications arrive in their order. So the notification of this event comes with or after those of the 100 events.
    await writeEvent(transaction, other);
    await eventually(
      () => notifications.some((payload) => payload.includes(other.credential.id)),
      'notification of the last event',
    );
    assert.ok(notifications.length < 60, `${notifications.length} notifications tell of 100 events`);
    await receiver.waitFor(101, 60_000);
  });

  it('readWakeUp returns an empty list for a text that is no list of credentials', () => {
    const id = '01890a5d-ac96-774b-bcce-b302099a8057';
    const url = 'https://receiver.test/hook?a=1';
    for (const payload of ['', ' ', 'x', id, `1 ${id}`, `1 ${id} ${url} `, `1 ${id} ${url}\n`, `-1 ${id} ${url}`]) {
      assert.deepEqual(readWakeUp(payload), []);
    }
    assert.deepEqual(readWakeUp(`7 ${id} ${url}`), [{ tenantId: 7, credentialId: id, webhookUrl: url }]);
  });
});
