import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { it } from 'node:test';
import { pino } from 'pino';
import Type from 'typebox';
import { apiError } from '../errors.ts';
import { createHttpApp } from './app.ts';

const BODY_BYTES = 1024 * 1024;
/** Largest number of bytes that Node reads from a connection in one step. */
const CHUNK_BYTES = 64 * 1024;

it('401: after a refusal, a body of 1 MiB that arrived together with its headers is read to its end, in small steps', async (test) => {
  const app = createHttpApp({ logger: pino({ level: 'silent' }), trustedProxies: [] });
  test.after(() => app.close());
  app.post(
    '/',
    {
      onRequest: () => {
        throw apiError('invalid_credentials', 'The key is unknown.');
      },
      schema: { body: Type.Object({}) },
    },
    async () => ({}),
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  const turns = test.mock.method(app.readingTurns, 'wait');
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
  test.after(() => socket.destroy());
  const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`;
  socket.write(head + 'x'.repeat(BODY_BYTES));
  assert.match((await once(socket, 'data'))[0], /^HTTP\/1.1 401 /);
  socket.write('GET /unknown HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.match((await once(socket, 'data'))[0], /^HTTP\/1.1 404 /);
  assert.ok(turns.mock.callCount() >= BODY_BYTES / CHUNK_BYTES - 2, `${turns.mock.callCount()} turns`);
});
