import assert from 'node:assert/strict';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import Type from 'typebox';
import { openConnection, type RawConnection } from '#test/support/raw-http.ts';
import { eventually } from '#test/support/webhooks.ts';
import { type App, createHttpApp } from './app.ts';
import { sendTexts } from './list.ts';

const PLACES_OF_TENANT = 15;
const LONG_CALLS_OF_TENANT = 3;
const STRANGERS_OF_NETWORK = 4;

describe('the door', () => {
  let app: App;
  let url: string;
  /** Ends the oldest request whose handler is under way. */
  let open: (() => void)[];
  let begun: string[];
  let isOver: boolean;
  const connections: RawConnection[] = [];

  const guard = Object.assign(
    async (request: FastifyRequest) => {
      request.holder = String(request.headers['x-tenant']);
    },
    { security: [], errors: [] },
  );

  beforeEach(async () => {
    open = [];
    begun = [];
    isOver = false;
    app = createHttpApp({ logger: pino({ level: 'silent' }), trustedProxies: [] });
    const work = async (name: string) => {
      begun.push(name);
      await new Promise<void>((resolve) => (isOver ? resolve() : open.push(resolve)));
      return {};
    };
    const handle = (request: FastifyRequest) => work(request.holder);
    const body = Type.Object({ label: Type.Optional(Type.String()) });
    app.post('/call', { onRequest: guard, schema: { body } }, handle);
    app.get('/long', { onRequest: guard, config: { place: 'long' } }, handle);
    app.get('/list', { onRequest: guard, config: { place: 'long' } }, (request, reply) =>
      sendTexts(request, reply, async function* texts() {
        await work('list');
        yield '[';
        await work('list');
        yield ']';
      }),
    );
    app.post('/document', { onRequest: guard, config: { place: 'document' }, schema: { body } }, handle);
    // A hook that is no guard, such as one that counts the calls of an address, leaves the caller a stranger.
    app.post('/stranger', { onRequest: async () => {}, schema: { body } }, handle);
    app.get('/none', { config: { place: 'none' } }, async () => ({}));
    url = await app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterEach(async () => {
    isOver = true;
    connections.splice(0).forEach(({ socket }) => socket.resetAndDestroy());
    open.splice(0).forEach((end) => end());
    await app.close();
  });

  function send(method: string, path: string, tenant = '', rest = '\r\n'): RawConnection {
    const connection = openConnection(url);
    connections.push(connection);
    const type = 'Content-Type: application/json\r\n';
    connection.send(`${method} ${path} HTTP/1.1\r\nHost: a\r\nX-Tenant: ${tenant}\r\n${type}${rest}`);
    return connection;
  }

  const sendMany = (count: number, ...request: Parameters<typeof send>) =>
    Array.from({ length: count }, () => send(...request));
  const whenBegun = (count: number) => eventually(() => begun.length === count, `${count} requests under way`);
  const whenWaiting = (count: number) => eventually(() => app.door.waiting === count, `${count} requests that wait`);

  it('200: the calls of a tenant beyond its places wait, and those of another tenant do not', async () => {
    const calls = sendMany(PLACES_OF_TENANT + 3, 'POST', '/call', '1');
    await whenWaiting(3);
    assert.equal(begun.length, PLACES_OF_TENANT);
    send('POST', '/call', '2');
    await whenBegun(PLACES_OF_TENANT + 1);
    assert.equal(begun.at(-1), '2');
    while (begun.length < calls.length + 1 || open.length > 0) {
      open.shift()?.();
      await eventually(() => open.length > 0 || begun.length === calls.length + 1, 'the next request');
    }
    const answers = await Promise.all(calls.map((call) => call.waitFor(1)));
    assert.ok(answers.every(([answer]) => answer?.status === 200));
  });

  it('200: long calls have fewer places, and leave the others to the short calls of the tenant', async () => {
    sendMany(LONG_CALLS_OF_TENANT + 1, 'GET', '/long', '1');
    await whenWaiting(1);
    sendMany(PLACES_OF_TENANT - LONG_CALLS_OF_TENANT, 'POST', '/call', '1');
    await whenBegun(PLACES_OF_TENANT);
    assert.equal(app.door.waiting, 1);
  });

  for (const rest of ['Transfer-Encoding: chunked\r\n\r\n', 'Content-Length: 16385\r\n\r\n']) {
    it(`a call whose body may be large is a long call: ${rest.trim()}`, async () => {
      sendMany(LONG_CALLS_OF_TENANT + 1, 'POST', '/call', '1', rest);
      await whenWaiting(1);
    });
  }

  it('200: documents wait only for documents', async () => {
    sendMany(2, 'POST', '/document', '1');
    await whenWaiting(1);
    sendMany(PLACES_OF_TENANT, 'POST', '/call', '1');
    await whenBegun(PLACES_OF_TENANT + 1);
  });

  it('200: strangers of one address wait for each other, after their bodies have arrived, and for nobody else', async () => {
    const unfinished = sendMany(2 * STRANGERS_OF_NETWORK, 'POST', '/stranger', '', 'Content-Length: 9\r\n\r\n{');
    await Promise.all(unfinished.map(({ socket }) => once(socket, 'connect')));
    sendMany(STRANGERS_OF_NETWORK + 1, 'POST', '/stranger');
    await whenWaiting(1);
    assert.equal(begun.length, STRANGERS_OF_NETWORK);
    const [answer] = await send('GET', '/none').waitFor(1);
    assert.equal(answer?.status, 200);
  });

  it('a client that leaves while it waits takes no place', async () => {
    sendMany(PLACES_OF_TENANT, 'POST', '/call', '1');
    await whenBegun(PLACES_OF_TENANT);
    const leaving = send('POST', '/call', '1');
    await whenWaiting(1);
    leaving.socket.resetAndDestroy();
    await whenWaiting(0);
    open.shift()?.();
    send('POST', '/call', '1');
    await whenBegun(PLACES_OF_TENANT + 1);
  });

  it('a client that leaves while its handler works keeps its place until the handler has ended', async () => {
    const leaving = sendMany(PLACES_OF_TENANT, 'POST', '/call', '1');
    await whenBegun(PLACES_OF_TENANT);
    const gone = eventually(async () => (await connectionsOf(app)) === 0, 'closed connections');
    leaving.forEach(({ socket }) => socket.resetAndDestroy());
    await gone;
    send('POST', '/call', '1');
    await whenWaiting(1);
    open.shift()?.();
    await whenBegun(PLACES_OF_TENANT + 1);
  });

  for (const { parts, when } of [
    { parts: 0, when: 'before a list begins' },
    { parts: 1, when: 'while it reads a list' },
  ]) {
    it(`a client that leaves ${when} keeps its place until the list has ended`, async () => {
      const lists = sendMany(LONG_CALLS_OF_TENANT, 'GET', '/list', 'a');
      await whenBegun(LONG_CALLS_OF_TENANT);
      for (let part = 0; part < parts; part += 1) {
        open.splice(0).forEach((end) => end());
        await whenBegun(2 * LONG_CALLS_OF_TENANT);
      }
      const gone = eventually(async () => (await connectionsOf(app)) === 0, 'closed connections');
      lists.forEach(({ socket }) => socket.resetAndDestroy());
      await gone;
      send('GET', '/long', 'a');
      await whenWaiting(1);
      open.splice(0).forEach((end) => end());
      await eventually(() => begun.includes('a'), 'call in the place of a list');
    });
  }

  it('503: a call that waited 10 s is refused with Retry-After', async () => {
    sendMany(PLACES_OF_TENANT, 'POST', '/call', '1');
    await whenBegun(PLACES_OF_TENANT);
    const [answer] = await send('POST', '/call', '1').waitFor(1);
    assert.deepEqual([answer?.status, answer?.headers['retry-after']], [503, '2']);
  });

  it('408: a body that does not arrive within 5 s of its place is refused, and its connection ends', async () => {
    const slow = send('POST', '/call', '1', 'Content-Length: 9\r\n\r\n{');
    const [answer] = await slow.closed();
    assert.equal(answer?.status, 408);
    assert.match(answer?.body ?? '', /did not arrive within 5 s/);
  });

  it('413: the body of a stranger may have 16 KiB', async () => {
    const body = `{"label":"${'a'.repeat(16 * 1024)}"}`;
    const [answer] = await send('POST', '/stranger', '', `Content-Length: ${body.length}\r\n\r\n${body}`).waitFor(1);
    assert.equal(answer?.status, 413);
  });
});

async function connectionsOf(app: App): Promise<number> {
  return await new Promise((resolve, reject) =>
    app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}
