import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  cleanUp,
  type Ended,
  newCertificateFile,
  runCommand,
  type Serving,
  startCommand,
  startServing,
} from '#test/support/command.ts';
import { openChannel, openHotel, type TestHotel } from '#test/support/hotel.ts';
import { type ReceivedRequest, type Receiver, startReceiver } from '#test/support/receiver.ts';
import { census } from '#test/support/rotation.ts';
import { call, startService, type TestService } from '#test/support/service.ts';
import { causeEvent, eventually, isSignedWith, listDeliveries, register } from '#test/support/webhooks.ts';

/** Number of partners that keep the same webhook during the test. */
const STEADY = 2;
/** Number of partners that register a new webhook before each event. */
const CHANGING = 3;
/**
 * Pause in milliseconds between two events of one partner, and between two rounds of channel calls. In each round, every channel makes one
 * call.
 */
const PAUSE_MS = 300;
const SETTLE_MS = 30_000;

interface Load {
  /** Webhook secrets by the path of the webhook. No path is used twice. */
  secrets: Map<string, string>;
  events: number;
  /** Response status of every call that a channel made. */
  calls: number[];
  isOver: boolean;
}

describe('roomservice keys rotate', () => {
  let service: TestService;
  let receiver: Receiver;
  let env: Record<string, string>;
  before(async () => {
    service = await startService();
    const { certificate, path } = await newCertificateFile();
    receiver = await startReceiver({ certificate });
    env = {
      DATABASE_URL: service.database.url,
      MASTER_KEY: service.masterKey.toString('base64'),
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      NODE_EXTRA_CA_CERTS: path,
      RATE_LIMIT_PER_MINUTE: '1000000',
      LOG_LEVEL: 'warn',
    };
  });
  after(async () => {
    await cleanUp();
    await service.close();
    await receiver.close();
  });

  const rotate = (...args: string[]) => runCommand(['keys', 'rotate', ...args], { env });

  async function encryptionKeys(): Promise<number[]> {
    const rows = await service.database.db
      .selectFrom('service_key')
      .select('version')
      .where('purpose', '=', 'encryption')
      .orderBy('version')
      .execute();
    return rows.map(({ version }) => version);
  }

  it('keys rotate under load causes no wrong signature, lost delivery or failed channel call, even if it is killed and rerun', async () => {
    const serving = [await startServing([], { env }), await startServing(['--only', 'worker'], { env })];
    const remote: TestService = { ...service, call: (...request) => call(serving[0]?.url ?? '', ...request) };
    const hotel = await openHotel(remote);
    const load: Load = { secrets: new Map(), events: 0, calls: [], isOver: false };
    const running = startLoad(remote, hotel, receiver, load);

    try {
      await eventually(() => load.events >= STEADY + CHANGING, 'events before the first rotation', SETTLE_MS);
      assertRotated(await rotate(), 2, [1]);
      assertRotated(await rotate(), 3, [2]);
      await interruptOne();
      await finishByTwo();
    } finally {
      load.isOver = true;
      await running;
    }
    await checkDeliveries(remote, hotel, load);
    const { keys, secrets } = await census(service);
    assert.deepEqual([keys, Object.keys(secrets)], [[4], ['4']]);
    await stop(serving);
  });

  function assertRotated({ code, stdout, stderr }: Ended, version: number, removed: number[]): void {
    assert.deepEqual([code, stderr], [0, '']);
    const pattern = /^Encryption key (\d+) is in use; (\d+) secrets re-encrypted; key (\d+) removed\.\n$/;
    const [, inUse, reencrypted, gone] = pattern.exec(stdout) ?? [];
    assert.deepEqual([Number(inUse), Number(gone)], [version, ...removed], stdout);
    assert.ok(Number(reencrypted) >= STEADY, stdout);
  }

  /**
   * Starts a rotation and kills the command when the database has two keys, the old and the new one. The rotation is then half done. Before
   * the command removes the old key, it waits, so the test has enough time to kill it.
   */
  async function interruptOne(): Promise<void> {
    const command = startCommand(['keys', 'rotate'], { env });
    await eventually(async () => (await encryptionKeys()).length === 2, 'second key', SETTLE_MS);
    command.kill('SIGKILL');
    await command.ended;
    assert.deepEqual(await encryptionKeys(), [3, 4]);
    await sleep(1_000);
  }

  async function finishByTwo(): Promise<void> {
    const [inWords, asJson] = await Promise.all([rotate(), rotate('--json')]);
    assert.deepEqual([inWords.code, inWords.stderr, asJson.code, asJson.stderr], [0, '', 0, '']);
    assert.match(
      inWords.stdout,
      /^Encryption key 4 is in use; \d+ secrets? re-encrypted; key 3 removed\.\n.*continued a rotation/,
    );
    const { version, reencrypted, removed } = JSON.parse(asJson.stdout);
    assert.deepEqual(JSON.parse(asJson.stdout), { version: 4, reencrypted, removed: [3] });
    assert.deepEqual([version, typeof reencrypted, removed], [4, 'number', [3]]);
    assert.deepEqual(await encryptionKeys(), [4]);
  }

  async function checkDeliveries(
    remote: TestService,
    hotel: TestHotel,
    { secrets, events, calls }: Load,
  ): Promise<void> {
    const deliveries = await eventually(
      async () => {
        const list = await listDeliveries(remote, hotel);
        return list.every(({ status }) => status !== 'pending') && list;
      },
      'end of all deliveries',
      SETTLE_MS,
    );
    assert.equal(deliveries.length, events);
    const failed = deliveries.filter(({ attempts }) => attempts.length !== 1 || attempts[0]?.http_status !== 204);
    assert.deepEqual(failed, []);
    assert.equal(receiver.requests.length, events);
    const isRight = (request: ReceivedRequest) => isSignedWith(secrets.get(request.path) ?? '', request);
    assert.equal(receiver.requests.filter((request) => !isRight(request)).length, 0);
    assert.ok(calls.length >= 50, `${calls.length} calls of channels`);
    assert.deepEqual(new Set(calls), new Set([201]));
  }

  it('keys rotate exits 1, names a secret that cannot be decrypted, and keeps the older encryption key', async () => {
    const tenant = await service.tenant();
    await register(service, tenant.partner, receiver.url);
    const [version = 0] = await encryptionKeys();
    await service.database.db
      .updateTable('credential')
      .set({ webhook_secret: Buffer.alloc(60) })
      .where('tenant_id', '=', tenant.tenantId)
      .where('id', '=', tenant.credential.id)
      .execute();
    const { code, stdout, stderr } = await rotate();
    assert.equal(code, 1);
    assert.match(
      stdout,
      new RegExp(`^Encryption key ${version + 1} is in use; \\d+ secrets re-encrypted; no key removed`),
    );
    const location = `webhook secret of ${tenant.tenantId} ${tenant.credential.id}`;
    assert.match(stderr, new RegExp(`^roomservice: Secrets that cannot be decrypted: 1 \\(${location}\\)\\. .+\\n$`));
    assert.deepEqual(await encryptionKeys(), [version, version + 1]);
  });

  it('keys exits 2 if it is called with an unknown option or without a subcommand', async () => {
    assert.equal((await rotate('--all')).code, 2);
    assert.equal((await runCommand(['keys'], { env })).code, 2);
  });
});

/**
 * Causes events of the partners, and sends calls of the channels, until `load.isOver` is true. In each round, every channel makes one call.
 * At the begin of every 20th round, one more channel is created.
 */
async function startLoad(service: TestService, hotel: TestHotel, receiver: Receiver, load: Load): Promise<void> {
  const registered = async (partner: Record<string, string>) => {
    const path = `/hook/${load.secrets.size}-${Math.random()}`;
    load.secrets.set(path, '');
    load.secrets.set(path, await register(service, partner, new URL(path, receiver.url).href));
  };
  const partners = await Promise.all(
    Array.from({ length: STEADY + CHANGING }, async () => (await service.credential(hotel.tenantId)).partner),
  );
  const sending = partners.map(async (partner, index) => {
    await registered(partner);
    for (; !load.isOver; await sleep(PAUSE_MS)) {
      if (index >= STEADY) {
        await registered(partner);
      }
      await causeEvent(service, hotel, partner);
      load.events += 1;
    }
  });
  const calling = (async () => {
    const channels = [await openChannel(service, hotel)];
    for (let round = 1; !load.isOver; round += 1, await sleep(PAUSE_MS)) {
      if (round % 20 === 0) {
        channels.push(await openChannel(service, hotel));
      }
      const answers = await Promise.all(channels.map((tell, index) => tell({ external_id: `${round}-${index}` })));
      load.calls.push(...answers.map(({ status }) => status));
    }
  })();
  await Promise.all([...sending, calling]);
}

async function stop(serving: Serving[]): Promise<void> {
  serving.forEach((each) => each.kill('SIGTERM'));
  for (const { code, stderr } of await Promise.all(serving.map(({ ended }) => ended))) {
    assert.deepEqual([code, stderr], [0, '']);
  }
}
