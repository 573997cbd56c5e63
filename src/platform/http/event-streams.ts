import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { apiError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyInstance {
    eventStreams: EventStreams;
  }
}

interface StreamOwner {
  tenantId: number;
  callerId: string;
}

const BOUNDS = {
  ofCaller: 20,
  ofTenant: 200,
  ofProcess: 2_000,
  /** Time between two keep-alive messages, which is shorter than proxies keep a connection without traffic. */
  beatEveryMs: 10_000,
  undrainedMs: 30_000,
  /** Time after which a stream ends. Its client then connects again, perhaps to another process. */
  longestMs: 30 * 60_000,
  checkEveryMs: 1_000,
};
export type StreamBounds = typeof BOUNDS;

const RETRY_AFTER_SECONDS = 5;
/** Bounds of the wait before a client of a stopping process connects again. The wait is random, so that not all clients come together. */
const SHORTEST_RETURN_MS = 300;
const LONGEST_RETURN_MS = 3_000;

/** `no-transform` and `X-Accel-Buffering` forbid proxies to compress or buffer a stream, because this would delay its events. */
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** Returns the text of the next event (WHATWG HTML §9.2), or null if there is none. */
type TakeEvent = () => string | null;

/** All open streams of events of this process. A stream is silent for most of its time, so it keeps no place at the door. */
class EventStreams {
  readonly #bounds: StreamBounds;
  readonly #open = new Map<EventStream, StreamOwner>();
  #isStopping = false;

  constructor(bounds: Partial<StreamBounds>) {
    this.#bounds = { ...BOUNDS, ...bounds };
  }

  get size(): number {
    return this.#open.size;
  }

  /** Opens a stream. `take` is called when the client has taken all earlier events. @throws ApiError 429 if there are too many streams */
  open(request: FastifyRequest, reply: FastifyReply, owner: StreamOwner, take: TakeEvent): EventStream {
    this.#refuseTooMany(owner);
    const response = takeOver(reply);
    request.place?.leave();
    const stream = new EventStream(response, take, this.#bounds);
    this.#open.set(stream, owner);
    // A client that leaves ends its half of the connection first. Without this, the stream would end only at its next write.
    const leave = () => response.destroy();
    request.raw.socket.once('end', leave);
    response.once('close', () => {
      this.#open.delete(stream);
      request.raw.socket.off('end', leave);
    });
    if (this.#isStopping) {
      stream.sayBye();
    }
    return stream;
  }

  sendHead(reply: FastifyReply): void {
    takeOver(reply).end();
  }

  /** Tells all clients that this process stops, and ends their streams. A stream that opens later ends immediately in the same way. */
  stop(): void {
    this.#isStopping = true;
    this.#open.forEach((_, stream) => stream.sayBye());
  }

  #refuseTooMany(owner: StreamOwner): void {
    const ofTenant = [...this.#open.values()].filter(({ tenantId }) => tenantId === owner.tenantId);
    const ofCaller = ofTenant.filter(({ callerId }) => callerId === owner.callerId);
    const bounds: [count: number, most: number, whose: string][] = [
      [ofCaller.length, this.#bounds.ofCaller, 'You have'],
      [ofTenant.length, this.#bounds.ofTenant, 'The tenant has'],
      [this.size, this.#bounds.ofProcess, 'The service has'],
    ];
    const exceeded = bounds.find(([count, most]) => count >= most);
    if (exceeded !== undefined) {
      const [, most, whose] = exceeded;
      throw apiError(
        'rate_limited',
        `${whose} ${most} open streams, and more are not allowed. Close a stream, or open the new stream later.`,
        { 'retry-after': String(RETRY_AFTER_SECONDS) },
      );
    }
  }
}

export function addEventStreams(app: FastifyInstance, bounds: Partial<StreamBounds> = {}): void {
  const streams = new EventStreams(bounds);
  app.decorate('eventStreams', streams);
  app.addHook('preClose', async () => streams.stop());
}

function takeOver(reply: FastifyReply): ServerResponse {
  const { raw: response } = reply.hijack();
  for (const [name, value = ''] of Object.entries(reply.headers(HEADERS).getHeaders())) {
    response.setHeader(name, value);
  }
  return response;
}

/** One open stream of events. While its client does not read, at most one message of it is in memory. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #take: TakeEvent;
  readonly #bounds: StreamBounds;
  readonly #openedAtMs = performance.now();
  #beatAtMs = 0;
  /** Time of the write under way, or null if the operating system has taken all bytes. */
  #writingSinceMs: number | null = null;

  constructor(response: ServerResponse, take: TakeEvent, bounds: StreamBounds) {
    this.#response = response;
    this.#take = take;
    this.#bounds = bounds;
    response.on('error', () => response.destroy());
    const checking = setInterval(() => this.#check(performance.now()), bounds.checkEveryMs).unref();
    response.once('close', () => clearInterval(checking));
    this.#beat(this.#openedAtMs);
  }

  notify(): void {
    const text = this.#writingSinceMs !== null || this.#hasEnded ? null : this.#take();
    if (text !== null) {
      this.#write(text);
    }
  }

  end(text = ''): void {
    if (!this.#hasEnded) {
      this.#response.end(text);
    }
  }

  sayBye(): void {
    const retryMs = Math.round(SHORTEST_RETURN_MS + Math.random() * (LONGEST_RETURN_MS - SHORTEST_RETURN_MS));
    this.end(`retry: ${retryMs}\nevent: bye\ndata: {}\n\n`);
  }

  get #hasEnded(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  #check(nowMs: number): void {
    const { beatEveryMs, undrainedMs, longestMs } = this.#bounds;
    if (this.#writingSinceMs !== null) {
      if (nowMs - this.#writingSinceMs > undrainedMs) {
        this.#response.destroy();
      }
    } else if (nowMs - this.#openedAtMs > longestMs) {
      this.end();
    } else if (nowMs - this.#beatAtMs >= beatEveryMs && !this.#hasEnded) {
      this.#beat(nowMs);
    }
  }

  #beat(nowMs: number): void {
    this.#beatAtMs = nowMs;
    this.#write(`: beat ${Date.now()}\n\n`);
  }

  #write(text: string): void {
    this.#writingSinceMs = performance.now();
    this.#response.write(text, (error) => {
      this.#writingSinceMs = null;
      if (!error) {
        this.notify();
      }
    });
  }
}
