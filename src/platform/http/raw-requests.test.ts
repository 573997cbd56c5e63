import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import { describe, it } from 'node:test';
import { exchange, openConnection, type RawAnswer } from '#test/support/raw-http.ts';
import { useService } from '#test/support/shared-service.ts';

const ORDERS = '/v1/third-party/orders/';
const HOST = 'Host: example.org\r\n';
const CLOSE = 'Connection: close\r\n';

const service = await useService();
const { partner } = await service.tenant();
const auth = `X-API-Key: ${partner['x-api-key']}\r\nX-API-Secret: ${partner['x-api-secret']}\r\n`;

describe('raw requests on a socket', () => {
  /**
   * Asserts that the response refuses the request, and has the usual headers and body. Most responses come from the app, but Node's HTTP
   * server refuses some requests before the app gets them.
   */
  function assertRefusal(status: number, code: string, answer: RawAnswer | undefined, what = ''): void {
    assert.equal(answer?.status, status, `${what} ${answer?.body}`);
    assert.equal(answer.reason, STATUS_CODES[status], what);
    const body = JSON.parse(answer.body) as Record<string, unknown>;
    assert.deepEqual(Object.keys(body), ['code', 'message'], what);
    assert.equal(body['code'], code, what);
    assert.match(answer.headers['content-type'] ?? '', /^application\/json/, what);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff', what);
    assert.equal(answer.headers['cache-control'], 'no-store', what);
    assert.match(answer.headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/, what);
  }

  async function refuses(status: number, requests: Record<string, string | Buffer>): Promise<void> {
    for (const [what, request] of Object.entries(requests)) {
      const answers = await exchange(service.url, request);
      assert.equal(answers.length, 1, what);
      assertRefusal(status, 'error', answers[0], what);
    }
  }

  it('400: bytes that are not valid HTTP are refused', () =>
    refuses(400, {
      words: 'hello there\r\n\r\n',
      'a TLS greeting': Buffer.from('16030100a5010000a10303', 'hex'),
      'a method in small letters': `get /livez HTTP/1.1\r\n${HOST}\r\n`,
      'no slash before the path': `GET livez HTTP/1.1\r\n${HOST}\r\n`,
      'a byte beyond ASCII in the path': `GET ${ORDERS}\xc3\xa9/ HTTP/1.1\r\n${HOST}\r\n`,
      'a folded header': `GET /livez HTTP/1.1\r\n${HOST}X-A: a\r\n b\r\n\r\n`,
      'a space before the colon': `GET /livez HTTP/1.1\r\n${HOST}X-A : a\r\n\r\n`,
      'U+0000 in a header': `GET /livez HTTP/1.1\r\n${HOST}X-A: a\0b\r\n\r\n`,
      'bare line feeds': 'GET /livez HTTP/1.1\nHost: a\n\n',
    }));

  it('400: a request whose Host header is missing, repeated or malformed is refused', () =>
    refuses(400, {
      missing: `GET /livez HTTP/1.1\r\n${CLOSE}\r\n`,
      double: `GET /livez HTTP/1.1\r\n${HOST}${HOST}${CLOSE}\r\n`,
      markup: `GET /livez HTTP/1.1\r\nHost: a"><script>\r\n${CLOSE}\r\n`,
      'a user': `GET /livez HTTP/1.1\r\nHost: a@b\r\n${CLOSE}\r\n`,
      'on an unknown path': `GET /nope HTTP/1.1\r\n${CLOSE}\r\n`,
    }));

  it('200: the Host header may be a name or an address, with or without a port, or empty', async () => {
    for (const host of ['localhost', '127.0.0.1:8080', '[::1]:8080', 'xn--bcher-kva.example', 'my_host', '']) {
      const [answer] = await exchange(service.url, `GET /livez HTTP/1.1\r\nHost: ${host}\r\n${CLOSE}\r\n`);
      assert.equal(answer?.status, 200, host);
    }
  });

  it('400: a request whose body length is ambiguous or malformed is refused', async () => {
    const post = (headers: string, body = '') =>
      `POST ${ORDERS} HTTP/1.1\r\n${HOST}${auth}${headers}\r\n${body}GET /livez HTTP/1.1\r\n${HOST}\r\n`;
    await refuses(400, {
      'Content-Length and chunked': post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
      'two Content-Lengths': post('Content-Length: 0\r\nContent-Length: 40\r\n'),
      'a signed Content-Length': post('Content-Length: +0\r\n'),
      'an unknown transfer coding': post('Transfer-Encoding: xchunked\r\n'),
      'chunked that is not last': post('Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n'),
      'chunked after a vertical tab': post('Transfer-Encoding:\x0bchunked\r\n', '0\r\n\r\n'),
      'a chunk size that is not a number': post('Transfer-Encoding: chunked\r\n', 'ZZ\r\na\r\n0\r\n\r\n'),
      'a chunk longer than its size': post('Transfer-Encoding: chunked\r\n', '1\r\nabc\r\n0\r\n\r\n'),
    });
  });

  it('431: a request with more than 16 KiB of headers, or with a path of more than 16 KiB, is refused', () =>
    refuses(431, {
      'one header': `GET /livez HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(17_000)}\r\n\r\n`,
      'a header without an end': `GET /livez HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(100_000)}`,
      'the target': `GET /${'a'.repeat(17_000)} HTTP/1.1\r\n${HOST}\r\n`,
    }));

  it('417, 100: a request with an unknown Expect value is refused, but Expect: 100-continue first gets an interim response', async () => {
    const post = (expected: string) =>
      `POST ${ORDERS} HTTP/1.1\r\n${HOST}${auth}Expect: ${expected}\r\nContent-Length: 2\r\nContent-Type: application/json\r\n`;
    await refuses(417, { expectation: `${post('a-miracle')}\r\n` });
    const answers = await exchange(service.url, `${post('100-Continue')}${CLOSE}\r\n{}`);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [100, 400],
    );
    assertRefusal(400, 'invalid_request', answers[1]);
  });

  it('200: an HTTP/1.0 request needs no Host, and its connection stays open only with keep-alive', async () => {
    const [closed] = await exchange(service.url, 'GET /livez HTTP/1.0\r\n\r\n');
    assert.deepEqual([closed?.status, closed?.headers['connection']], [200, 'close']);
    const both = `GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /livez HTTP/1.0\r\n\r\n`;
    assert.equal((await exchange(service.url, both)).length, 2);
  });

  it('200: a request that offers to upgrade to another protocol gets an ordinary HTTP/1.1 response', async () => {
    for (const upgrade of ['websocket', 'h2c', 'TLS/1.0']) {
      const request = `GET /livez HTTP/1.1\r\n${HOST}Connection: Upgrade, close\r\nUpgrade: ${upgrade}\r\n\r\n`;
      assert.equal((await exchange(service.url, request))[0]?.status, 200, upgrade);
    }
  });

  it('404: the service does not resolve `..` in a path, neither plain nor percent-encoded', async () => {
    const get = (path: string) => exchange(service.url, `GET ${path} HTTP/1.1\r\n${HOST}${auth}${CLOSE}\r\n`);
    assertRefusal(404, 'error', (await get(`${ORDERS}../menu/`))[0]);
    assertRefusal(404, 'order_not_found', (await get(`${ORDERS}../`))[0]);
    assertRefusal(404, 'order_not_found', (await get(`${ORDERS}%2e%2E/`))[0]);
    assertRefusal(404, 'order_not_found', (await get(`${ORDERS}..%2Fmenu/`))[0]);
  });

  it('the responses to pipelined requests come in their order, and also that to the request that is refused at their end', async () => {
    const menu = `GET /v1/third-party/menu/ HTTP/1.1\r\n${HOST}${auth}\r\n`;
    const order = `POST ${ORDERS} HTTP/1.1\r\n${HOST}${auth}Content-Type: application/json\r\n`;
    const inChunks = `${order}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`;
    for (const [last, status] of [
      [`GET /nope HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, 404],
      ['hello\r\n\r\n', 400],
      ['GET /livez HTTP/1.1\r\nX : a\r\n\r\n', 400],
      [`${inChunks}ZZ\r\n`, 400],
      [`${inChunks}0\r\nContent-Length: 5\r\n\r\n`, 400],
      [`CONNECT example.org:443 HTTP/1.1\r\n${HOST}\r\n`, 405],
      [`CONNECT ${ORDERS} HTTP/1.1\r\n${HOST}\r\n`, 405],
    ] as const) {
      const refused = `${order}Content-Length: 2\r\n\r\n{}`;
      const answers = await exchange(service.url, menu + refused + menu + last);
      assert.deepEqual(
        answers.map((answer) => answer.status),
        [200, 400, 200, status],
        last,
      );
      assertRefusal(status, 'error', answers[3], last);
    }
  });

  it('a client that closes its sending side still gets the responses to all requests that it sent before', async () => {
    const menu = `GET /v1/third-party/menu/ HTTP/1.1\r\n${HOST}${auth}\r\n`;
    for (const last of ['hello\r\n\r\n', 'GET /liv', `POST ${ORDERS} HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n{`]) {
      const connection = openConnection(service.url);
      connection.socket.end(menu + menu + last);
      const statuses = (await connection.closed()).map(({ status }) => status);
      assert.deepEqual([statuses.slice(0, 2), statuses.at(-1)], [[200, 200], 400], last);
    }
    const connection = openConnection(service.url);
    connection.socket.end(menu + menu);
    assert.equal((await connection.closed()).length, 2);
  });

  it('a connection stays open after the service has refused requests on it and has read their whole bodies', async () => {
    const connection = openConnection(service.url);
    const post = (headers: string, body: string) =>
      `POST ${ORDERS} HTTP/1.1\r\n${HOST}${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
    const requests = [
      post('', '{}'),
      post(`${auth}Content-Type: application/json\r\n`, '{'),
      post(`${auth}Content-Type: text/plain\r\n`, 'text'),
      `POST /nope HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`,
      `DELETE ${ORDERS} HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`,
      `GET ${ORDERS} HTTP/1.1\r\n${HOST}${auth}Content-Length: 3\r\n\r\n{{{`,
      `GET ${ORDERS}%ZZ HTTP/1.1\r\n${HOST}${auth}\r\n`,
    ];
    for (const [index, request] of requests.entries()) {
      connection.send(request);
      await connection.waitFor(index + 1);
    }
    assert.deepEqual(
      connection.answers().map(({ status }) => status),
      [401, 400, 415, 404, 405, 200, 400],
    );
    connection.socket.destroy();
  });
});
