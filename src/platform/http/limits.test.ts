import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { STATUS_CODES } from 'node:http';
import { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import Type from 'typebox';
import { openConnection, type RawAnswer, type RawConnection } from '#test/support/raw-http.ts';
import { ApiError } from '../errors.ts';
import { type App, createHttpApp } from './app.ts';

const HEAD = 'POST /labels HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
const LIMIT_BYTES = 256 * 1024;
/**
 * Timeouts far below the defaults, so that the tests are fast. The tests run concurrently, so the longest of these times determines their
 * duration. The tests need these differences:
 * - `headersMs` and `requestMs` are longer than a stall of 2 s. After a stall, the server checks these two times before it reads the
 *   requests that have arrived, and would refuse a request that a test expects to succeed.
 * - An idle connection is closed 1 s after `keepAliveMs` (Node's `keepAliveTimeoutBuffer`). This is later than `headersMs`, as it is by
 *   default. So a request that never ends is refused after the response to the previous request.
 * - `stuckMs` is much longer than the route `/slow` takes, because the connection has no traffic for this time. The test that waits for
 *   the end of `stuckMs` has an app of its own.
 */
const TIMEOUTS = { headersMs: 2_800, requestMs: 3_000, keepAliveMs: 2_500, checkEveryMs: 50, stuckMs: 10_000 };

function buildApp(timeouts: typeof TIMEOUTS | undefined): App {
  const app = createHttpApp({
    logger: pino({ level: 'silent' }),
    trustedProxies: [],
    ...(timeouts === undefined ? {} : { timeouts }),
  });
  const schema = { body: Type.Object({ label: Type.String() }) };
  app.post('/labels', { config: { place: 'call' }, schema }, async ({ body }) => ({ length: body.label.length }));
  const refuse = async () => {
    throw new ApiError(401, 'error', 'Refused.');
  };
  app.post('/refused', { onRequest: refuse }, async () => ({}));
  app.post('/slow', async () => {
    await sleep(TIMEOUTS.requestMs + 500);
    return { done: true };
  });
  app.get('/endless', async (_request, reply) => {
    const answer = Readable.from(endless());
    answer.once('close', () => endlessAnswers.emit('close'));
    return reply.type('application/json').send(answer);
  });
  return app;
}

const endlessAnswers = new EventEmitter();

function* endless(): Generator<Buffer> {
  for (;;) {
    yield Buffer.alloc(64 * 1024);
  }
}

function assertRefusal(status: number, answer: RawAnswer | undefined): void {
  assert.equal(answer?.status, status, answer?.body);
  assert.equal(answer.reason, STATUS_CODES[status]);
  assert.match(answer.headers['content-type'] ?? '', /^application\/json/);
  assert.deepEqual(Object.keys(JSON.parse(answer.body) as object), ['code', 'message']);
  assert.equal((JSON.parse(answer.body) as { code: string }).code, 'error');
  assert.ok(answer.headers['x-request-id']);
}

async function refuses(status: number, connection: RawConnection): Promise<void> {
  const answers = await connection.closed();
  assert.equal(answers.length, 1);
  assertRefusal(status, answers[0]);
}

describe('time limits of requests', { concurrency: true }, () => {
  const app = buildApp(TIMEOUTS);
  let url: string;
  before(async () => {
    url = await app.listen({ host: '127.0.0.1', port: 0 });
  });
  after(() => app.close());

  /** Sends the text again every 50 ms until the server responds or closes the connection. */
  async function sendSlowly(connection: RawConnection, text: string): Promise<void> {
    while (!connection.socket.destroyed && connection.answers().length === 0) {
      connection.send(text);
      await sleep(50);
    }
  }

  it('408: a request whose headers never end is refused after the time limit', async () => {
    const silent = openConnection(url);
    const stuck = openConnection(url);
    stuck.send('GET /labels HTTP/1.1\r\nHost: a\r\nX-A');
    const slow = openConnection(url);
    slow.send('GET /labels HTTP/1.1\r\nX-A: ');
    void sendSlowly(slow, 'a');
    await Promise.all([silent, stuck, slow].map((connection) => refuses(408, connection)));
  });

  it('408: a request whose body never ends is refused after the time limit, with Content-Length and with chunks', async () => {
    const stuck = openConnection(url);
    stuck.send(`${HEAD}Content-Length: 100\r\n\r\n{`);
    const slow = openConnection(url);
    slow.send(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    void sendSlowly(slow, '1\r\n \r\n');
    await Promise.all([stuck, slow].map((connection) => refuses(408, connection)));
  });

  it('408: a request that never ends is refused only after the previous request on the same connection got its response', async () => {
    const connection = openConnection(url);
    connection.send(`${HEAD}Content-Length: 15\r\n\r\n{"label":"abc"}GET /labels HTTP/1.1\r\nHo`);
    const answers = await connection.closed();
    assert.equal(answers[0]?.status, 200);
    assertRefusal(408, answers[1]);
  });

  it('200: a response is not cut off if it takes longer than the time limit for receiving a request', async () => {
    const connection = openConnection(url);
    connection.send('POST /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    assert.deepEqual(
      (await connection.closed()).map(({ status }) => status),
      [200],
    );
  });

  it('the server closes a connection if the client stops reading the response', async (t) => {
    const impatient = buildApp({ ...TIMEOUTS, stuckMs: 3_000 });
    t.after(() => impatient.close());
    const impatientUrl = await impatient.listen({ host: '127.0.0.1', port: 0 });
    const closed = once(endlessAnswers, 'close', { signal: AbortSignal.timeout(30_000) });
    const { socket, send } = openConnection(impatientUrl);
    socket.once('data', () => socket.pause());
    send('GET /endless HTTP/1.1\r\nHost: a\r\n\r\n');
    await closed;
    assert.equal(socket.closed, false, 'the client did not close the connection');
    socket.destroy();
  });

  it('the server closes a connection that stays idle after a response', async () => {
    const connection = openConnection(url);
    connection.send(`${HEAD}Content-Length: 15\r\n\r\n{"label":"abc"}`);
    assert.equal((await connection.closed()).length, 1);
  });

  it('200: a request gets its response while 300 other connections are open and send no request', async () => {
    const idle = Array.from({ length: 300 }, () => openConnection(url));
    const connection = openConnection(url);
    connection.send(`${HEAD}Content-Length: 12\r\n\r\n{"label":""}`);
    assert.equal((await connection.waitFor(1))[0]?.status, 200);
    assert.equal(
      idle.flatMap((each) => each.answers()).length,
      0,
      'the request got its response before a silent connection was refused',
    );
    const answers = await Promise.all(idle.map((each) => each.closed()));
    assert.ok(answers.every(([answer]) => answer?.status === 408));
  });
});

describe('size limits of bodies', () => {
  const app = buildApp(undefined);
  let url: string;
  before(async () => {
    url = await app.listen({ host: '127.0.0.1', port: 0 });
  });
  after(() => app.close());

  it('200, 413: a body of exactly 256 KiB is accepted, and one byte more is refused, with Content-Length and with chunks', async () => {
    for (const size of [LIMIT_BYTES, LIMIT_BYTES + 1]) {
      const body = `{"label":"${'a'.repeat(size - 12)}"}`;
      for (const rest of [
        `Content-Length: ${size}\r\n\r\n${body}`,
        `Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      ]) {
        const connection = openConnection(url);
        connection.send(HEAD + rest);
        const [answer] = await connection.waitFor(1);
        if (size > LIMIT_BYTES) {
          assertRefusal(413, answer);
        } else {
          assert.deepEqual([answer?.status, answer?.body], [200, `{"length":${LIMIT_BYTES - 12}}`]);
        }
        connection.socket.destroy();
      }
    }
  });

  it('401, 413: a body that never ends is refused, and its connection is closed after 1 MiB more', async () => {
    for (const [status, head, bytes] of [
      [413, HEAD, LIMIT_BYTES + 1024 * 1024],
      [401, 'POST /refused HTTP/1.1\r\nHost: a\r\n', 1024 * 1024],
    ] as const) {
      const connection = openConnection(url);
      const chunks = `${bytes.toString(16)}\r\n${'a'.repeat(bytes)}\r\n1\r\na\r\n`;
      connection.send(`${head}Transfer-Encoding: chunked\r\n\r\n${chunks}`);
      const [answer] = await connection.closed();
      assertRefusal(status, answer);
      assert.equal(answer?.headers['connection'], 'close');
    }
  });

  it('401: a short body is dropped after the refusal, and the connection serves the next request', async () => {
    const connection = openConnection(url);
    connection.send(`POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: ${LIMIT_BYTES}\r\n\r\n`);
    connection.send(`${'a'.repeat(LIMIT_BYTES)}${HEAD}Content-Length: 12\r\n\r\n{"label":""}`);
    const answers = await connection.waitFor(2);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 200],
    );
    connection.socket.destroy();
  });
});
