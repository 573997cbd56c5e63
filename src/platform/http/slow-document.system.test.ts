import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import Type from 'typebox';
import { openConnection } from '#test/support/raw-http.ts';
import { createHttpApp } from './app.ts';

/** Longer than any other body may take. */
const SLOW_MS = 35_000;

it('200: the body of a menu may take longer than 30 s, if it arrives within 60 s of its place', async (t) => {
  const app = createHttpApp({ logger: pino({ level: 'silent' }), trustedProxies: [] });
  t.after(() => app.close());
  app.put('/menu', { config: { place: 'document' }, schema: { body: Type.Object({}) } }, async () => ({}));
  const connection = openConnection(await app.listen({ host: '127.0.0.1', port: 0 }));
  connection.send('PUT /menu HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{');
  await sleep(SLOW_MS);
  connection.send('}');
  const [answer] = await connection.waitFor(1);
  assert.equal(answer?.status, 200, answer?.body);
  connection.socket.destroy();
});
