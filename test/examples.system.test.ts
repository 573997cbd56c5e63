import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from './support/texts.ts';
import { verify } from '../examples/receiver/verify.ts';
import { Running } from '../scripts/running.ts';
import { signBody } from '#webhooks/deliveries/signature.ts';
import { trustCertificate } from './support/certificate.ts';
import { freePort } from './support/free-port.ts';
import { startService, type TestService, type TestTenant } from './support/service.ts';

const TIMEOUT_MS = 60_000;
const repository = join(import.meta.dirname, '..');

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

describe('verify() of the example receiver', () => {
  const secret = 'a secret of the webhook';
  const body = Buffer.from('{"event":"order.status_changed"}');

  test('verify() of the example receiver accepts every body that the service signed, with any secret', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, minLength: 1 }), fc.uint8Array(), (anySecret, bytes) => {
        const [now, raw] = [nowSeconds(), Buffer.from(bytes)];
        return verify(anySecret, String(now), signBody(anySecret, now, raw), raw);
      }),
    );
  });

  test('verify() of the example receiver refuses a body in which one bit has changed, for each bit of the body', () => {
    const now = nowSeconds();
    const signature = signBody(secret, now, body);
    for (let bit = 0; bit < body.length * 8; bit += 1) {
      const changed = Buffer.from(body);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      assert.equal(verify(secret, String(now), signature, changed), false);
    }
  });

  test('verify() of the example receiver refuses a body that was signed with another secret or for another timestamp', () => {
    const now = nowSeconds();
    assert.equal(verify(`${secret} `, String(now), signBody(secret, now, body), body), false);
    assert.equal(verify(secret, String(now - 1), signBody(secret, now, body), body), false);
  });

  test('verify() of the example receiver accepts a signature by one of several secrets, and refuses an empty secret', () => {
    const now = nowSeconds();
    assert.equal(verify(['another', secret], String(now), signBody(secret, now, body), body), true);
    assert.equal(verify([], String(now), signBody(secret, now, body), body), false);
    assert.equal(verify(['', secret], String(now), signBody('', now, body), body), false);
  });

  test('verify() of the example receiver accepts a timestamp that is 295 s in the past or future, and refuses a difference of 305 s', () => {
    const isAccepted = (timestamp: number) =>
      verify(secret, String(timestamp), signBody(secret, timestamp, body), body);
    assert.deepEqual(
      [-295, -30, 0, 30, 295].map((age) => isAccepted(nowSeconds() - age)),
      Array(5).fill(true),
    );
    assert.deepEqual(
      [-3600, -305, 305, 3600].map((age) => isAccepted(nowSeconds() - age)),
      Array(4).fill(false),
    );
  });

  test('verify() of the example receiver refuses malformed headers and does not throw', () => {
    fc.assert(fc.property(fc.string(), (signature) => !verify(secret, String(nowSeconds()), signature, body)));
    const forms = ['', ' ', 'NaN', 'Infinity', `${nowSeconds()}.0`, ` ${nowSeconds()}`, `-${nowSeconds()}`, '1e9'];
    for (const timestamp of forms) {
      assert.equal(verify(secret, timestamp, signBody(secret, Number(timestamp), body), body), false, timestamp);
    }
  });
});

describe('the example receiver', () => {
  let service: TestService;
  let tenant: TestTenant;
  let folder: string;
  const started: Running[] = [];

  before(async () => {
    service = await startService({ worker: true });
    tenant = await service.tenant();
    folder = await realpath(await mkdtemp(join(tmpdir(), 'roomservice-receiver-')));
  });

  after(async () => {
    for (const receiver of started) {
      receiver.signal('SIGKILL');
    }
    await Promise.all(started.map((receiver) => receiver.ended));
    await service.close();
    await rm(folder, { recursive: true });
  });

  function run(environment: Record<string, string> = {}): Running {
    const receiver = new Running(`"${process.execPath}" examples/receiver/receiver.ts`, {
      cwd: repository,
      environment: { PORT: '0', RECEIVER_DIR: folder, ...environment },
    });
    started.push(receiver);
    return receiver;
  }

  /**
   * Starts the example receiver with a credential, so that it registers its URL with the service.
   * @returns the receiver and its URL, https://localhost:<port>/hooks
   */
  async function runRegistered(port = '0'): Promise<[Running, string]> {
    const { api_key: KEY, api_secret: SECRET } = tenant.credential;
    const receiver = run({ BASE: service.url, KEY, SECRET, PORT: port });
    const [, hooks = ''] = await receiver.waitFor(/^Receiving on (\S+)$/m, TIMEOUT_MS);
    return [receiver, hooks];
  }

  /**
   * Places an order and sets its status.
   * @returns the external id of the order
   */
  async function changeAnOrder(status: string): Promise<string> {
    const externalId = `order-${randomUUID()}`;
    const json = { external_order_id: externalId, items: [{ item_id: 'WATER', quantity: 1 }] };
    const placed = await service.call('POST', '/v1/third-party/orders/', { headers: tenant.partner, json });
    assert.equal(placed.status, 201);
    const path = `/v1/staff/orders/${placed.body.order_id}/status/`;
    assert.equal((await service.call('POST', path, { headers: tenant.staff, json: { status } })).status, 200);
    return externalId;
  }

  test('the example receiver without a credential makes a certificate, prints how to start the service, and ends', async () => {
    const receiver = run();
    const [, path = ''] = await receiver.waitFor(
      /^ {2}WEBHOOK_ALLOW_\S+=true NODE_EXTRA_CA_CERTS=(\S+) npm start$/m,
      TIMEOUT_MS,
    );
    assert.equal(await receiver.ended, 0);
    assert.equal(resolve(repository, path), join(folder, 'certificate.pem'));
    const certificate = await readFile(join(folder, 'certificate.pem'), 'utf8');
    assert.match(certificate, /^-----BEGIN CERTIFICATE-----/);
    assert.equal((await stat(join(folder, 'key.pem'))).mode & 0o777, 0o600);
    // The service of this test runs in the test process, which has already started. So NODE_EXTRA_CA_CERTS has no effect.
    trustCertificate(certificate);
  });

  test('the example receiver registers itself with the service and verifies the event of an order', async () => {
    const [receiver] = await runRegistered();
    const externalId = await changeAnOrder('preparing');
    await receiver.waitFor(
      new RegExp(`^verified order\\.status_changed "${externalId}" status preparing$`, 'm'),
      TIMEOUT_MS,
    );
    assert.equal((await stat(join(folder, 'registration.json'))).mode & 0o777, 0o600);
  });

  test('a restarted example receiver keeps its URL and secret, or registers a new URL if its registration file is lost', async () => {
    // The port is not from the range of outgoing connections. So no connection of another test takes it between the end of a receiver and
    // the start of the next one.
    const port = String(await freePort());
    const [first] = await runRegistered(port);
    const registered = /^Registered (\S+)$/m;
    const [, url] = await first.waitFor(registered, TIMEOUT_MS);
    first.signal('SIGKILL');
    await first.ended;

    const [second] = await runRegistered(port);
    assert.equal((await second.waitFor(registered, 0))[1], url);
    await second.waitFor(new RegExp(`^verified .*"${await changeAnOrder('ready')}"`, 'm'), TIMEOUT_MS);
    second.signal('SIGKILL');
    await second.ended;

    await rm(join(folder, 'registration.json'));
    const [third] = await runRegistered(port);
    assert.notEqual((await third.waitFor(registered, 0))[1], url);
    await third.waitFor(new RegExp(`^verified .*"${await changeAnOrder('ready')}"`, 'm'), TIMEOUT_MS);
  });

  describe('the example receiver with WEBHOOK_SECRET set', () => {
    const secret = 'rss_of_a_registration_by_hand';
    let receiver: Running;
    let hooks: string;

    before(async () => {
      receiver = run({ WEBHOOK_SECRET: secret });
      [, hooks = ''] = await receiver.waitFor(/^Receiving on (\S+)$/m, TIMEOUT_MS);
    });

    async function post(body: string, signedWith = secret): Promise<number> {
      const now = nowSeconds();
      const headers = { 'x-service-timestamp': `${now}`, 'x-service-signature': signBody(signedWith, now, body) };
      return (await fetch(hooks, { method: 'POST', headers, body })).status;
    }

    function event(id: string): string {
      return JSON.stringify({
        event: 'order.status_changed',
        event_id: id,
        data: { external_order_id: id, status: 'ready' },
      });
    }

    test('204: the example receiver processes an event only once if the event is delivered twice', async () => {
      assert.deepEqual([await post(event('twice')), await post(event('twice'))], [204, 204]);
      await receiver.waitFor(/^repeated order\.status_changed twice$/m, TIMEOUT_MS);
      assert.equal(receiver.output.match(/^verified .*"twice"/gm)?.length, 1);
    });

    test('204: the example receiver accepts a signed test call, and does not process it as an event', async () => {
      const call = JSON.stringify({ test: true, event_id: 'a-test', occurred_at: new Date().toISOString() });
      assert.equal(await post(call), 204);
      await receiver.waitFor(/^verified a test call a-test$/m, TIMEOUT_MS);
    });

    test('401: the example receiver refuses an event with a wrong signature or without signature headers', async () => {
      assert.equal(await post(event('forged'), 'rss_guessed'), 401);
      assert.equal((await fetch(hooks, { method: 'POST', body: event('forged') })).status, 401);
      assert.doesNotMatch(receiver.output, /"forged"/);
    });

    test('404: the example receiver refuses a POST to a path other than its webhook path, and a GET to its webhook path', async () => {
      assert.equal((await fetch(`${hooks}-not`, { method: 'POST', body: '{}' })).status, 404);
      assert.equal((await fetch(hooks)).status, 404);
    });

    test('413: the example receiver refuses a body of 200,000 bytes', async () => {
      assert.equal(await post('x'.repeat(200_000)), 413);
    });
  });
});
