import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createHttpApp } from './app.ts';
import { resourceRoute } from './resource.ts';

describe('resourceRoute, which serves one path of the site', () => {
  async function serve(read: () => Promise<string>) {
    const app = createHttpApp({ logger: pino({ level: 'silent' }), trustedProxies: [] });
    resourceRoute(app, '/a', { contentType: 'text/plain', read });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const ask = async () => {
      const response = await fetch(`${url}/a`);
      return { status: response.status, text: await response.text() };
    };
    return { url: new URL(url), ask, close: () => app.close() };
  }

  it('resourceRoute reads the content of its path only once for 20 concurrent requests and a later request', async () => {
    let reads = 0;
    const { ask, close } = await serve(async () => `read ${++reads}`);
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    answers.push(await ask());
    assert.deepEqual([...new Set(answers.map(({ text }) => text))], ['read 1']);
    await close();
  });

  it('500: if the content cannot be read, the response hides the reason, and the next request reads the content again', async () => {
    let reads = 0;
    const { ask, close } = await serve(async () => {
      if (++reads === 1) throw new Error('too many open files');
      return 'there';
    });
    const first = await ask();
    assert.equal(first.status, 500);
    assert.doesNotMatch(first.text, /open files/);
    assert.deepEqual(await ask(), { status: 200, text: 'there' });
    await close();
  });

  it('if 300 clients request 4 MB of content and never read the response, memory grows by less than 30 MB in total', async () => {
    const { url, ask, close } = await serve(async () => 'a'.repeat(4_000_000));
    await ask();
    const before = process.memoryUsage.rss();
    const sockets = Array.from({ length: 300 }, () => connect(Number(url.port), url.hostname).pause());
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    sockets.forEach((socket) => socket.write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n'));
    await sleep(1_000);
    const grownMb = (process.memoryUsage.rss() - before) / 1e6;
    sockets.forEach((socket) => socket.destroy());
    await close();
    assert.ok(grownMb < 30, `${grownMb} MB`);
  });
});
