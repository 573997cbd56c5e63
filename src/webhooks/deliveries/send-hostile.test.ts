import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { createWebhookSender, type SendOutcome, type WebhookSender } from './send.ts';

const TIMEOUT_MS = 1_000;
/** Far more than an honest machine under load needs to notice that a second is over. */
const SOON_MS = 4_000;
/** What the kernels of both sides may hold of an answer that nobody reads, and TLS on top. */
const UNREAD_BYTES = 16 * 1_048_576;

let receiver: Receiver;
let sender: WebhookSender;
const warnings: Error[] = [];
process.on('warning', (warning) => warnings.push(warning));

before(async () => {
  receiver = await startReceiver();
  sender = createWebhookSender({ allowPrivateNetwork: true, timeoutMs: TIMEOUT_MS });
});
after(async () => {
  await sender.close();
  await receiver.close();
});

/** Whatever a receiver did, the next one is served as ever, on time and without a warning. */
afterEach(async () => {
  receiver.answerWith(() => 204);
  const outcome = await sender.send({ url: receiver.url, headers: {}, body: '{}' });
  assert.equal(outcome.ok, true);
  assert.deepEqual(
    warnings.map(({ message }) => message),
    [],
  );
});

/** Posts to a receiver that treats the connection as `behave` says. Fails unless the send ends soon, after one POST. */
async function postTo(behave: (socket: Socket) => void): Promise<SendOutcome> {
  const requestsBefore = receiver.requests.length;
  receiver.answerWith(() => behave);
  const startedAt = performance.now();
  const outcome = await sender.send({ url: receiver.url, headers: {}, body: '{"event_id":"e-1"}' });
  assert.ok(performance.now() - startedAt < SOON_MS, 'the send took too long');
  assert.equal(receiver.requests.length, requestsBefore + 1);
  return outcome;
}

function assertFailed(outcome: SendOutcome, error: SendOutcome['error']): void {
  assert.deepEqual({ ...outcome, durationMs: 0 }, { ok: false, httpStatus: null, durationMs: 0, error });
}

function assertDelivered(outcome: SendOutcome, httpStatus: number): void {
  assert.deepEqual({ ...outcome, durationMs: 0 }, { ok: true, httpStatus, durationMs: 0, error: null });
}

/** Writes `chunk` again and again, as fast as it is taken. @returns the bytes taken, still counting */
function flood(socket: Socket, chunk: string): () => number {
  const more = (): void => {
    let isTaken = true;
    while (isTaken && !socket.destroyed) {
      isTaken = socket.write(chunk);
    }
  };
  socket.on('drain', more);
  more();
  return () => socket.bytesWritten;
}

/** Writes `text` endlessly, a byte each 20 ms. */
function dribble(socket: Socket, text: string): void {
  let sent = 0;
  const timer = setInterval(() => socket.write(text[sent++ % text.length] ?? ''), 20);
  socket.once('close', () => clearInterval(timer));
}

test('a receiver that never answers times out, on time', async () => {
  const outcome = await postTo(() => {});
  assertFailed(outcome, 'timeout');
  assert.ok(outcome.durationMs >= TIMEOUT_MS - 1);
});

test('a receiver that dribbles its headers times out: bytes do not move the deadline', async () => {
  assertFailed(
    await postTo((socket) => dribble(socket, 'HTTP/1.1 200 OK\r\nx-a: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')),
    'timeout',
  );
});

test('a reset before the answer is a reset', async () => {
  receiver.answerWith(() => 'reset');
  assertFailed(await sender.send({ url: receiver.url, headers: {}, body: '{}' }), 'connection_reset');
  assertFailed(await postTo((socket) => socket.destroy()), 'connection_reset');
  assertFailed(await postTo((socket) => socket.end('HTTP/1.1 200 OK\r\nx-a')), 'connection_reset');
});

test('the status decides: a body that never ends, is cut, or is not what was announced changes nothing', async () => {
  for (const rest of [
    'content-length: 1000\r\n\r\nabc',
    'transfer-encoding: chunked\r\n\r\nffff\r\nabc',
    'transfer-encoding: chunked\r\n\r\nnot a length\r\n',
    'content-length: 2\r\n\r\nmore than two',
    'content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc',
  ]) {
    assertDelivered(await postTo((socket) => socket.write(`HTTP/1.1 200 OK\r\n${rest}`)), 200);
    assertDelivered(await postTo((socket) => socket.end(`HTTP/1.1 201 Created\r\n${rest}`)), 201);
  }
});

test('a body that is dribbled is dropped at the deadline, and the connection with it', async () => {
  const openBefore = receiver.openConnections;
  const outcome = await postTo((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    dribble(socket, '1\r\na\r\n');
  });
  assertDelivered(outcome, 200);
  assert.ok(outcome.durationMs < TIMEOUT_MS, 'the duration is the time to the status');
  await sleep(50);
  assert.ok(receiver.openConnections <= openBefore);
});

test('gigabytes are not read, in whatever part of the answer they come', async () => {
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  for (const [head, endless, httpStatus] of [
    ['HTTP/1.1 200 OK\r\ncontent-length: 4000000000\r\n\r\n', 'x', 200],
    ['HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n', 'x', 200],
    [chunked, '1\r\nx\r\n', 200],
    [`${chunked}5;`, 'extension', 200],
    [`${chunked}0\r\n`, 'x-trailer: a\r\n', 200],
    ['HTTP/1.1 200 ', 'OK', null],
    ['HTTP/1.1 200 OK\r\nx-long: ', 'a', null],
    ['HTTP/1.1 200 OK\r\n', 'x-many: a\r\n', null],
    ['', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', null],
    ['', '\r\n', null],
  ] as const) {
    let taken = (): number => 0;
    const outcome = await postTo((socket) => {
      socket.write(head);
      taken = flood(socket, endless.repeat(65_536 / endless.length));
    });
    await sleep(50);
    assert.equal(outcome.httpStatus, httpStatus, `${head}${endless}`);
    assert.equal(outcome.error, httpStatus === null ? 'network_error' : null, `${head}${endless}`);
    assert.ok(taken() < UNREAD_BYTES, `${taken()} bytes of ${head}${endless} were taken`);
  }
});

test('a few interim answers are not held against a receiver', async () => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(3);
  assertDelivered(await postTo((socket) => socket.end(`${interim}HTTP/1.1 204 No Content\r\n\r\n`)), 204);
});

test('what is not HTTP, or an upgrade nobody asked for, is a failure', async () => {
  for (const text of [
    'garbage\r\n\r\n',
    'HTTP/9.9 200 OK\r\n\r\n',
    'HTTP/1.1 2000 OK\r\n\r\n',
    'HTTP/1.1 OK\r\n\r\n',
    'HTTP/1.1 099 Odd\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    'HTTP/1.1 200 OK\r\n: nameless\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    '\u0000'.repeat(100),
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ]) {
    const outcome = await postTo((socket) => socket.end(text));
    assert.equal(outcome.ok, false, text);
    assert.equal(outcome.httpStatus, null, text);
  }
});

test('a 204 with a body, and an answer nobody asked for, do not poison the sends that follow', async () => {
  const stray = 'HTTP/1.1 500 Stray\r\ncontent-length: 0\r\n\r\n';
  for (const text of [
    'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello',
    `HTTP/1.1 204 No Content\r\ncontent-length: ${stray.length}\r\n\r\n${stray}`,
    `HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n${stray}`,
  ]) {
    const outcome = await postTo((socket) => socket.write(text));
    assert.equal(outcome.ok, true, text);
    receiver.answerWith(() => 204);
    assertDelivered(await sender.send({ url: receiver.url, headers: {}, body: '{}' }), 204);
  }
});

test('odd header names and values in an answer do no harm', async () => {
  const odd = '__proto__: a\r\nconstructor: b\r\nx-latin: \u00e9\u00ff\r\nset-cookie: a=b\r\nset-cookie: c=d\r\n';
  assertDelivered(await postTo((socket) => socket.end(`HTTP/1.1 200 OK\r\n${odd}content-length: 0\r\n\r\n`)), 200);
  assert.equal(Object.hasOwn(Object.prototype, 'a'), false);
});

/** A port that takes TCP connections and does with them what it likes, before any TLS. */
async function postToPort(behave: (socket: Socket) => void): Promise<{ outcome: SendOutcome; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.resume();
    behave(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const outcome = await sender.send({ url: `https://127.0.0.1:${port}/`, headers: {}, body: '{}' });
  await sleep(50);
  const open = sockets.filter((socket) => !socket.destroyed);
  server.close();
  for (const socket of open) {
    socket.destroy();
  }
  return { outcome, sockets: open };
}

test('a port that never speaks TLS times out, and its connection does not stay', async () => {
  const { outcome, sockets } = await postToPort(() => {});
  assertFailed(outcome, 'timeout');
  assert.equal(sockets.length, 0);
});

test('plain HTTP on the port, or noise, is a TLS failure', async () => {
  const plain = await postToPort((socket) => socket.write('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'));
  assertFailed(plain.outcome, 'tls_failed');
  const noise = await postToPort((socket) => socket.write('220 mail.example ESMTP\r\n'));
  assertFailed(noise.outcome, 'tls_failed');
});

test('a connection that is closed or reset during the handshake is a reset', async () => {
  const closed = await postToPort((socket) => socket.end());
  assertFailed(closed.outcome, 'connection_reset');
  const reset = await postToPort((socket) => socket.once('data', () => socket.resetAndDestroy()));
  assertFailed(reset.outcome, 'connection_reset');
});
