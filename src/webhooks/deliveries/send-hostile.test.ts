import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, afterEach, before, describe, it, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { eventually } from '#test/support/webhooks.ts';
import { type Attempted, WebhookSender } from './attempt.ts';

/**
 * Time limit of the sender `impatient`, in milliseconds. A response that begins at once must arrive within this limit, even if the machine
 * suspends the process for two seconds.
 */
const TIMEOUT_MS = 3_000;
/**
 * Time within which a send must end, in milliseconds. It is much longer than `TIMEOUT_MS`, because a busy machine fires timers late. It is
 * shorter than the usual time limit of a send, so a send that ends only at this limit takes too long.
 */
const SOON_MS = 8_000;
/** Maximum number of response bytes that the operating system and TLS may buffer after the sender has stopped reading. */
const UNREAD_BYTES = 16 * 1_048_576;

let receiver: Receiver;
/** Sender with the usual time limit of 10 s. */
let sender: WebhookSender;
/** Sender with the time limit `TIMEOUT_MS`. */
let impatient: WebhookSender;
const warnings: Error[] = [];
process.on('warning', (warning) => warnings.push(warning));

before(async () => {
  receiver = await startReceiver();
  sender = new WebhookSender({ allowPrivateNetwork: true, headerBrand: 'Service' });
  impatient = new WebhookSender({ allowPrivateNetwork: true, headerBrand: 'Service', timeoutMs: TIMEOUT_MS });
});
after(async () => {
  await Promise.all([sender.close(), impatient.close()]);
  await receiver.close();
});

/**
 * In each test, a receiver sends a hostile response. After the test, checks that the sender still works with a healthy receiver, and that
 * Node has printed no warning.
 */
afterEach(async () => {
  receiver.answerWith(() => 204);
  const outcome = await sender.attempt(messageTo(receiver.url));
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
async function postTo(behave: (socket: Socket) => void, between = { sender, receiver }): Promise<Attempted> {
  const requestsBefore = between.receiver.requests.length;
  between.receiver.answerWith(() => behave);
  const startedAt = performance.now();
  const outcome = await between.sender.attempt(messageTo(between.receiver.url));
  assert.ok(performance.now() - startedAt < SOON_MS, 'the send took too long');
  assert.equal(between.receiver.requests.length, requestsBefore + 1);
  return outcome;
}

function messageTo(webhookUrl: string) {
  return { webhookUrl, eventId: 'e-1', body: '{"event_id":"e-1"}', secret: () => 'a secret' };
}

/** Checks that the attempt has failed without a status. By default, the receiver may have got the request. */
function assertFailed(outcome: Attempted, error: Attempted['error'], phase: Attempted['phase'] = 'during'): void {
  assert.deepEqual(outcome, { ...outcome, ok: false, httpStatus: null, error, phase, answer: null });
}

function assertDelivered(outcome: Attempted, httpStatus: number): void {
  assert.deepEqual(outcome, { ...outcome, ok: true, httpStatus, error: null, phase: null, answer: null });
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

/** Rest of a 2xx response after its status line. Each body is incomplete or malformed. */
const RESTS = [
  'content-length: 1000\r\n\r\nabc',
  'transfer-encoding: chunked\r\n\r\nffff\r\nabc',
  'transfer-encoding: chunked\r\n\r\nnot a length\r\n',
  'content-length: 2\r\n\r\nmore than two',
  'content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc',
];

test('a send whose connection ends before the response head is complete fails with connection_reset', async () => {
  receiver.answerWith(() => 'reset');
  assertFailed(await sender.attempt(messageTo(receiver.url)), 'connection_reset');
  assertFailed(await postTo((socket) => socket.destroy()), 'connection_reset');
  assertFailed(await postTo((socket) => socket.end('HTTP/1.1 200 OK\r\nx-a')), 'connection_reset');
});

test('a 2xx response is a success even if its body is cut off or malformed', async () => {
  for (const rest of RESTS) {
    assertDelivered(await postTo((socket) => socket.end(`HTTP/1.1 201 Created\r\n${rest}`)), 201);
  }
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
    assert.equal(
      outcome.error,
      httpStatus === null ? 'unreadable_response: headers above 64 KiB' : null,
      `${head}${endless}`,
    );
    assert.ok(taken() < UNREAD_BYTES, `${taken()} bytes of ${head}${endless} were accepted`);
  }
});

const OK = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';

test('a response after interim responses is a success, also after a 100 that the sender did not ask for', async () => {
  for (const interim of [
    'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(3),
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 102 Processing\r\ncontent-length: 0\r\n\r\nHTTP/1.1 100 Continue\r\nconnection: close\r\n\r\n',
    'HTTP/1.0 100 Continue\r\n\r\n',
  ]) {
    assertDelivered(await postTo((socket) => socket.end(`${interim}${OK}`)), 200);
    const inTwoParts = (socket: Socket) => socket.write(interim, () => setImmediate(() => socket.end(OK)));
    assertDelivered(await postTo(inTwoParts), 200);
  }
});

test('send reads the status of a response with up to 64 KiB of headers', async () => {
  const status = 'HTTP/1.1 404 Not Found\r\n';
  const end = 'connection: close\r\ncontent-length: 0\r\n\r\n';
  for (const size of [20_480, 65_536]) {
    const padding = `x-a: ${'a'.repeat(size - status.length - end.length - 7)}\r\n`;
    const outcome = await postTo((socket) => socket.end(`${status}${padding}${end}`));
    assert.deepEqual([outcome.httpStatus, outcome.error], [404, 'http_status'], String(size));
  }
  const cookies = await postTo((socket) => socket.end(`${status}${'set-cookie: a=b\r\n'.repeat(3_000)}${end}`));
  assert.deepEqual([cookies.httpStatus, cookies.error], [404, 'http_status']);
});

/** Heads of responses that are not valid HTTP. Their final status can be read. */
const SLOPPY_HEADS = [
  'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: +2\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: \r\n',
  'HTTP/1.1 200 OK\r\ncontent-length:\r\n 2\r\n',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: identity\r\ncontent-length: 2\r\n',
  'HTTP/1.1 200 OK\r\nx-folded: a\r\n b\r\n\tc\r\ncontent-length: 2\r\n',
  'HTTP/1.1 200 OK\r\n: nameless\r\ncontent-length: 2\r\n',
  'HTTP/1.1 200 OK\r\nno colon\r\ncontent-length: 2\r\n',
  'HTTP/1.1 200 OK\r\nx-space : a\r\ncontent-length : 2\r\n',
  'HTTP/1.1 200 OK\r\nx-control: a\u0001\u0000b\rc\r\ncontent-length: 2\r\n',
  'HTTP/1.1 200 OK\nx-bare: line feed\ncontent-length: 2\n',
  'HTTP/1.1  200\tOK\r\ncontent-length: 2\r\n',
  'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n',
  'HTTP/2 200\r\ncontent-length: 2\r\n',
  'http/1.1 200 OK\r\ncontent-length: 2\r\n',
];

test('send reads the status of a response whose headers are not valid, and does not use the connection again', async () => {
  for (const head of SLOPPY_HEADS) {
    const connectionsBefore = receiver.connectionCount;
    // The response and the stray response after it arrive in parts, and the connection stays open.
    const outcome = await postTo((socket) => {
      socket.write(`${head}\r\n`);
      socket.write('ok', () => socket.write('HTTP/1.1 500 Stray\r\ncontent-length: 0\r\n\r\n'));
    });
    assertDelivered(outcome, 200);
    receiver.answerWith(() => 204);
    assertDelivered(await sender.attempt(messageTo(receiver.url)), 204);
    assert.ok(receiver.connectionCount > connectionsBefore, head);
  }
});

test('a response without a status line that can be read, or that changes the protocol, is a failure that names the reason', async () => {
  for (const text of [
    'garbage\r\n\r\n',
    'HTTP/9.9 200 OK\r\n\r\n',
    'HTTP/1.1 2000 OK\r\n\r\n',
    'HTTP/1.1 OK\r\n\r\n',
    'HTTP/1.1 099 Odd\r\n\r\n',
    `<!-- a comment -->\r\n${OK}`,
    `${'\u0000'.repeat(100)}\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\n\r\ngarbage\r\n',
  ]) {
    assertFailed(await postTo((socket) => socket.end(text)), 'unreadable_response: no status line');
  }
  const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
  assertFailed(await postTo((socket) => socket.write(upgrade)), 'unreadable_response: change of protocol');
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
    assertDelivered(await sender.attempt(messageTo(receiver.url)), 204);
  }
});

test('response headers such as __proto__ or repeated cookies do not change the outcome of a send', async () => {
  const odd = '__proto__: a\r\nconstructor: b\r\nx-latin: \u00e9\u00ff\r\nset-cookie: a=b\r\nset-cookie: c=d\r\n';
  assertDelivered(await postTo((socket) => socket.end(`HTTP/1.1 200 OK\r\n${odd}content-length: 0\r\n\r\n`)), 200);
  assert.equal(Object.hasOwn(Object.prototype, 'a'), false);
});

/**
 * Posts to a TCP port that handles each connection with `behave` instead of a TLS handshake. Asserts that the sender closes each connection
 * soon after the send has ended, and returns the outcome.
 */
async function postToPort(behave: (socket: Socket) => void, by = sender): Promise<Attempted> {
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
  const outcome = await by.attempt(messageTo(`https://127.0.0.1:${port}/`));
  try {
    await eventually(() => sockets.every(({ destroyed }) => destroyed), 'end of each connection', 3_000);
  } finally {
    server.close();
    sockets.forEach((socket) => socket.destroy());
  }
  return outcome;
}

describe('a send whose response does not end before the time limit', { concurrency: true }, () => {
  /** Posts to a new receiver that handles the connection with `behave`. Returns also the receiver, which closes after the test. */
  async function postToNew(t: TestContext, behave: (socket: Socket) => void) {
    const own = await startReceiver();
    t.after(() => own.close());
    return { own, outcome: await postTo(behave, { sender: impatient, receiver: own }) };
  }

  it('a send to a receiver that never answers ends with a timeout after the time limit', async (t) => {
    const { outcome } = await postToNew(t, () => {});
    assertFailed(outcome, 'timeout');
    assert.ok(outcome.durationMs >= TIMEOUT_MS - 1);
  });

  it('if the receiver sends its headers byte by byte, the send times out, because received bytes do not extend the deadline', async (t) => {
    const headers = 'HTTP/1.1 200 OK\r\nx-a: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
    const { outcome } = await postToNew(t, (socket) => dribble(socket, headers));
    assertFailed(outcome, 'timeout');
  });

  for (const rest of RESTS) {
    it(`a 2xx response is a success although the connection stays open after ${JSON.stringify(rest)}`, async (t) => {
      const { outcome } = await postToNew(t, (socket) => socket.write(`HTTP/1.1 200 OK\r\n${rest}`));
      assertDelivered(outcome, 200);
    });
  }

  it('if a body arrives byte by byte, the connection is closed at the deadline, and the outcome still has the status 200', async (t) => {
    const { own, outcome } = await postToNew(t, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      dribble(socket, '1\r\na\r\n');
    });
    assertDelivered(outcome, 200);
    assert.ok(outcome.durationMs < TIMEOUT_MS, 'the duration ends when the status was read');
    await eventually(() => own.openConnections === 0, 'end of the connection', 3_000);
  });

  it('an attempt keeps the bytes of a failed response that arrived within its time limit, although the response never ends', async (t) => {
    const own = await startReceiver();
    t.after(() => own.close());
    const options = { allowPrivateNetwork: true, headerBrand: 'Service', timeoutMs: TIMEOUT_MS, keepAnswers: true };
    const keeping = new WebhookSender(options);
    t.after(() => keeping.close());
    const slowly = (socket: Socket) => {
      socket.write('HTTP/1.1 503 No\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n');
      dribble(socket, '1\r\nx\r\n');
    };
    const outcome = await postTo(slowly, { sender: keeping, receiver: own });
    assert.deepEqual([outcome.httpStatus, outcome.error], [503, 'http_status']);
    assert.match(outcome.answer ?? '', /^firstx+$/);
  });

  it('a send to a port that does not answer the TLS handshake times out, and its connection is closed', async () => {
    assertFailed(await postToPort(() => {}, impatient), 'timeout', 'before');
  });
});

test('if a port answers with plain HTTP or SMTP instead of TLS, the send fails with tls_failed', async () => {
  const plain = await postToPort((socket) => socket.write('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'));
  assertFailed(plain, 'tls_failed', 'before');
  const noise = await postToPort((socket) => socket.write('220 mail.example ESMTP\r\n'));
  assertFailed(noise, 'tls_failed', 'before');
});

test('a send whose connection is closed or reset during the TLS handshake fails with connection_reset', async () => {
  const closed = await postToPort((socket) => socket.end());
  assertFailed(closed, 'connection_reset', 'before');
  const reset = await postToPort((socket) => socket.once('data', () => socket.resetAndDestroy()));
  assertFailed(reset, 'connection_reset', 'before');
});
