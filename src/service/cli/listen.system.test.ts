import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { verify } from '../../../examples/receiver/verify.ts';
import { cleanUp, newFolder, refuse, runCommand, startProgram, stop } from '#test/support/command.ts';
import { freePort } from '#test/support/free-port.ts';
import {
  type Listening,
  listenerEnv,
  type LocalRequest,
  type LocalServer,
  startListening,
  startLocalServer,
} from '#test/support/listening.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { causeEvent, eventually, moveOrder, placeOrder, register } from '#test/support/webhooks.ts';

let service: TestService;
let receiver: Receiver;
let tenant: TestTenant;
let stateHome: string;
let env: Record<string, string>;
const started: Listening[] = [];
const servers: LocalServer[] = [];

before(async () => {
  service = await startService({ worker: true, config: { webhookHeaderBrand: 'Harbour-House' } });
  receiver = await startReceiver();
});
beforeEach(async () => {
  tenant = await service.tenant();
  stateHome = await newFolder();
  env = listenerEnv(service.url, tenant.credential, stateHome);
});
afterEach(async () => {
  for (const listening of started.splice(0)) {
    listening.kill('SIGKILL');
    await listening.ended;
    assert.ok(!listening.output().includes(tenant.credential.api_secret), 'the API secret is never printed');
  }
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
after(async () => {
  await cleanUp();
  await receiver.close();
  await service.close();
});

async function listen(args: string[], environment = env): Promise<Listening> {
  const listening = await startListening(args, environment);
  started.push(listening);
  return listening;
}

async function localServer(answer?: (request: LocalRequest) => number | null): Promise<LocalServer> {
  const server = await startLocalServer(answer);
  servers.push(server);
  return server;
}

function secretOf(listening: Listening): string {
  return /signed with (\S+)/.exec(listening.output())?.[1] ?? '';
}

/** Verifies a signature as a receiver does, with the example code that partners copy. */
function isSigned(secret: string, { headers, rawBody }: LocalRequest): boolean {
  const header = (suffix: string) => String(headers[`x-harbour-house-${suffix}`]);
  return verify(secret, header('timestamp'), header('signature'), rawBody);
}

describe('roomservice listen: events', () => {
  it('listen prints only the events that occur after its start, each with local time, status and ids', async () => {
    await causeEvent(service, tenant);
    const listening = await listen([], { ...env, TZ: 'Asia/Kathmandu' });
    const { orderId } = await placeOrder(service, tenant.partner, 'späte "Bestellung"\u001b[2J');
    await moveOrder(service, tenant, orderId, 'confirmed');
    await moveOrder(service, tenant, orderId, 'ready');
    await eventually(() => listening.lines().length === 2, 'second line');
    const { body } = await service.call('GET', '/v1/third-party/events/?limit=3', { headers: tenant.partner });
    const [, ...happened] = body.results;
    const format = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'Asia/Kathmandu' });
    const expected = happened.map((event: { occurred_at: string; event_id: string; data: { status: string } }) =>
      [
        format.format(new Date(event.occurred_at)),
        'order.status_changed',
        event.data.status,
        `order_id=${orderId}`,
        String.raw`external_order_id="späte \"Bestellung\"\u001b[2J"`,
        `event_id=${event.event_id}`,
      ].join('  '),
    );
    assert.deepEqual(listening.lines(), expected);
  });

  it('listen --json prints one line per event with its fields and the outcome of forwarding; --events selects event types', async () => {
    const tally = { 'order.status_changed': 0 };
    const server = await localServer(() => (tally['order.status_changed'] += 1) && 202);
    const [all, some] = await Promise.all([
      listen(['--json']),
      listen(['--json', '--events', 'reservation.created, order.status_changed', '--forward-to', server.url]),
    ]);
    const none = await listen(['--events', 'reservation.cancelled']);
    const { orderId, externalId } = await causeEvent(service, tenant);
    const [plain, forwarded] = await eventually(() => {
      const lines = [all, some].map((each) => each.lines()[0]);
      return lines.every((line) => line !== undefined) && lines;
    }, 'line of each');
    const parsed = JSON.parse(plain ?? '');
    assert.deepEqual(parsed, {
      event: 'order.status_changed',
      event_id: parsed.event_id,
      occurred_at: parsed.occurred_at,
      data: { order_id: orderId, external_order_id: externalId, status: 'confirmed' },
      forwarded: null,
    });
    const { duration_ms } = JSON.parse(forwarded ?? '').forwarded;
    assert.equal(typeof duration_ms, 'number');
    const outcome = { http_status: 202, duration_ms, error: null, attempts: 1 };
    assert.deepEqual(JSON.parse(forwarded ?? ''), { ...parsed, forwarded: outcome });
    assert.deepEqual(none.lines(), []);
  });
});

describe('roomservice listen --forward-to', () => {
  it('listen posts the body and headers of a real delivery, but signs with its own secret instead of the webhook secret', async () => {
    const real = await register(service, tenant.partner, receiver.url);
    const server = await localServer();
    const listening = await listen(['--forward-to', server.url]);
    const { orderId } = await placeOrder(service, tenant.partner, 'Ü 🏨 "x" \u2028\u0001</script>');
    await moveOrder(service, tenant, orderId, 'confirmed');
    const [forwarded] = await server.waitFor(1);
    const delivered = await eventually(
      () => receiver.requests.find(({ rawBody }) => rawBody.includes(orderId)),
      'real delivery',
    );
    assert.ok(forwarded);
    assert.deepEqual(forwarded.rawBody, delivered.rawBody);
    const own = ['x-harbour-house-signature', 'x-harbour-house-timestamp', 'host', 'connection'];
    const shared = (headers: LocalRequest['headers']) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => !own.includes(name)));
    assert.deepEqual(shared(forwarded.headers), shared(delivered.headers));
    for (const name of ['X-Harbour-House-Signature', 'X-Harbour-House-Timestamp', 'X-Harbour-House-Event-Id']) {
      assert.ok(forwarded.headerNames.includes(name), name);
    }
    assert.equal(forwarded.path, '/hooks?from=listen');
    const secret = secretOf(listening);
    assert.match(secret, /^rss_[\w-]{43}$/);
    assert.ok(isSigned(secret, forwarded));
    assert.equal(isSigned(real, forwarded), false, 'the secret of the registered webhook does not sign it');
    await listening.prints(/^ {10}-> 204 in \d+ ms$/m);
  });

  it('listen keeps one secret for each API key in a file that only its owner can read, and uses this secret at each start', async () => {
    const target = `http://127.0.0.1:${await freePort()}/`;
    const other = listenerEnv(service.url, (await service.credential(tenant.tenantId)).credential, stateHome);
    const both = await Promise.all([listen(['--forward-to', target]), listen(['--forward-to', target])]);
    const [again, otherKey] = [await listen(['--forward-to', target]), await listen(['--forward-to', target], other)];
    const secrets = [...both, again, otherKey].map(secretOf);
    assert.deepEqual(secrets.slice(0, 3), Array(3).fill(secrets[0]), 'two concurrent starts agree on one secret');
    assert.notEqual(secrets[3], secrets[0]);
    const folder = join(stateHome, 'roomservice', 'listen');
    const files = await readdir(folder);
    assert.equal(files.length, 2);
    for (const file of files) {
      assert.equal((await stat(join(folder, file))).mode & 0o777, 0o600);
      assert.ok(secrets.includes((await readFile(join(folder, file), 'utf8')).trim()));
    }
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
  });

  it('listen forwards a failed event up to three times, then prints that the event is skipped, and keeps the order of events', async () => {
    const statuses = [500, 302, 200, 500, 500, 500];
    const server = await localServer(() => statuses.shift() ?? 204);
    const listening = await listen(['--forward-to', server.url]);
    const { orderId } = await placeOrder(service, tenant.partner);
    for (const status of ['confirmed', 'preparing', 'ready']) {
      await moveOrder(service, tenant, orderId, status);
    }
    const requests = await server.waitFor(7);
    assert.deepEqual(
      requests.map(({ rawBody }) => JSON.parse(rawBody.toString()).data.status),
      [...Array(3).fill('confirmed'), ...Array(3).fill('preparing'), 'ready'],
    );
    assert.ok(requests.every((request) => isSigned(secretOf(listening), request)));
    assert.deepEqual(requests[0]?.rawBody, requests[2]?.rawBody);
    assert.notEqual(
      requests[3]?.headers['x-harbour-house-timestamp'],
      requests[5]?.headers['x-harbour-house-timestamp'],
    );
    await listening.prints(/-> 204 in/);
    const answers = listening.lines().filter((line) => line.startsWith(' '));
    assert.deepEqual(
      answers.map((line) => /^ *-> (\d+)/.exec(line)?.[1] ?? line.trim()),
      [
        '500',
        '302',
        '200',
        '500',
        '500',
        '500',
        'not forwarded, because 3 attempts failed; the event stays in the feed',
        '204',
      ],
    );
  });

  it('listen accepts any certificate of a server on this machine', async () => {
    const untrusted = await listen(['--forward-to', receiver.url]);
    const { orderId } = await causeEvent(service, tenant);
    await untrusted.prints(/^ {10}-> 204 in/m);
    assert.ok(receiver.requests.some(({ rawBody }) => rawBody.includes(orderId)));
  });
});

describe('exit of roomservice listen', { timeout: 240_000 }, () => {
  it('listen exits 0 within three seconds on SIGINT and SIGTERM, even while it waits for the response to a forwarded event', async () => {
    const server = await localServer(() => null);
    const waiting = await listen(['--forward-to', server.url]);
    const idle = await listen(['--json']);
    await causeEvent(service, tenant);
    await server.waitFor(1);
    for (const [listening, signal] of [
      [waiting, 'SIGINT'],
      [idle, 'SIGTERM'],
    ] as const) {
      const askedAtMs = Date.now();
      listening.kill(signal);
      const { code, stderr } = await listening.ended;
      assert.deepEqual([code, Date.now() - askedAtMs < 3_000], [0, true]);
      assert.doesNotMatch(stderr, /Error/);
    }
  });

  it('listen exits 1 with a clear message if the service refuses its credential, at the start or later', async () => {
    const wrong = await runCommand(['listen'], { env: { ...env, ROOMSERVICE_API_SECRET: 'rss_wrong' } });
    const listening = await listen([]);
    const revoked = await service.call('POST', `/v1/third-party/credentials/${tenant.credential.id}/revoke/`, {
      headers: tenant.owner,
    });
    assert.equal(revoked.status, 200);
    for (const { code, stdout, stderr } of [wrong, await listening.ended]) {
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /^roomservice: http:\S+ refuses this credential \(401\)\. Check ROOMSERVICE_API_KEY/m);
      assert.ok(!stderr.includes('rss_wrong') && !stderr.includes(tenant.credential.api_secret));
    }
  });

  it('listen exits 1 with a clear message if a setting is missing, the service is far away without TLS, or the signing secret cannot be stored', async () => {
    const far = ['--url', 'http://service.invalid'];
    const allowed = startProgram(['listen', ...far, '--allow-plain-http'], { env });
    await allowed.prints(/service\.invalid is out of reach/);
    await stop(allowed);
    for (const [args, changes, expected] of [
      [[], { ROOMSERVICE_API_KEY: '' }, /^roomservice: ROOMSERVICE_API_KEY is missing: set/],
      [far, {}, /^roomservice: http:\/\/service\.invalid is on another machine and uses no TLS/],
      [
        ['--forward-to', 'http://localhost:1'],
        { XDG_STATE_HOME: '/dev/null' },
        /^roomservice: The signing secret cannot be stored in \/dev\/null\/.+ENOTDIR/,
      ],
    ] as const) {
      const printed = await refuse(['listen', ...args], { env: { ...env, ...changes } }, expected);
      assert.ok(!printed.includes(tenant.credential.api_secret));
    }
  });

  it('listen exits 2 with a clear message if an option is wrong', async () => {
    for (const [args, expected] of [
      [['--events', 'order.eaten'], /There is no event type "order\.eaten"\. The types are order\.status_changed, /],
      [['--forward-to', 'localhost:3000'], /such as http:\/\/localhost:3000\/hooks/],
      [['--forward-to', 'http://u:p@localhost/'], /without user name and password/],
      [['--api-secret', 'rss_x'], /unknown option/],
    ] as const) {
      const { code, stdout, stderr } = await runCommand(['listen', ...args], { env });
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, expected);
    }
  });
});
