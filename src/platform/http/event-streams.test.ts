import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { eventually } from '#test/support/webhooks.ts';
import { type App, createHttpApp } from './app.ts';

/**
 * Number of bytes that the endless stream of these tests writes at a time. This is more than the socket buffers of the server and the
 * client hold together. So the server cannot send all these bytes to a client that does not read.
 */
const TEXT_BYTES = 32 * 1024 * 1024;

const OWNER = { tenantId: 1, callerId: 'a' };

describe('EventStreams (streams of events)', () => {
  let app: App;
  let url: string;
  let taken: number;
  /** Number of open streams when the endless stream was asked for text. */
  let sizeWhenTaken: number;
  before(async () => {
    const logger = pino({ level: 'silent' });
    const streams = { undrainedMs: 400, checkEveryMs: 50, beatEveryMs: 10_000 };
    app = createHttpApp({ logger, trustedProxies: [], streams });
    app.get('/endless', async (request, reply) => {
      const stream = app.eventStreams.open(request, reply, OWNER, () => {
        taken += 1;
        sizeWhenTaken = app.eventStreams.size;
        return ':'.repeat(TEXT_BYTES);
      });
      stream.notify();
      return reply;
    });
    app.get('/quiet', async (request, reply) => {
      app.eventStreams.open(request, reply, OWNER, () => null);
      return reply;
    });
    url = await app.listen({ host: '127.0.0.1', port: 0 });
  });
  after(() => app.close());

  it('if a client reads no bytes, its stream of events asks for text to send only once, and then ends because of the time limit undrainedMs', async () => {
    taken = 0;
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    socket.write('GET /endless HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => taken > 0, 'stream that has begun');
    assert.equal(sizeWhenTaken, 1);
    await eventually(() => app.eventStreams.size === 0, 'end of the stream');
    assert.equal(taken, 1);
    socket.destroy();
  });

  it('when a client closes its connection, its stream of events ends before the next keep-alive message, and no longer counts as open', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET /quiet HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'data');
    socket.destroy();
    // A service that does not notice the closed connection immediately would notice it at the keep-alive message after 10 s.
    await eventually(() => app.eventStreams.size === 0, 'closed stream', 8_000);
  });

  it('when the app begins to stop, each open or new stream of events sends the event bye with a retry time of 0.3 to 3 s, and ends', async () => {
    const texts: string[] = [];
    const openQuiet = async () => {
      const response = await fetch(`${url}/quiet`);
      texts.push(await response.text());
    };
    const opened = openQuiet();
    await eventually(() => app.eventStreams.size === 1, 'open stream');
    app.eventStreams.stop();
    await opened;
    await openQuiet();
    for (const text of texts) {
      const [, retry] = /^: beat \d+\n\nretry: (\d+)\nevent: bye\ndata: \{\}\n\n$/.exec(text) ?? [];
      assert.ok(Number(retry) >= 300 && Number(retry) <= 3_000, text);
    }
  });
});
