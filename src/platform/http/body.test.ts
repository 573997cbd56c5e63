import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import Type from 'typebox';
import { exchange, openConnection } from '#test/support/raw-http.ts';
import { compileOnDemand } from './compilers.ts';
import { registerBodyParsers } from './body.ts';

const LIMIT_BYTES = 256 * 1024;
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const HEAD = 'POST /orders HTTP/1.1\r\nHost: x\r\n';

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
  let url: string;
  before(async () => {
    url = await app.listen({ port: 0, host: '127.0.0.1' });
  });
  after(() => app.close());

  async function post(path: string, body?: string | Buffer | FormData, type?: string) {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const response = await fetch(url + path, { method: 'POST', headers, body: body ?? null });
    return [response.status, await response.json()] as const;
  }

  async function refuses(status: number, message: string, ...request: Parameters<typeof post>): Promise<void> {
    assert.deepEqual(await post(...request), [status, { message }]);
  }

  const order = { id: '7', items: [{ item_id: '1', quantity: 2 }] };

  it('200: a route gets the same value if the body is JSON, a form or multipart', async () => {
    const multipart = new FormData();
    multipart.set('id', '7');
    multipart.set('items[0].item_id', '1');
    multipart.set('items[0].quantity', '2');
    for (const request of [
      [JSON.stringify(order), JSON_TYPE],
      ['id=7&items[0][item_id]=1&items[0]quantity=2', FORM],
      [multipart],
      [`id=7&items=${encodeURIComponent(JSON.stringify(order.items))}`, FORM],
    ] as const) {
      assert.deepEqual(await post('/orders', ...request), [200, { body: order }]);
    }
  });

  it('200: the JSON content type is accepted in upper and lower case letters, with the charset UTF-8 and with other parameters', async () => {
    for (const parameters of ['', '; charset=utf-8', ';charset="UTF-8"', '; charset=utf8', ' ; x=y', ';']) {
      const [status] = await post('/orders', JSON.stringify(order), `APPLICATION/json${parameters}`);
      assert.equal(status, 200, parameters);
    }
  });

  it('200: a request without a body is accepted with any Content-Type, if the route takes none or all its fields are optional', async () => {
    for (const type of [undefined, JSON_TYPE, FORM, 'multipart/form-data', 'text/plain', 'nonsense', '', 'a/b;c']) {
      assert.deepEqual(await post('/cancel', undefined, type), [200, { body: 'none' }], `content type ${type}`);
    }
    const head = 'POST /cancel HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
    for (const rest of [
      'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}',
    ]) {
      assert.equal((await exchange(url, head + rest))[0]?.status, 200, rest);
    }
    for (const type of [undefined, JSON_TYPE, FORM, 'multipart/form-data']) {
      assert.equal((await post('/label', undefined, type))[0], 200, type);
    }
  });

  it('400: the response to a request without its required body names the required fields', () =>
    refuses(400, 'id: is required | items: is required', '/orders'));

  it('400: if JSON is sent as a form, the message says to set Content-Type to application/json', async () => {
    const message = 'body: is JSON, but its Content-Type is that of a form. Set Content-Type to application/json';
    for (const path of ['/orders', '/label']) {
      await refuses(400, message, path, JSON.stringify({ id: 'a', items: [{ item_id: 'x&y=%', quantity: 1 }] }), FORM);
    }
    assert.equal((await post('/label', '{a}=1&label=b', FORM))[0], 200, 'a field name may begin with a brace');
  });

  it('413: a client that stops in the middle of a body above 256 KiB is refused after 2 s', async () => {
    const startMs = performance.now();
    const connection = openConnection(url);
    connection.send(`${HEAD}Content-Length: ${2 * LIMIT_BYTES}\r\n\r\n${'a'.repeat(LIMIT_BYTES + 1)}`);
    const [answer] = await connection.closed();
    assert.equal(answer?.status, 413);
    assert.ok(performance.now() - startMs < 20_000, 'the connection ended with the response');
  });

  it('415: a body with an unsupported, malformed or missing content type, another charset or a compression is refused', async () => {
    const types = 'application/json, application/x-www-form-urlencoded or multipart/form-data';
    for (const type of [
      'text/plain',
      'application/vnd.api+json',
      'application/json+x',
      'multipart/mixed; boundary=b',
    ]) {
      await refuses(415, `body: Content-Type must be ${types}`, '/orders', '{}', type);
    }
    for (const type of ['json', 'application/', ',', 'application/json, text/plain', `a/${'b'.repeat(4_000)}\u00ff`]) {
      await refuses(415, 'body: Content-Type is missing or malformed', '/orders', '{}', type);
    }
    await refuses(415, 'body: Content-Type is missing or malformed', '/orders', Buffer.from('{}'));
    for (const charset of ['latin1', '"utf-16"', 'utf-7', 'utf_8', 'utf88']) {
      const type = `${JSON_TYPE}; charset=${charset}`;
      await refuses(415, 'body: a charset other than UTF-8 is not supported', '/orders', '{}', type);
    }
    for (const [encoding, status] of [
      ['gzip', 415],
      ['Identity', 400],
    ] as const) {
      const headers = `Content-Type: ${JSON_TYPE}\r\nContent-Length: 2\r\nContent-Encoding: ${encoding}\r\n`;
      const [answer] = await exchange(url, `${HEAD}${headers}Connection: close\r\n\r\n{}`);
      assert.equal(answer?.status, status, encoding);
    }
  });

  it('if a client closes the connection in the middle of a body, the service reports no server error', async () => {
    const failed = once(app.server, 'request').then(([request]) => once(request, 'close'));
    const { socket, send } = openConnection(url);
    send(`${HEAD}Content-Type: ${JSON_TYPE}\r\nContent-Length: 100\r\n\r\n{`);
    await once(app.server, 'request');
    socket.resetAndDestroy();
    await failed.catch(() => {});
    assert.equal((await post('/cancel'))[0], 200);
    assert.equal(thrown.at(-1)?.message, 'body: ends before it is complete');
    assert.ok(thrown.every(({ statusCode }) => statusCode !== undefined && statusCode < 500));
  });
});
