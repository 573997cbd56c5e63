import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, describe, it } from 'node:test';
import { pino } from 'pino';
import { startService, type TestService } from '#test/support/service.ts';
import { CHANGES, ownerOf } from '#test/support/streams.ts';
import { eventually } from '#test/support/webhooks.ts';
import { LiveChanges } from './live-changes.ts';
import { BOUNDS, LiveStream } from './stream.ts';

/** A response that records what a stream does with it. */
class FakeResponse extends EventEmitter {
  readonly texts: string[] = [];
  writableEnded = false;

  write(text: string): void {
    this.texts.push(text);
  }

  end(): void {
    this.writableEnded = true;
  }
}

function open() {
  const response = new FakeResponse();
  return { response, stream: new LiveStream(ownerOf(1), response as never, BOUNDS.longestMs) };
}

describe('LiveStream (stream of hints of one caller)', () => {
  it('a stream says resync at its first look, and later the topics of rows that are new, but not of rows that grow too old for a look', () => {
    const { response, stream } = open();
    const saidAt = (look: Record<string, number>) => {
      const before = response.texts.length;
      stream.see(look);
      return response.texts.slice(before);
    };
    assert.deepEqual(saidAt({ 'order 019aba01': 1 }), ['event: resync\ndata: {}\n\n']);
    assert.deepEqual(saidAt({ 'order 019aba01': 1 }), []);
    const hint = (topics: string[]) => `event: change\ndata: ${JSON.stringify({ topics })}\n\n`;
    assert.deepEqual(saidAt({ 'order 019aba01': 2, 'stay 26911': 7 }), [hint(['orders', 'reservations'])]);
    assert.deepEqual(saidAt({ 'order 019aba02': 1, 'stay 26911': 7 }), [hint(['orders'])]);
    assert.deepEqual(saidAt({ 'stay 26911': 7, 'sign_in 019aba02': 1 }), []);
  });

  it('a stream says resync if the time since its last look was so long that changes may be missing', (t) => {
    const { response, stream } = open();
    stream.see({});
    const nowMs = performance.now();
    t.mock.method(performance, 'now', () => nowMs + 31_000);
    stream.see({});
    assert.deepEqual(response.texts.slice(1), Array(2).fill('event: resync\ndata: {}\n\n'));
  });

  it('the stream of a client that does not read ends before its unread hints take much memory', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.pause().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    const stream = new LiveStream(ownerOf(1), response, BOUNDS.longestMs);
    const closed = once(response, 'close');
    let longest = 0;
    while (!response.destroyed) {
      Array.from({ length: 100 }).forEach(() => stream.beat());
      longest = Math.max(longest, response.writableLength);
      await new Promise(setImmediate);
    }
    assert.ok(longest > 0 && longest < 100_000, String(longest));
    await closed;
    client.destroy();
    server.close();
  });

  it('when the process begins to stop, each open or new stream sends the event bye with a retry time of 0.3 to 3 s, and ends', async () => {
    const log = pino({ level: 'silent' });
    const live = new LiveChanges({ db: {} as never, changes: { catchUp: async () => {} }, noteUse() {}, log });
    const [opened, later] = [new FakeResponse(), new FakeResponse()];
    live.open(ownerOf(1), opened as never);
    assert.equal(live.size, 1);
    live.stop();
    live.open(ownerOf(1), later as never);
    for (const { texts } of [opened, later]) {
      const [, retry] = /^: beat \d+\n\nretry: (\d+)\nevent: bye\ndata: \{\}\n\n$/.exec(texts.join('')) ?? [];
      assert.ok(Number(retry) >= 300 && Number(retry) <= 3_000, texts.join(''));
    }
    opened.emit('close');
    later.emit('close');
    assert.equal(live.size, 0);
    await live.close();
  });
});

describe('a client that leaves GET /v1/staff/changes/', () => {
  let service: TestService | undefined;
  after(() => service?.close());

  it('when a client closes its connection, its stream ends before the next keep-alive message, and no longer counts as open', async () => {
    service = await startService({ streams: { ofCaller: 1 } });
    const { owner } = await service.tenant();
    const { hostname, port } = new URL(service.url);
    const begunAtMs = performance.now();
    for (let stream = 0; stream < 2; stream += 1) {
      const status = await eventually(async () => {
        const socket = connect(Number(port), hostname);
        const headers = Object.entries(owner).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.write(`GET ${CHANGES} HTTP/1.1\r\nHost: a\r\n${headers.join('')}\r\n`);
        const [answer] = (await once(socket, 'data')) as [Buffer];
        socket.destroy();
        return answer.toString().startsWith('HTTP/1.1 200') && 200;
      }, 'open stream');
      assert.equal(status, 200);
    }
    // A service that does not notice the closed connection immediately would notice it at the keep-alive message after 10 s.
    assert.ok(performance.now() - begunAtMs < 8_000);
  });
});
