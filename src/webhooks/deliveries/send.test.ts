import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { makeCertificate, trustCertificate } from '#test/support/certificate.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '#test/support/receiver.ts';
import { eventually } from '#test/support/webhooks.ts';
import type { HostLookup } from './vetting-connector.ts';
import { type Attempted, WebhookSender, type WebhookSenderOptions } from './attempt.ts';
import { SEND_ERRORS } from './send-error.ts';

const BODY = '{"event":"order.status_changed","name":"Zoë 🛎"}';
const closers: (() => Promise<void>)[] = [];

async function receiving(options: ReceiverOptions = {}): Promise<Receiver> {
  const receiver = await startReceiver({ certificate, ...options });
  closers.push(() => receiver.close());
  return receiver;
}

function sending(options: Partial<WebhookSenderOptions> = {}): WebhookSender {
  const sender = new WebhookSender({ allowPrivateNetwork: true, headerBrand: 'Service', ...options });
  closers.push(() => sender.close());
  return sender;
}

function post(sender: WebhookSender, url: string): Promise<Attempted> {
  return sender.attempt({ webhookUrl: url, eventId: 'e-1', body: BODY, secret: () => 'a secret' });
}

function failure(outcome: Attempted): Pick<Attempted, 'ok' | 'httpStatus' | 'error'> {
  const { ok, httpStatus, error } = outcome;
  return { ok, httpStatus, error };
}

function failed(error: Attempted['error'], httpStatus: number | null = null): ReturnType<typeof failure> {
  return { ok: false, httpStatus, error };
}

const lookupOf =
  (...addresses: string[]): HostLookup =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: 4 })));

const certificate = await makeCertificate({ hosts: ['localhost', '127.0.0.1', 'receiver.test', '*.many.test'] });
before(() => trustCertificate(certificate.cert));
const closeAll = async (): Promise<void> => {
  for (const close of closers.splice(0).toReversed()) {
    await close();
  }
};
afterEach(closeAll);
after(closeAll);

test('send posts the body byte for byte with its headers, and reports a 2xx response as a success', async () => {
  const receiver = await receiving({ answer: () => ({ status: 202, body: 'thanks' }) });
  const outcome = await post(sending(), `${receiver.url}?a=1&b=%20`);
  assert.deepEqual(failure(outcome), { ok: true, httpStatus: 202, error: null });
  assert.ok(outcome.durationMs >= 0 && outcome.durationMs < 10_000);
  const [request] = receiver.requests;
  assert.ok(request);
  assert.equal(request.method, 'POST');
  assert.equal(request.path, '/hook?a=1&b=%20');
  assert.deepEqual(request.rawBody, Buffer.from(BODY));
  assert.equal(request.headers['content-type'], 'application/json');
  assert.equal(request.headers['x-service-event-id'], 'e-1');
  assert.match(request.headers['user-agent'] ?? '', /^Roomservice\//);
  assert.equal(request.headers.host, `127.0.0.1:${receiver.port}`);
});

test('a 4xx or 5xx response is a failure, and the outcome has the HTTP status', async () => {
  const receiver = await receiving();
  const sender = sending();
  for (const status of [400, 404, 410, 429, 500, 503, 599]) {
    receiver.answerWith(() => status);
    assert.deepEqual(failure(await post(sender, receiver.url)), failed('http_status', status));
  }
});

test('the outcome says if the attempt failed before its request was sent, while no status was read, or because of the status', async () => {
  const receiver = await receiving();
  const sender = sending();
  const phases = [];
  for (const answer of [204, 500, 'reset'] as const) {
    receiver.answerWith(() => answer);
    phases.push((await post(sender, receiver.url)).phase);
  }
  await receiver.close();
  phases.push((await post(sender, receiver.url)).phase);
  assert.deepEqual(phases, [null, 'after', 'during', 'before']);
});

test('a 3xx response to a webhook is a failure, and the redirect is not followed', async () => {
  const target = await receiving();
  const receiver = await receiving();
  const sender = sending();
  for (const status of [300, 301, 302, 303, 304, 307, 308]) {
    receiver.answerWith(() => ({ status, headers: { location: target.url } }));
    const reason = status === 300 || status === 304 ? 'http_status' : 'redirect';
    assert.deepEqual(failure(await post(sender, receiver.url)), failed(reason, status));
  }
  assert.equal(target.requests.length, 0);
});

test('a send to a loopback address in any of five spellings, or to a host name with a loopback address, is refused without a connection', async () => {
  const receiver = await receiving();
  const sender = sending({ allowPrivateNetwork: false, lookup: lookupOf('8.8.8.8', '127.0.0.1') });
  for (const host of ['127.0.0.1', '2130706433', '127.1', '[::1]', '[::ffff:127.0.0.1]', 'receiver.test']) {
    assert.deepEqual(failure(await post(sender, `https://${host}:${receiver.port}/`)), failed('address_refused'), host);
  }
  const byRealLookup = sending({ allowPrivateNetwork: false });
  assert.deepEqual(failure(await post(byRealLookup, `https://localhost:${receiver.port}/`)), failed('address_refused'));
  assert.equal(receiver.connectionCount, 0);
});

test('send does not throw for a URL that the webhook registration would refuse, but reports address_refused', async () => {
  const sender = sending({ allowPrivateNetwork: false });
  for (const url of [
    'http://127.0.0.1:8080/',
    'https://a:b@127.0.0.1:8080/',
    'https://127.0.0.1:80/',
    'nonsense',
    '',
  ]) {
    assert.deepEqual(failure(await post(sender, url)), failed('address_refused'), url);
  }
});

test('send looks up a host name once for each connection, and connects to the address that this look-up returned', async () => {
  const receiver = await receiving();
  const answers = ['127.0.0.1', '127.0.0.2'];
  const lookup: HostLookup = () => Promise.resolve([{ address: answers.shift() ?? 'none', family: 4 }]);
  const outcome = await post(sending({ lookup }), `https://receiver.test:${receiver.port}/`);
  assert.deepEqual(failure(outcome), { ok: true, httpStatus: 204, error: null });
  assert.deepEqual(answers, ['127.0.0.2']);
  assert.equal(receiver.requests[0]?.headers.host, `receiver.test:${receiver.port}`);
});

test('the TLS handshake sends the host of the URL as the server name (SNI), unless the host is an IP address', async () => {
  const names: (string | false | null)[] = [];
  const answer = (socket: Socket): void => {
    names.push((socket as TLSSocket).servername);
    socket.end('HTTP/1.1 204 No Content\r\n\r\n');
  };
  const receiver = await receiving({ answer: () => answer });
  const sender = sending({ lookup: lookupOf('127.0.0.1') });
  for (const host of ['receiver.test', 'receiver.test.', '127.0.0.1']) {
    assert.equal((await post(sender, `https://${host}:${receiver.port}/`)).ok, true, host);
  }
  assert.deepEqual(names, ['receiver.test', 'receiver.test', false]);
});

test('if two addresses of a host refuse the connection, send tries the next address', async () => {
  const receiver = await receiving();
  const sender = sending({ lookup: lookupOf('127.0.0.2', '127.0.0.3', '127.0.0.1') });
  assert.equal((await post(sender, `https://receiver.test:${receiver.port}/`)).ok, true);
  assert.equal(receiver.requests.length, 1);
});

test('a send fails with dns_failed if the name has no address, and with connection_refused if no process listens on the port', async () => {
  const receiver = await receiving();
  const unresolved = sending({ lookup: () => Promise.reject(new Error('ENOTFOUND')) });
  assert.deepEqual(failure(await post(unresolved, 'https://nowhere.test/')), failed('dns_failed'));
  await receiver.close();
  closers.pop();
  assert.deepEqual(failure(await post(sending(), receiver.url)), failed('connection_refused'));
});

test('a send whose DNS look-up never answers ends with a timeout at its deadline', async () => {
  const sender = sending({ timeoutMs: 100, lookup: () => new Promise(() => {}) });
  const outcome = await post(sender, 'https://receiver.test/');
  assert.deepEqual(failure(outcome), failed('timeout'));
  // The default time limit is 10 s.
  assert.ok(outcome.durationMs >= 99 && outcome.durationMs < 8_000);
});

test('a send fails with tls_failed and posts nothing if the certificate is untrusted, expired or for another host', async () => {
  const dayAgo = new Date(Date.now() - 86_400_000);
  const untrusted = await receiving({ certificate: await makeCertificate() });
  const expired = await receiving({
    certificate: await makeCertificate({ notBefore: new Date(dayAgo.getTime() - 86_400_000), notAfter: dayAgo }),
  });
  const forOtherHost = await receiving({ certificate: await makeCertificate({ hosts: ['another.test'] }) });
  trustCertificate(expired.certificate.cert);
  trustCertificate(forOtherHost.certificate.cert);
  const sender = sending({ lookup: lookupOf('127.0.0.1') });
  for (const receiver of [untrusted, expired, forOtherHost]) {
    assert.deepEqual(failure(await post(sender, receiver.url)), failed('tls_failed'));
    assert.equal(receiver.requests.length, 0);
  }
  assert.equal((await post(sender, `https://another.test:${forOtherHost.port}/`)).ok, true);
});

test('a refused certificate is accepted after it was added to the trusted certificates of the process', async () => {
  const later = await makeCertificate();
  const receiver = await receiving({ certificate: later });
  const sender = sending();
  assert.deepEqual(failure(await post(sender, receiver.url)), failed('tls_failed'));
  trustCertificate(later.cert);
  assert.equal((await post(sender, receiver.url)).ok, true);
});

test('environment variables can add trusted certificates, but cannot turn off certificate checks or set a proxy', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-send-'));
  t.after(() => rm(folder, { recursive: true }));
  const certificateFile = join(folder, 'receiver.pem');
  await writeFile(certificateFile, certificate.cert);
  const receiver = await receiving();
  const script = `
    import { WebhookSender } from ${JSON.stringify(new URL('attempt.ts', import.meta.url).href)};
    const sender = new WebhookSender({ allowPrivateNetwork: true, headerBrand: 'Service' });
    const message = { webhookUrl: ${JSON.stringify(receiver.url)}, eventId: 'e-1', body: '{}', secret: () => 'a secret' };
    const outcome = await sender.attempt(message);
    console.log(outcome.error ?? outcome.httpStatus);
    await sender.close();
  `;
  const sendWith = async (env: Record<string, string>): Promise<string> => {
    const args = ['--no-warnings', '--input-type=module', '--eval', script];
    return (await promisify(execFile)(process.execPath, args, { env })).stdout.trim();
  };
  const proxy = 'http://127.0.0.1:9';
  assert.equal(await sendWith({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }), 'tls_failed');
  assert.equal(
    await sendWith({
      NODE_EXTRA_CA_CERTS: certificateFile,
      HTTPS_PROXY: proxy,
      ALL_PROXY: proxy,
      NODE_USE_ENV_PROXY: '1',
    }),
    '204',
  );
});

test('a send fails as aborted if the sender is closed before the send, during its look-up or during its request', async () => {
  const receiver = await receiving({ answer: () => 'hang' });
  const closed = sending();
  await closed.close();
  assert.deepEqual(failure(await post(closed, receiver.url)), failed('aborted'));

  const resolving = sending({ lookup: () => sleep(60, [{ address: '127.0.0.1', family: 4 }]) });
  const looking = post(resolving, `https://receiver.test:${receiver.port}/`);
  await sleep(20);
  void resolving.close();
  assert.deepEqual(failure(await looking), failed('aborted'));
  await sleep(100);
  assert.equal(receiver.connectionCount, 0);

  const sender = sending();
  const underWay = post(sender, receiver.url);
  await receiver.waitFor(1);
  void sender.close();
  assert.deepEqual(failure(await underWay), failed('aborted'));
  assert.deepEqual(failure(await post(sender, receiver.url)), failed('aborted'));
  await eventually(() => receiver.openConnections === 0, 'end of every connection', 3_000);
  assert.equal(receiver.requests.length, 1);
});

test('20 sends to one receiver, one after the other, use one connection', async () => {
  const receiver = await receiving({ answer: () => ({ status: 200, body: 'x'.repeat(10_000) }) });
  const sender = sending();
  for (let sent = 0; sent < 20; sent += 1) {
    assert.equal((await post(sender, receiver.url)).ok, true);
  }
  assert.equal(receiver.connectionCount, 1);
});

test('after the receiver has closed an idle connection, the next send opens a new connection and succeeds', async () => {
  const receiver = await receiving();
  const sender = sending();
  const closeSoon = (socket: Socket): void => {
    socket.write('HTTP/1.1 204 No Content\r\n\r\n');
    setTimeout(() => socket.end(), 20);
  };
  for (const answer of [{ status: 200, headers: { connection: 'close' } }, closeSoon]) {
    receiver.answerWith(() => answer);
    assert.equal((await post(sender, receiver.url)).ok, true);
    await eventually(() => receiver.openConnections === 0, 'closed connection');
    assert.equal((await post(sender, receiver.url)).ok, true);
    await eventually(() => receiver.openConnections === 0, 'closed connection');
  }
  assert.equal(receiver.requests.length, 4);
  assert.equal(receiver.connectionCount, 4);
});

test('a POST is not sent again if the receiver closes a reused connection before it answers', async () => {
  for (const cut of ['reset' as const, (socket: { destroy(): void }) => socket.destroy()]) {
    const receiver = await receiving();
    const sender = sending();
    assert.equal((await post(sender, receiver.url)).ok, true);
    receiver.answerWith(() => cut);
    assert.deepEqual(failure(await post(sender, receiver.url)), failed('connection_reset'));
    await sleep(50);
    assert.equal(receiver.requests.length, 2);
    assert.equal(receiver.connectionCount, 1);
  }
});

test('a send ends while 40 other sends to the same origin still hang', async () => {
  const receiver = await receiving({ answer: ({ path }) => (path === '/hang' ? 'hang' : 204) });
  const sender = sending({ timeoutMs: 60_000 });
  const hanging = Array.from({ length: 40 }, () => post(sender, new URL('/hang', receiver.url).href));
  let endedCount = 0;
  hanging.forEach((each) => void each.then(() => (endedCount += 1)));
  await receiver.waitFor(40);
  assert.equal((await post(sender, receiver.url)).ok, true);
  assert.equal(endedCount, 0);
  await sender.close();
  await Promise.all(hanging);
});

test('after 1,000 sends and close(), no open file or active resource is left, even if 100 of the sends fail', async () => {
  const receiver = await receiving({ answer: ({ path }) => (path === '/reset' ? 'reset' : 204) });
  const sender = sending();
  const sendMany = async (count: number): Promise<void> => {
    for (let sent = 0; sent < count; sent += 10) {
      const paths = Array.from({ length: 10 }, (_, index) => (index === 0 ? '/reset' : '/hook'));
      await Promise.all(paths.map((path) => post(sender, new URL(path, receiver.url).href)));
    }
  };
  const read = () => countBy([...readdirSync('/dev/fd').map(() => 'file'), ...process.getActiveResourcesInfo()]);
  await sleep(100);
  const atRest = read();
  // Other parts of the process may close an idle connection meanwhile, so fewer resources are no fault.
  const left = () => [...read()].filter(([kind, count]) => count > (atRest.get(kind) ?? 0));
  await sendMany(1_000);
  assert.equal(receiver.requests.length, 1_000);
  await sender.close();
  // The receiver closes its connections later. A connection that the sender has not closed would stay open for four seconds.
  for (let look = 0; look < 50 && left().length > 0; look += 1) {
    await sleep(20);
  }
  assert.deepEqual(left(), []);
});

test('at most 1,024 connections stay open after 1,060 concurrent sends', async () => {
  const receiver = await receiving();
  const sender = sending({ timeoutMs: 300_000 });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  receiver.answerWith(() => ({ status: 204, after: released }));
  const sends: Promise<Attempted>[] = [];
  while (sends.length < 1_060) {
    // Only 20 connections are opened at the same time, because a burst of TLS handshakes could be slower than the time limit.
    sends.push(...Array.from({ length: 20 }, () => post(sender, receiver.url)));
    await receiver.waitFor(sends.length, 60_000);
  }
  release();
  assert.ok((await Promise.all(sends)).every(({ ok }) => ok));
  // An idle connection ends by itself after four seconds, so this wait must be shorter.
  await eventually(() => receiver.openConnections <= 1_024, 'end of 36 connections', 3_000);
  assert.equal((await post(sender, receiver.url)).ok, true);
  assert.equal(receiver.connectionCount, 1_060);
});

test('closed connections to 1,050 origins do not count against the limit of connections that are kept open', async () => {
  const receiver = await receiving({ answer: () => ({ status: 200, headers: { connection: 'close' } }) });
  const sender = sending({ lookup: lookupOf('127.0.0.1') });
  for (let first = 0; first < 1_050; first += 30) {
    const hosts = Array.from({ length: 30 }, (_, index) => `receiver-${first + index}.many.test`);
    await Promise.all(hosts.map((host) => post(sender, `https://${host}:${receiver.port}/`)));
  }
  assert.equal(receiver.connectionCount, 1_050);
  receiver.answerWith(() => 204);
  for (let sent = 0; sent < 5; sent += 1) {
    assert.equal((await post(sender, receiver.url)).ok, true);
  }
  assert.equal(receiver.connectionCount, 1_051);
});

function countBy(kinds: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  kinds.forEach((kind) => counts.set(kind, (counts.get(kind) ?? 0) + 1));
  return counts;
}

test('the table of errors in the guide of webhooks has exactly the errors that an attempt may have', async () => {
  const guide = await readFile('docs/guides/webhooks.md', 'utf8');
  const [, table = ''] = guide.split('| `error` | what to check |\n|---|---|\n');
  const rows = table.split('\n\n', 1)[0]?.split('\n') ?? [];
  const explained = rows.flatMap((row) =>
    Array.from(row.split(' | ', 1)[0]?.matchAll(/`([^`]+)`/g) ?? [], ([, name]) => name),
  );
  assert.deepEqual(new Set(explained), new Set(SEND_ERRORS));
});
