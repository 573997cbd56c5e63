import type { FastifyReply, FastifyRequest } from 'fastify';
import { apiError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyInstance {
    slowReaders: SlowReaders;
  }
}

/**
 * Bounds on the memory and time that readers of long lists may take. A reader is a credential or a user. A stream is one response with a
 * list.
 */
export interface ReaderBounds {
  /**
   * Maximum number of streams of one reader that may be under way at the same time. Each of them may wait until its reader takes bytes, so
   * this is also the maximum number of waiting streams. Further streams of the reader do not begin before one of these streams ends.
   */
  maxWaiting: number;
  /**
   * Minimum speed of a reader, in bytes per second. If a stream waits for its reader, and the reader has been slower than this for
   * `overMs`, the service cuts the stream off and closes its connection.
   */
  leastBytesPerSecond: number;
  /** Time in milliseconds after which a stream is cut off if its reader has read no byte. */
  overMs: number;
  /** Maximum duration of a stream in milliseconds. After it, the stream is cut off even if its reader is fast. */
  longestMs: number;
  checkEveryMs: number;
}

const BOUNDS: ReaderBounds = {
  maxWaiting: 8,
  leastBytesPerSecond: 16 * 1024,
  overMs: 30_000,
  longestMs: 10 * 60_000,
  checkEveryMs: 1_000,
};

/**
 * Streams of one reader. `open` has the streams under way. `queue` has the streams that may not begin yet. `admit` lets a stream of the
 * queue begin, and `refuse` ends it with an error.
 */
interface Reader {
  open: Set<OpenStream>;
  queue: { stream: OpenStream; admit: () => void; refuse: (error: Error) => void }[];
}

/**
 * Bounds the number, the speed and the duration of the streams of each reader. A stream that waits for its reader holds memory, so many
 * slow readers could otherwise use up the memory.
 */
export class SlowReaders {
  readonly #bounds: ReaderBounds;
  readonly #readers = new Map<string, Reader>();
  #checking: NodeJS.Timeout | undefined;

  constructor(bounds: Partial<ReaderBounds> = {}) {
    this.#bounds = { ...BOUNDS, ...bounds };
  }

  /**
   * Waits until the stream of this response may begin. If the caller already has `maxWaiting` streams under way, the new stream waits in a
   * queue until one of them ends. A stream ends when its response has ended or its connection breaks.
   * @throws ApiError 429 `rate_limited` if the caller does not read any of its streams under way
   */
  async enter(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { caller: readerId } = request.account;
    const reader = this.#readers.get(readerId) ?? { open: new Set(), queue: [] };
    this.#readers.set(readerId, reader);
    this.#checking ??= setInterval(() => this.#check(), this.#bounds.checkEveryMs).unref();
    const stream = new OpenStream(request, reply, this.#bounds);
    reply.raw.once('close', () => this.#leave(readerId, reader, stream));
    // If the connection breaks while the stream is in the queue, this promise never settles. This does no harm, because no client waits for
    // the response.
    await new Promise<void>((resolve, reject) => {
      reader.queue.push({ stream, admit: resolve, refuse: reject });
      this.#admit(reader);
    });
  }

  /** Returns the number of streams that wait at present because their readers read too slowly. */
  countWaiting(): number {
    return [...this.#readers.values()].flatMap(({ open }) => [...open].filter((stream) => stream.waits())).length;
  }

  #admit({ open, queue }: Reader): void {
    const { maxWaiting } = this.#bounds;
    while (queue.length > 0 && open.size < maxWaiting) {
      const next = queue.shift();
      if (next !== undefined) {
        open.add(next.stream);
        next.stream.begin();
        next.admit();
      }
    }
    if (queue.length > 0 && [...open].every((stream) => stream.waits())) {
      queue.splice(0).forEach(({ refuse }) => refuse(this.#tooMany()));
    }
  }

  #leave(readerId: string, reader: Reader, stream: OpenStream): void {
    reader.open.delete(stream);
    reader.queue = reader.queue.filter((each) => each.stream !== stream);
    this.#admit(reader);
    if (reader.open.size === 0 && reader.queue.length === 0) {
      this.#readers.delete(readerId);
    }
    if (this.#readers.size === 0) {
      clearInterval(this.#checking);
      this.#checking = undefined;
    }
  }

  #check(): void {
    for (const reader of this.#readers.values()) {
      reader.open.forEach((stream) => stream.cutIfSlow());
      this.#admit(reader);
    }
  }

  #tooMany(): Error {
    const { maxWaiting, overMs } = this.#bounds;
    return apiError(
      'rate_limited',
      `${maxWaiting} list responses are not read to their end. Read or close them before you request another list, or request a page with page_size.`,
      { 'retry-after': String(Math.ceil(overMs / 1_000)) },
    );
  }
}

/** Stream under way, with the time at which it is cut off if its reader is too slow. */
class OpenStream {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #bounds: ReaderBounds;
  #begunAtMs = 0;
  /**
   * Time at which the stream is cut off if its reader takes no further bytes.
   * - When the reader takes bytes, this time moves later. For example, 32 KiB move it by 2 s if the minimum speed is 16 KiB per second.
   * - This time is never more than `overMs` after the current time. So a reader may pause for at most `overMs`, even if it has just taken
   *   many bytes.
   */
  #cutAtMs = 0;
  #takenBytes = 0;

  constructor(request: FastifyRequest, reply: FastifyReply, bounds: ReaderBounds) {
    this.#request = request;
    this.#reply = reply;
    this.#bounds = bounds;
  }

  begin(): void {
    this.#begunAtMs = performance.now();
    this.#cutAtMs = this.#begunAtMs + this.#bounds.overMs;
    this.#takenBytes = this.#taken();
  }

  /** Returns true if the response waits, because the reader has not yet taken the bytes that Node buffers for its connection (64 KiB). */
  waits(): boolean {
    return this.#reply.raw.writableNeedDrain;
  }

  cutIfSlow(): void {
    const { leastBytesPerSecond, overMs, longestMs } = this.#bounds;
    const nowMs = performance.now();
    const taken = this.#taken();
    const gainedMs = ((taken - this.#takenBytes) / leastBytesPerSecond) * 1_000;
    this.#takenBytes = taken;
    const latestCutMs = nowMs + overMs;
    this.#cutAtMs = this.waits() ? Math.min(this.#cutAtMs + gainedMs, latestCutMs) : latestCutMs;
    if (nowMs > this.#cutAtMs) {
      this.#cut(`the client read less than ${leastBytesPerSecond} bytes per second for ${overMs / 1_000} s`);
    } else if (nowMs > this.#begunAtMs + longestMs) {
      this.#cut(`the client did not read the whole response in ${longestMs / 1_000} s`);
    }
  }

  #cut(reason: string): void {
    this.#request.log.info(`list response cut off: ${reason}`);
    this.#request.raw.socket.destroy();
  }

  /** Returns the number of bytes that Node has passed to the operating system on this connection. */
  #taken(): number {
    const { socket } = this.#request.raw;
    return socket.bytesWritten - socket.writableLength;
  }
}
