import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import Type from 'typebox';
import { compileOnDemand } from './compilers.ts';
import { registerBodyParsers } from './body.ts';

const LIMIT_BYTES = 256 * 1024;
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

const Order = Type.Object({
  id: Type.String(),
  items: Type.Array(Type.Object({ item_id: Type.String(), quantity: Type.Integer() })),
});

/** Errors that reached the error handler, including errors of requests whose client had already closed the connection. */
const thrown: Array<Error & { statusCode?: number }> = [];

function buildApp(): FastifyInstance {
  const app = Fastify({ bodyLimit: LIMIT_BYTES });
  compileOnDemand(app);
  registerBodyParsers(app);
  app.post('/orders', { schema: { body: Order } }, async (request) => ({ body: request.body }));
  app.post('/label', { schema: { body: Type.Object({ label: Type.Optional(Type.String()) }) } }, async () => ({}));
  app.post('/cancel', async (request) => ({ body: request.body ?? 'none' }));
  app.get('/orders', async () => ({ body: 'none' }));
  app.setErrorHandler((error: Error & { statusCode?: number; headers?: Record<string, string> }, _request, reply) => {
    thrown.push(error);
    return reply
      .code(error.statusCode ?? 500)
      .headers(error.headers ?? {})
      .send({ message: error.message });
  });
  return app;
}

describe('registerBodyParsers', () => {
  const app = buildApp();
  let port: number;

  before(async () => {
    await app.listen({ port: 0, host: '127.0.0.1' });
    port = (app.server.address() as AddressInfo).port;
  });
  after(() => app.close());

  async function post(path: string, body?: string | Buffer | FormData | null, type?: string) {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: body ?? null });
    return { status: response.status, headers: response.headers, json: await response.json() };
  }

  async function refuses(status: number, message: string, ...request: Parameters<typeof post>): Promise<void> {
    const answer = await post(...request);
    assert.deepEqual([answer.status, answer.json], [status, { message }]);
  }

  function open(): Socket {
    return connect(port, '127.0.0.1');
  }

  async function responseOn(socket: Socket): Promise<string> {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    await once(socket, 'close');
    return Buffer.concat(chunks).toString();
  }

  async function send(head: string, body: string): Promise<string> {
    const socket = open();
    socket.write(`POST /orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${head}\r\n\r\n${body}`);
    return responseOn(socket);
  }

  describe('accepted bodies', () => {
    const order = { id: '7', items: [{ item_id: '1', quantity: 2 }] };

    it('200: a route gets the same value if the body is JSON, a form or multipart', async () => {
      const multipart = new FormData();
      multipart.set('id', '7');
      multipart.set('items[0].item_id', '1');
      multipart.set('items[0].quantity', '2');
      const fields = 'id=7&items[0][item_id]=1&items[0]quantity=2';
      for (const answer of [
        await post('/orders', JSON.stringify(order), JSON_TYPE),
        await post('/orders', fields, FORM),
        await post('/orders', multipart),
        await post('/orders', `id=7&items=${encodeURIComponent(JSON.stringify(order.items))}`, FORM),
      ]) {
        assert.deepEqual([answer.status, answer.json], [200, { body: order }]);
      }
    });

    it('200: the JSON content type is accepted in upper and lower case letters, with the charset UTF-8 and with other parameters', async () => {
      for (const type of [
        'APPLICATION/JSON',
        'application/json; charset=utf-8',
        'application/json;charset="UTF-8"',
        'application/json; charset=utf8',
        'application/json; charset="UTF8"',
        'application/json ; x=y',
        'application/json;',
      ]) {
        assert.equal((await post('/orders', JSON.stringify(order), type)).status, 200, type);
      }
    });

    it('200: a route that takes no body ignores malformed bodies and unsupported content types', async () => {
      for (const [body, type] of [
        ['{', JSON_TYPE],
        ['a=%zz', FORM],
        ['x', 'text/plain'],
        ['x', 'multipart/form-data'],
        ['x', `${JSON_TYPE}; charset=latin1`],
      ] as const) {
        const answer = await post('/cancel', body, type);
        assert.deepEqual([answer.status, answer.json], [200, { body: 'none' }], type);
      }
    });

    it('200: a route that takes no body accepts a request without a body, with any or no Content-Type header', async () => {
      for (const type of [
        undefined,
        JSON_TYPE,
        FORM,
        'multipart/form-data',
        'text/plain',
        'nonsense',
        '',
        ';',
        'a/b;c',
      ]) {
        const answer = await post('/cancel', undefined, type);
        assert.deepEqual([answer.status, answer.json], [200, { body: 'none' }], `content type ${type}`);
      }
      for (const head of ['Content-Type: text/plain\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked']) {
        const socket = open();
        socket.write(`POST /cancel HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${head}\r\n\r\n0\r\n\r\n`);
        assert.match(await responseOn(socket), /^HTTP\/1.1 200 /);
      }
    });

    it('200: a route that takes no body ignores the bytes, the content type and the content encoding of a body', async () => {
      const bodies: [string, string?][] = [
        ['{"reason":"late"}', JSON_TYPE],
        ['{', JSON_TYPE],
        ['\xff', JSON_TYPE],
        ['{}', FORM],
        ['a=%zz', FORM],
        ['cut', 'multipart/form-data; boundary=b'],
        ['no boundary', 'multipart/form-data'],
        ['<reason/>', 'application/xml'],
        ['late', 'text/plain; charset=latin1'],
        ['late', 'nonsense'],
        ['late', 'a/b;c'],
        ['late'],
      ];
      for (const [body, type] of bodies) {
        const answer = await post('/cancel', Buffer.from(body, 'latin1'), type);
        assert.deepEqual([answer.status, answer.json], [200, { body: 'none' }], `${type}: ${body}`);
      }
      const socket = open();
      socket.write(
        `POST /cancel HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`,
      );
      assert.match(await responseOn(socket), /^HTTP\/1.1 200 /);
    });

    it('200: a missing body is valid if all fields of the schema are optional', async () => {
      for (const type of [undefined, JSON_TYPE, FORM, 'multipart/form-data']) {
        assert.equal((await post('/label', undefined, type)).status, 200);
      }
    });

    it('200: a body of exactly 256 KiB is accepted', async () => {
      const body = JSON.stringify({ label: 'a'.repeat(LIMIT_BYTES - '{"label":""}'.length) });
      for (const path of ['/label', '/cancel']) {
        assert.equal((await post(path, body, JSON_TYPE)).status, 200);
      }
    });

    it('200: the body of a GET or HEAD request is ignored', async () => {
      for (const method of ['GET', 'HEAD']) {
        const socket = open();
        socket.write(
          `${method} /orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ,\r\nContent-Length: 1\r\n\r\n{`,
        );
        assert.match(await responseOn(socket), /^HTTP\/1.1 200 /);
      }
    });
  });

  describe('invalid bodies', () => {
    it('400: the response to a request without its required body names the required fields', async () => {
      await refuses(400, 'id: is required | items: is required', '/orders');
    });

    it('400: an integer field refuses a number in quotes in JSON, and a text such as 2.0 in a form', async () => {
      const items = [{ item_id: '1', quantity: '2' }];
      const fault = 'items.0.quantity: must be a whole number';
      await refuses(400, fault, '/orders', JSON.stringify({ id: '7', items }), JSON_TYPE);
      await refuses(400, fault, '/orders', 'id=7&items[0][item_id]=1&items[0][quantity]=2.0', FORM);
      await refuses(400, 'body: must be an object', '/orders', 'null', JSON_TYPE);
    });

    it('400: if JSON is sent as a form, the message says to set Content-Type to application/json', async () => {
      for (const path of ['/orders', '/label']) {
        const { status, json } = await post(
          path,
          JSON.stringify({ id: 'a', items: [{ item_id: 'x&y=%', quantity: 1 }] }),
          FORM,
        );
        assert.equal(status, 400);
        const message = 'body: is JSON, but its Content-Type is that of a form. Set Content-Type to application/json';
        assert.deepEqual(json, { message });
      }
      assert.equal(
        (await post('/label', '{a}=1&label=b', FORM)).status,
        200,
        'a form whose first field name begins with a brace is accepted',
      );
    });

    it('400: the connection stays open after the refusal of a malformed body', async () => {
      const answer = await post('/orders', '{', JSON_TYPE);
      assert.deepEqual([answer.status, answer.headers.get('connection')], [400, 'keep-alive']);
      await refuses(400, 'a: is not valid percent-encoded UTF-8', '/orders', 'a=%zz', FORM);
    });

    it('400: a multipart body that is cut off, has no boundary or contains a file is refused', async () => {
      const multipart = 'multipart/form-data; boundary=b';
      const cut = '--b\r\nContent-Disposition: form-data; name="id"\r\n\r\n7';
      await refuses(400, 'body: ends before its closing boundary', '/orders', cut, multipart);
      await refuses(400, 'body: is multipart/form-data without a boundary', '/orders', cut, 'multipart/form-data');
      const file = new FormData();
      file.set('menu', new Blob(['x']), 'menu.txt');
      await refuses(400, 'menu: files are not accepted', '/orders', file);
    });

    it('400: a body that is longer than its Content-Length is refused', async () => {
      const answer = await send(`Content-Type: ${JSON_TYPE}\r\nContent-Length: 1`, '{"id":"7"}');
      assert.match(answer, /^HTTP\/1.1 400 /);
    });
  });

  describe('bodies above 256 KiB', () => {
    const largest = 'a'.repeat(LIMIT_BYTES);
    const tooLarge = /^HTTP\/1.1 413 [\s\S]*body: is larger than 262144 bytes/;

    it('413: a body above 256 KiB is refused with every content type, also on a route that takes no body', async () => {
      for (const type of [JSON_TYPE, FORM, 'multipart/form-data; boundary=b', 'text/plain']) {
        for (const path of ['/orders', '/cancel']) {
          await refuses(413, 'body: is larger than 262144 bytes', path, `${largest}a`, type);
        }
      }
    });

    it('413: a client that sends a body of 1 MiB gets the refusal, both with Content-Length and with chunks', async () => {
      const chunk = `40000\r\n${largest}\r\n`;
      for (const [head, body] of [
        ['Transfer-Encoding: chunked', `${chunk.repeat(4)}0\r\n\r\n`],
        [`Content-Length: ${4 * LIMIT_BYTES}`, largest.repeat(4)],
      ] as const) {
        assert.match(await send(head, body), tooLarge);
      }
    });

    it('413: a client that stops in the middle of a body above 256 KiB is refused after 2 s', async (test) => {
      const startMs = performance.now();
      const socket = open();
      test.after(() => socket.destroy());
      socket.write(`POST /orders HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 * LIMIT_BYTES}\r\n\r\n${largest}a`);
      assert.match(await responseOn(socket), tooLarge);
      assert.ok(performance.now() - startMs < 20_000, 'the connection ended with the response');
    });
  });

  describe('unsupported content types and encodings', () => {
    const types = 'application/json, application/x-www-form-urlencoded or multipart/form-data';

    it('415: a body with an unsupported, malformed or missing content type is refused', async () => {
      for (const type of [
        'text/plain',
        'application/vnd.api+json',
        'application/json+x',
        'multipart/mixed; boundary=b',
      ]) {
        await refuses(415, `body: Content-Type must be ${types}`, '/orders', '{}', type);
      }
      for (const type of [
        'json',
        'application/',
        '/',
        ',',
        'application/json, text/plain',
        `a/${'b'.repeat(4_000)}\u00ff`,
      ]) {
        await refuses(415, 'body: Content-Type is missing or malformed', '/orders', '{}', type);
      }
      await refuses(415, 'body: Content-Type is missing or malformed', '/orders', Buffer.from('{}'));
    });

    it('415: a body with a charset other than UTF-8 is refused', async () => {
      for (const charset of ['latin1', '"utf-16"', 'utf-7', 'utf_8', 'utf88']) {
        await refuses(
          415,
          'body: a charset other than UTF-8 is not supported',
          '/orders',
          '{}',
          `${JSON_TYPE}; charset=${charset}`,
        );
      }
    });

    it('415: a body with a Content-Encoding other than identity is refused', async () => {
      const head = `Content-Type: ${JSON_TYPE}\r\nContent-Length: 2\r\nContent-Encoding:`;
      assert.match(await send(`${head} gzip`, '{}'), /^HTTP\/1.1 415 /);
      assert.match(await send(`${head} Identity`, '{}'), /^HTTP\/1.1 400 [\s\S]*id: is required/);
    });
  });

  it('if a client closes the connection in the middle of a body, the service reports no server error', async () => {
    const failed = once(app.server, 'request').then(([request]) => once(request, 'close'));
    const socket = open();
    socket.write(`POST /orders HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: 100\r\n\r\n{`);
    await once(app.server, 'request');
    socket.resetAndDestroy();
    await failed.catch(() => {});
    assert.equal((await post('/cancel')).status, 200);
    assert.equal(thrown.at(-1)?.message, 'body: ends before it is complete');
    assert.ok(thrown.every(({ statusCode }) => statusCode !== undefined && statusCode < 500));
  });
});
