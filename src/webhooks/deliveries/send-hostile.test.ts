import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { createWebhookSender, type SendOutcome, type WebhookSender } from './send.ts';

const TIMEOUT_MS = 1_000;
/** Time within which a send must end. It is much longer than `TIMEOUT_MS` of the sender, because a busy machine fires timers late. */
const SOON_MS = 4_000;
/** Maximum number of response bytes that the operating system and TLS may buffer after the sender has stopped reading. */
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

/**
 * In each test, a receiver sends a hostile response. After the test, checks that the sender still works with a healthy receiver, and that
 * Node has printed no warning.
 */
afterEach(async () => {
  receiver.answerWith(() => 204);
  const outcome = await sender.send({ url: receiver.url, headers: {}, body: '{}' });
  assert.equal(outcome.ok, true);
  assert.deepEqual(
    warnings.map(({ message }) => message),
    [],
  );
});

/**
 * Posts to a receiver that handles the connection with `behave`. Checks that the send ends within `SOON_MS`, and that the receiver gets one
 * POST.
 */
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
  assert.deepEqual({ ...outcome, durationMs: 0 }, { ok: false, httpStatus: null, durationMs: 0, error, answer: null });
}

function assertDelivered(outcome: SendOutcome, httpStatus: number): void {
  assert.deepEqual({ ...outcome, durationMs: 0 }, { ok: true, httpStatus, durationMs: 0, error: null, answer: null });
}

/**
 * Writes `chunk` again and again, as fast as the sender of the POST reads.
 * @returns a function that returns the number of bytes written so far
 */
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

/** Writes `text` again and again without end, one byte every 20 ms. */
function dribble(socket: Socket, text: string): void {
  let sent = 0;
  const timer = setInterval(() => socket.write(text[sent++ % text.length] ?? ''), 20);
  socket.once('close', () => clearInterval(timer));
}

test('a send to a receiver that never answers ends with a timeout after the time limit', async () => {
  const outcome = await postTo(() => {});
  assertFailed(outcome, 'timeout');
  assert.ok(outcome.durationMs >= TIMEOUT_MS - 1);
});

test('if the receiver sends its headers byte by byte, the send times out, because received bytes do not extend the deadline', async () => {
  assertFailed(
    await postTo((socket) => dribble(socket, 'HTTP/1.1 200 OK\r\nx-a: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')),
    'timeout',
  );
});

test('a send whose connection ends before the response head is complete fails with connection_reset', async () => {
  receiver.answerWith(() => 'reset');
  assertFailed(await sender.send({ url: receiver.url, headers: {}, body: '{}' }), 'connection_reset');
  assertFailed(await postTo((socket) => socket.destroy()), 'connection_reset');
  assertFailed(await postTo((socket) => socket.end('HTTP/1.1 200 OK\r\nx-a')), 'connection_reset');
});

test('a 2xx response is a success even if its body never ends, is cut off or is malformed', async () => {
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

test('if a body arrives byte by byte, the connection is closed at the deadline, and the outcome still has the status 200', async () => {
  const openBefore = receiver.openConnections;
  const outcome = await postTo((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    dribble(socket, '1\r\na\r\n');
  });
  assertDelivered(outcome, 200);
  assert.ok(outcome.durationMs < TIMEOUT_MS, 'the duration ends when the status was read');
  await sleep(50);
  assert.ok(receiver.openConnections <= openBefore);
});

test('send reads only a bounded part of a response whose status line, headers, interim responses, body or trailers never end', async () => {
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
    assert.ok(taken() < UNREAD_BYTES, `${taken()} bytes of ${head}${endless} were accepted`);
  }
});

test('a response after three interim 103 responses is a success', async () => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(3);
  assertDelivered(await postTo((socket) => socket.end(`${interim}HTTP/1.1 204 No Content\r\n\r\n`)), 204);
});

test('a response that is not valid HTTP, or that upgrades the connection, is a failure without a status', async () => {
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

test('if a receiver adds a body to a 204 response or sends two responses to one request, this send and the next send succeed', async () => {
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

test('response headers such as __proto__ or repeated cookies do not change the outcome of a send', async () => {
  const odd = '__proto__: a\r\nconstructor: b\r\nx-latin: \u00e9\u00ff\r\nset-cookie: a=b\r\nset-cookie: c=d\r\n';
  assertDelivered(await postTo((socket) => socket.end(`HTTP/1.1 200 OK\r\n${odd}content-length: 0\r\n\r\n`)), 200);
  assert.equal(Object.hasOwn(Object.prototype, 'a'), false);
});

/**
 * Posts to a TCP port that handles each connection with `behave` instead of a TLS handshake. Returns the outcome, and the sockets that are
 * still open 50 ms later.
 */
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

test('a send to a port that does not answer the TLS handshake times out, and its connection is closed', async () => {
  const { outcome, sockets } = await postToPort(() => {});
  assertFailed(outcome, 'timeout');
  assert.equal(sockets.length, 0);
});

test('if a port answers with plain HTTP or SMTP instead of TLS, the send fails with tls_failed', async () => {
  const plain = await postToPort((socket) => socket.write('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'));
  assertFailed(plain.outcome, 'tls_failed');
  const noise = await postToPort((socket) => socket.write('220 mail.example ESMTP\r\n'));
  assertFailed(noise.outcome, 'tls_failed');
});

test('a send whose connection is closed or reset during the TLS handshake fails with connection_reset', async () => {
  const closed = await postToPort((socket) => socket.end());
  assertFailed(closed.outcome, 'connection_reset');
  const reset = await postToPort((socket) => socket.once('data', () => socket.resetAndDestroy()));
  assertFailed(reset.outcome, 'connection_reset');
});
