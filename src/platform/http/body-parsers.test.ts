import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Fastify, { type FastifyInstance } from 'fastify';
import Type from 'typebox';
import { DEFAULT_BOUNDS } from '../lib/bounds.ts';
import { BodyBudget } from './body-budget.ts';
import { compileOnDemand } from './compilers.ts';
import { registerBodyParsers } from './body-parsers.ts';

const LIMIT_BYTES = 1024 * 1024;
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

const Order = Type.Object({
  id: Type.String(),
  items: Type.Array(Type.Object({ item_id: Type.String(), quantity: Type.Integer() })),
});

/** What the error handler was given, whether the client was still there to see it or not. */
const thrown: Array<Error & { statusCode?: number }> = [];

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What Buffers hold, once those that nobody refers to are gone. */
function usedBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

function buildApp(): FastifyInstance {
  const app = Fastify({ bodyLimit: LIMIT_BYTES });
  compileOnDemand(app);
  app.decorateRequest('account');
  app.addHook('onRequest', (request, _reply, done) => {
    request.account = { tenant: '1', caller: 'a' };
    done();
  });
  registerBodyParsers(app, { bounds: DEFAULT_BOUNDS, budget: new BodyBudget(DEFAULT_BOUNDS.bodyBytes) });
  app.post('/orders', { schema: { body: Order } }, async (request) => ({ body: request.body }));
  app.post('/label', { schema: { body: Type.Object({ label: Type.Optional(Type.String()) }) } }, async () => ({}));
  app.post('/cancel', async (request) => ({ body: request.body ?? 'none' }));
  app.get('/orders', async () => ({ body: 'none' }));
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    thrown.push(error);
    return reply.code(error.statusCode ?? 500).send({ message: error.message });
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

  /** All that the server answers until it closes; a reset, or bytes that could not be sent, fail the test. */
  async function answerOn(socket: Socket): Promise<string> {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    await once(socket, 'close');
    return Buffer.concat(chunks).toString();
  }

  async function send(head: string, body: string): Promise<string> {
    const socket = open();
    socket.write(`POST /orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${head}\r\n\r\n${body}`);
    return answerOn(socket);
  }

  describe('200', () => {
    const order = { id: '7', items: [{ item_id: '1', quantity: 2 }] };

    it('the three content types give a route the same value', async () => {
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

    it('content types match in any case, and with a charset of UTF-8', async () => {
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

    it('a route that expects no body ignores whatever comes as one', async () => {
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

    it('a request without a body passes whatever its content type says', async () => {
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
        assert.match(await answerOn(socket), /^HTTP\/1.1 200 /);
      }
    });

    it('a route that takes no body ignores whatever comes, of whatever content type', async () => {
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
      assert.match(await answerOn(socket), /^HTTP\/1.1 200 /);
    });

    it('an absent body satisfies a schema in which everything is optional', async () => {
      for (const type of [undefined, JSON_TYPE, FORM, 'multipart/form-data']) {
        assert.equal((await post('/label', undefined, type)).status, 200);
      }
    });

    it('a body of exactly 1 MiB is read', async () => {
      const body = JSON.stringify({ label: 'a'.repeat(LIMIT_BYTES - '{"label":""}'.length) });
      for (const path of ['/label', '/cancel']) {
        assert.equal((await post(path, body, JSON_TYPE)).status, 200);
      }
    });

    it('GET and HEAD ignore a body', async () => {
      for (const method of ['GET', 'HEAD']) {
        const socket = open();
        socket.write(
          `${method} /orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ,\r\nContent-Length: 1\r\n\r\n{`,
        );
        assert.match(await answerOn(socket), /^HTTP\/1.1 200 /);
      }
    });
  });

  describe('400', () => {
    it('an absent body is told which fields are missing', async () => {
      await refuses(400, 'id: is required | items: is required', '/orders');
    });

    it('JSON stays strictly typed, and text that does not convert is left to validation', async () => {
      const items = [{ item_id: '1', quantity: '2' }];
      const fault = 'items.0.quantity: must be a whole number';
      await refuses(400, fault, '/orders', JSON.stringify({ id: '7', items }), JSON_TYPE);
      await refuses(400, fault, '/orders', 'id=7&items[0][item_id]=1&items[0][quantity]=2.0', FORM);
      await refuses(400, 'body: must be an object', '/orders', 'null', JSON_TYPE);
    });

    it('JSON under a type of forms says so, and does not look like a form without fields', async () => {
      for (const path of ['/orders', '/label']) {
        const { status, json } = await post(
          path,
          JSON.stringify({ id: 'a', items: [{ item_id: 'x&y=%', quantity: 1 }] }),
          FORM,
        );
        assert.equal(status, 400);
        assert.deepEqual(json, { message: 'body: is JSON sent as a form: set Content-Type to application/json' });
      }
      assert.equal((await post('/label', '{a}=1&label=b', FORM)).status, 200, 'a field may have any name');
    });

    it('a malformed body leaves the connection open', async () => {
      const answer = await post('/orders', '{', JSON_TYPE);
      assert.deepEqual([answer.status, answer.headers.get('connection')], [400, 'keep-alive']);
      await refuses(400, 'a: is not valid percent-encoded UTF-8', '/orders', 'a=%zz', FORM);
    });

    it('multipart bodies that are cut short, without a boundary or with files', async () => {
      const multipart = 'multipart/form-data; boundary=b';
      const cut = '--b\r\nContent-Disposition: form-data; name="id"\r\n\r\n7';
      await refuses(400, 'body: ends before its closing boundary', '/orders', cut, multipart);
      await refuses(400, 'body: is multipart/form-data without a boundary', '/orders', cut, 'multipart/form-data');
      const file = new FormData();
      file.set('menu', new Blob(['x']), 'menu.txt');
      await refuses(400, 'menu: files are not accepted', '/orders', file);
    });

    it('a Content-Length shorter than the body cuts the body, and what follows is no request', async () => {
      const answer = await send(`Content-Type: ${JSON_TYPE}\r\nContent-Length: 1`, '{"id":"7"}');
      assert.match(answer, /^HTTP\/1.1 400 /);
    });
  });

  describe('404', () => {
    it('an unknown path comes before any fault of the body', async () => {
      for (const [body, type] of [
        ['{', JSON_TYPE],
        ['x', 'text/plain'],
        ['x', 'nonsense'],
        ['a'.repeat(2 * LIMIT_BYTES), JSON_TYPE],
      ] as const) {
        assert.equal((await post('/nowhere', body, type)).status, 404);
      }
    });
  });

  describe('413', () => {
    const megabyte = 'a'.repeat(LIMIT_BYTES);
    const tooLarge = /^HTTP\/1.1 413 [\s\S]*body: is larger than 1048576 bytes/;

    it('every content type has the limit', async () => {
      for (const type of [JSON_TYPE, FORM, 'multipart/form-data; boundary=b', 'text/plain']) {
        for (const path of ['/orders', '/cancel']) {
          await refuses(413, 'body: is larger than 1048576 bytes', path, `${megabyte}a`, type);
        }
      }
    });

    it('a client that only reads once it has sent everything gets the answer, chunked or not', async () => {
      const chunk = `100000\r\n${megabyte}\r\n`;
      assert.match(await send('Transfer-Encoding: chunked', `${chunk.repeat(8)}0\r\n\r\n`), tooLarge);
      assert.match(await send(`Content-Length: ${8 * LIMIT_BYTES}`, megabyte.repeat(8)), tooLarge);
    });

    it('a body without end is answered while it is still coming, and memory stays flat', async (test) => {
      const socket = open();
      test.after(() => socket.destroy());
      socket.on('error', () => {});
      socket.write('POST /orders HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
      const memoryBefore = usedBytes();
      const chunk = Buffer.from(`100000\r\n${megabyte}\r\n`);
      let answer = '';
      socket.on('data', (data) => {
        answer += data.toString();
      });
      for (let sent = 0; sent < 100; sent += 1) {
        if (!socket.write(chunk)) {
          await once(socket, 'drain');
        }
      }
      // Freed memory is given back in the background, so a moment after the collection.
      for (let tries = 0; tries < 100 && usedBytes() - memoryBefore > 16 * LIMIT_BYTES; tries += 1) {
        await setTimeout(20);
      }
      assert.ok(usedBytes() - memoryBefore <= 16 * LIMIT_BYTES);
      assert.match(answer, tooLarge);
    });
  });

  describe('415', () => {
    const types = 'application/json, application/x-www-form-urlencoded or multipart/form-data';

    it('other content types, and bodies that do not say what they are', async () => {
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

    it('any charset but UTF-8', async () => {
      for (const charset of ['latin1', '"utf-16"', 'utf-7', 'utf_8', 'utf88']) {
        await refuses(
          415,
          'body: no charset but UTF-8 is supported',
          '/orders',
          '{}',
          `${JSON_TYPE}; charset=${charset}`,
        );
      }
    });

    it('any Content-Encoding but identity', async () => {
      const head = `Content-Type: ${JSON_TYPE}\r\nContent-Length: 2\r\nContent-Encoding:`;
      assert.match(await send(`${head} gzip`, '{}'), /^HTTP\/1.1 415 /);
      assert.match(await send(`${head} Identity`, '{}'), /^HTTP\/1.1 400 [\s\S]*id: is required/);
    });
  });

  it('a client that leaves in the middle of a body is no failure of the service', async () => {
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
