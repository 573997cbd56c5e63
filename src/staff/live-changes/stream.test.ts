import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, describe, it } from 'node:test';
import { pino } from 'pino';
import { startService, type TestService } from '#test/support/service.ts';
import { CHANGES, ownerOf } from '#test/support/streams.ts';
import { eventually } from '#test/support/webhooks.ts';
import { LiveChanges } from './live-changes.ts';
import { BOUNDS, LiveStream } from './stream.ts';

/** A response that records what a stream does with it. The client takes a written text only when the test calls `drain`. */
class FakeResponse {
  readonly texts: string[] = [];
  destroyed = false;
  writableEnded = false;
  #taken = () => {};

  on(): void {}

  write(text: string, taken: () => void): void {
    this.texts.push(text);
    this.#taken = taken;
  }

  drain(): void {
    this.#taken();
  }

  end(text: string): void {
    this.texts.push(text);
    this.writableEnded = true;
  }

  destroy(): void {
    this.destroyed = true;
  }
}

function open() {
  const response = new FakeResponse();
  return { response, stream: new LiveStream(ownerOf(1), response as never) };
}

describe('LiveStream (stream of hints of one caller)', () => {
  it('while a client reads no bytes, its hints are merged into one, which is sent when the client has read the earlier text', () => {
    const { response, stream } = open();
    stream.tell(['menu']);
    stream.tell(['orders', 'menu']);
    assert.equal(response.texts.length, 1);
    response.drain();
    assert.deepEqual(response.texts.slice(1), ['event: change\ndata: {"topics":["orders","menu"]}\n\n']);
    stream.tell(['rates']);
    stream.resync();
    response.drain();
    assert.deepEqual(response.texts.slice(2), ['event: resync\ndata: {}\n\n']);
    response.drain();
    assert.equal(response.texts.length, 3);
  });

  it('if a client reads no bytes for the time limit undrainedMs, its stream ends', async () => {
    const { response, stream } = open();
    stream.check(BOUNDS);
    assert.equal(response.destroyed, false);
    await eventually(async () => {
      stream.check({ ...BOUNDS, undrainedMs: 50 });
      return response.destroyed;
    }, 'end of the stream');
  });

  it('when the process begins to stop, each open or new stream sends the event bye with a retry time of 0.3 to 3 s, and ends', async () => {
    const log = pino({ level: 'silent' });
    const live = new LiveChanges({ db: {} as never, changes: { onChanges() {} }, noteUse() {}, log });
    const opened = open();
    live.add(opened.stream);
    assert.equal(live.size, 1);
    live.stop();
    const later = open();
    live.add(later.stream);
    for (const { texts } of [opened.response, later.response]) {
      const [, retry] = /^: beat \d+\n\nretry: (\d+)\nevent: bye\ndata: \{\}\n\n$/.exec(texts.join('')) ?? [];
      assert.ok(Number(retry) >= 300 && Number(retry) <= 3_000, texts.join(''));
    }
    live.remove(opened.stream);
    live.remove(later.stream);
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
