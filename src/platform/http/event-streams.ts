import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { apiError } from '../errors.ts';
import { Tally } from '../lib/tally.ts';

declare module 'fastify' {
  interface FastifyInstance {
    eventStreams: EventStreams;
  }
}

/** Who opens a stream: the person or display, and its tenant. */
export interface StreamOwner {
  tenantId: number;
  callerId: string;
}

/** Bounds on streams of events. All times are in milliseconds. */
export interface StreamBounds {
  /** Maximum number of open streams of one caller, of one tenant and of this process. */
  ofCaller: number;
  ofTenant: number;
  ofProcess: number;
  /**
   * Time between two keep-alive messages on a stream. A server or a proxy closes a connection without traffic only after a much longer
   * time.
   */
  beatEveryMs: number;
  /**
   * Maximum time that the sending of one message may take. After this time, the connection of the stream is closed, because its client does
   * not read.
   */
  undrainedMs: number;
  /** Maximum duration of a stream. After its end, the client connects again, perhaps to another process. */
  longestMs: number;
  checkEveryMs: number;
}

const BOUNDS: StreamBounds = {
  ofCaller: 20,
  ofTenant: 200,
  ofProcess: 2_000,
  beatEveryMs: 10_000,
  undrainedMs: 30_000,
  longestMs: 30 * 60_000,
  checkEveryMs: 1_000,
};

/** Seconds after which a caller with too many streams may try again. */
const RETRY_AFTER_SECONDS = 5;
/**
 * Bounds of the random time in milliseconds that a client waits before it connects again, after this process has begun to stop. The time is
 * random so that not all clients connect at the same moment.
 */
const SHORTEST_RETURN_MS = 300;
const LONGEST_RETURN_MS = 3_000;

/**
 * Functions that return the content of a stream. Each text is one or several blocks of an event stream (WHATWG HTML §9.2), with the empty
 * line at the end.
 */
export interface StreamSource {
  /** Returns the text of the next message, or null if no message is ready. Called only when all earlier messages are sent. */
  take: () => string | null;
  /** Returns a keep-alive message. Called only when all messages from `take` are sent. */
  beat: () => string;
}

/**
 * All open streams of events of this process. A stream stays open for minutes, and sends no bytes for most of this time. So it does not
 * keep its place at the door. Streams have bounds of their own (`StreamBounds`). While a client does not read, its stream keeps at most one message in memory.
 */
export class EventStreams {
  readonly #bounds: StreamBounds;
  readonly #open = new Set<EventStream>();
  readonly #ofCallers = new Tally<string>();
  readonly #ofTenants = new Tally<number>();
  #admitted = 0;
  #checking: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(bounds: Partial<StreamBounds>) {
    this.#bounds = { ...BOUNDS, ...bounds };
  }

  /** Number of streams that are open or about to open. */
  get size(): number {
    return this.#admitted;
  }

  /**
   * Counts a stream that is about to open. It is counted until its connection is closed.
   * @throws ApiError 429 `rate_limited` if the caller, the tenant or the process has too many streams
   */
  admit(owner: StreamOwner, reply: FastifyReply): void {
    this.#refuseTooMany(owner);
    this.#count(owner, 1);
    reply.raw.once('close', () => this.#count(owner, -1));
  }

  /**
   * Sends the headers of the response and a first keep-alive message, and keeps the response open.
   * @returns the stream. The caller must make sure that `notify` of the stream is called each time `source` has a new message.
   */
  open(request: FastifyRequest, reply: FastifyReply, source: StreamSource): EventStream {
    const response = takeOver(reply);
    request.place?.leave();
    const stream = new EventStream(response, source, this.#bounds);
    this.#open.add(stream);
    response.once('close', () => this.#leave(stream));
    destroyWhenClientLeaves(request.raw.socket, response);
    this.#checking ??= setInterval(() => this.#check(), this.#bounds.checkEveryMs).unref();
    if (this.#isStopping) {
      stream.sayBye();
    }
    return stream;
  }

  /** Responds to a HEAD request with the headers of a stream, without a body. */
  sendHead(reply: FastifyReply): void {
    takeOver(reply).end();
  }

  /** Tells all clients that this process stops, and ends their streams. A stream that opens later is ended immediately in the same way. */
  stop(): void {
    this.#isStopping = true;
    this.#open.forEach((stream) => stream.sayBye());
  }

  #count({ tenantId, callerId }: StreamOwner, change: 1 | -1): void {
    this.#admitted += change;
    this.#ofTenants.add(tenantId, change);
    this.#ofCallers.add(`${tenantId} ${callerId}`, change);
  }

  #refuseTooMany({ tenantId, callerId }: StreamOwner): void {
    const { ofCaller, ofTenant, ofProcess } = this.#bounds;
    const bounds: [count: number, most: number, whose: string][] = [
      [this.#ofCallers.of(`${tenantId} ${callerId}`), ofCaller, 'You have'],
      [this.#ofTenants.of(tenantId), ofTenant, 'The tenant has'],
      [this.#admitted, ofProcess, 'The service has'],
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

  #leave(stream: EventStream): void {
    this.#open.delete(stream);
    if (this.#open.size === 0) {
      clearInterval(this.#checking);
      this.#checking = undefined;
    }
  }

  #check(): void {
    const nowMs = performance.now();
    this.#open.forEach((stream) => stream.check(nowMs));
  }
}

/** Adds `eventStreams` to an app. When the app closes, the streams end. */
export function addEventStreams(app: FastifyInstance, bounds: Partial<StreamBounds> = {}): void {
  const streams = new EventStreams(bounds);
  app.decorate('eventStreams', streams);
  app.addHook('preClose', async () => streams.stop());
}

/**
 * Destroys the response of a stream when the client ends its half of the connection. A client that closes a stream does this first. Without
 * this function, the process would notice the closed stream only at its next write, seconds later.
 *
 * The function is only for streams of events. A client that waits for another response may end its half of the connection after it has sent
 * its request, and still read the response.
 */
function destroyWhenClientLeaves(socket: Socket, response: ServerResponse): void {
  const onEnd = () => response.destroy();
  socket.once('end', onEnd);
  response.once('close', () => socket.off('end', onEnd));
  if (socket.readableEnded) {
    onEnd();
  }
}

/**
 * Headers of a stream of events. `no-transform` and `X-Accel-Buffering` forbid proxies to compress or buffer the stream, because this would
 * delay the events.
 */
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** Takes the response from Fastify, so that the stream can write to it. Sets the headers of `reply` and the headers of a stream. */
function takeOver(reply: FastifyReply): ServerResponse {
  const { raw: response } = reply.hijack();
  for (const [name, value = ''] of Object.entries(reply.headers(HEADERS).getHeaders())) {
    response.setHeader(name, value);
  }
  return response;
}

/** One open stream of events. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #source: StreamSource;
  readonly #bounds: StreamBounds;
  readonly #openedAtMs = performance.now();
  #beatAtMs = performance.now();
  #writtenAtMs = performance.now();
  /** True from a write until the operating system has taken all bytes of the write. */
  #isWriting = false;

  constructor(response: ServerResponse, source: StreamSource, bounds: StreamBounds) {
    this.#response = response;
    this.#source = source;
    this.#bounds = bounds;
    response.on('error', () => response.destroy());
    this.#beat(this.#openedAtMs);
  }

  /** Sends the next text of the source. If an earlier text is still being sent, the next text follows it. */
  notify(): void {
    const text = this.#isWriting || this.#hasEnded() ? null : this.#source.take();
    if (text !== null) {
      this.#write(text);
    }
  }

  /** Ends the stream. Its client may open a new stream. */
  end(): void {
    if (!this.#hasEnded()) {
      this.#response.end();
    }
  }

  /** Asks the client to connect again after a random wait, and ends the stream. */
  sayBye(): void {
    if (!this.#hasEnded()) {
      const retryMs = Math.round(SHORTEST_RETURN_MS + Math.random() * (LONGEST_RETURN_MS - SHORTEST_RETURN_MS));
      this.#response.end(`retry: ${retryMs}\nevent: bye\ndata: {}\n\n`);
    }
  }

  /**
   * Sends a keep-alive message if it is due. Ends the stream after its maximum duration. Closes the connection if its client has read no
   * bytes for too long.
   */
  check(nowMs: number): void {
    const { beatEveryMs, undrainedMs, longestMs } = this.#bounds;
    if (this.#isWriting) {
      if (nowMs - this.#writtenAtMs > undrainedMs) {
        this.#response.destroy();
      }
    } else if (nowMs - this.#openedAtMs > longestMs) {
      this.end();
    } else if (nowMs - this.#beatAtMs >= beatEveryMs && !this.#hasEnded()) {
      this.#beat(nowMs);
    }
  }

  #beat(nowMs: number): void {
    this.#beatAtMs = nowMs;
    this.#write(this.#source.beat());
  }

  #hasEnded(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  #write(text: string): void {
    this.#isWriting = true;
    this.#writtenAtMs = performance.now();
    this.#response.write(text, (error) => {
      this.#isWriting = false;
      if (!error) {
        this.notify();
      }
    });
  }
}
