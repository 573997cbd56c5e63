import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { pino } from 'pino';
import { type App, createHttpApp } from './app.ts';
import { listen } from './listen.ts';

const HOST = '127.0.0.1';
const linuxOnly =
  process.platform === 'linux' ? {} : { skip: 'only Linux and FreeBSD distribute connections among sockets' };

describe('listen', () => {
  const apps: App[] = [];
  const clients: Socket[] = [];

  after(async () => {
    clients.forEach((client) => client.destroy());
    await Promise.all(apps.map((app) => app.close()));
  });

  function newApp(): App {
    const app = createHttpApp({ logger: pino({ level: 'silent' }), trustedProxies: [] });
    app.get('/hello', async () => ({ hello: 'world' }));
    apps.push(app);
    return app;
  }

  function portOf(address: string): number {
    return Number(new URL(address).port);
  }

  async function connectTo(port: number): Promise<Socket> {
    const client = connect(port, HOST);
    clients.push(client);
    await once(client, 'connect');
    return client;
  }

  it('an app accepts 64 concurrent connections in at most 32 iterations of the event loop', linuxOnly, async () => {
    const app = newApp();
    const { address } = await listen(app, { host: HOST, port: 0 });
    const COUNT = 64;
    const inRounds = new Map<number, number>();
    let round = 0;
    let accepted = 0;
    app.server.on('connection', () => {
      accepted += 1;
      inRounds.set(round, (inRounds.get(round) ?? 0) + 1);
    });
    for (let count = 0; count < COUNT; count += 1) {
      clients.push(connect(portOf(address), HOST));
    }
    while (accepted < COUNT) {
      await new Promise(setImmediate);
      round += 1;
    }
    assert.ok(inRounds.size <= COUNT / 2, `${COUNT} connections took ${inRounds.size} rounds`);
  });

  it('EADDRINUSE: listen refuses the port of another app, although the sockets of that app permit a shared port', async () => {
    const { address } = await listen(newApp(), { host: HOST, port: 0 });
    await assert.rejects(listen(newApp(), { host: HOST, port: portOf(address) }), { code: 'EADDRINUSE' });
  });

  it('after stop(), new connections are refused, but connections that are already open still get responses, also those that the app had not accepted yet', async () => {
    const app = newApp();
    const { address, stop } = await listen(app, { host: HOST, port: 0 });
    const open = await Promise.all(Array.from({ length: 16 }, async () => await connectTo(portOf(address))));
    await stop();
    await assert.rejects(connectTo(portOf(address)), { code: 'ECONNREFUSED' });
    for (const client of open) {
      client.write('GET /hello HTTP/1.1\r\nhost: x\r\n\r\n');
      const [chunk] = (await once(client, 'data')) as [Buffer];
      assert.match(chunk.toString(), /^HTTP\/1\.1 200 /);
    }
  });
});
