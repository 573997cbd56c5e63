import type { FastifyReply, FastifyRequest } from 'fastify';
import { apiError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyInstance {
    slowReaders: SlowReaders;
  }
}

/** What readers of long lists may cost. */
export interface ReaderBounds {
  /** Streams of one reader that wait for it at the same time. */
  maxWaiting: number;
  /** A stream that waits is cut when less is taken of it … */
  leastBytesPerSecond: number;
  /** … over so long. */
  overMs: number;
  /** Every stream is cut after this time, also one that is read fast. */
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

/** The streams of one reader: those under way, and those that are not let in yet, which know how. */
interface Reader {
  open: Set<OpenStream>;
  inLine: { stream: OpenStream; letIn: () => void; refuse: (error: Error) => void }[];
}

/** Bounds the streams of each reader in number, pace and time: each that waits for its reader holds memory. */
export class SlowReaders {
  readonly #bounds: ReaderBounds;
  readonly #readers = new Map<string, Reader>();
  #checking: NodeJS.Timeout | undefined;

  constructor(bounds: Partial<ReaderBounds> = {}) {
    this.#bounds = { ...BOUNDS, ...bounds };
  }

  /**
   * Lets a stream begin. While as many others of the reader are under way as may wait for it, it stands in line until one ends, or
   * until all wait for their reader. The place is given back when the answer ends or its connection breaks.
   * @throws ApiError 429 `rate_limited` where all the others wait for their reader
   */
  async enter(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { caller: readerId } = request.account;
    const reader = this.#readers.get(readerId) ?? { open: new Set(), inLine: [] };
    this.#readers.set(readerId, reader);
    this.#checking ??= setInterval(() => this.#check(), this.#bounds.checkEveryMs).unref();
    const stream = new OpenStream(request, reply, this.#bounds);
    reply.raw.once('close', () => this.#leave(readerId, reader, stream));
    // Where the connection breaks while it stands in line, this never ends: there is no one to answer.
    await new Promise<void>((resolve, reject) => {
      reader.inLine.push({ stream, letIn: resolve, refuse: reject });
      this.#letIn(reader);
    });
  }

  /** Streams that wait for their reader now. */
  countWaiting(): number {
    return [...this.#readers.values()].flatMap(({ open }) => [...open].filter((stream) => stream.waits())).length;
  }

  #letIn({ open, inLine }: Reader): void {
    const { maxWaiting } = this.#bounds;
    while (inLine.length > 0 && open.size < maxWaiting) {
      const next = inLine.shift();
      if (next !== undefined) {
        open.add(next.stream);
        next.stream.begin();
        next.letIn();
      }
    }
    if (inLine.length > 0 && [...open].every((stream) => stream.waits())) {
      inLine.splice(0).forEach(({ refuse }) => refuse(this.#tooMany()));
    }
  }

  #leave(readerId: string, reader: Reader, stream: OpenStream): void {
    reader.open.delete(stream);
    reader.inLine = reader.inLine.filter((each) => each.stream !== stream);
    this.#letIn(reader);
    if (reader.open.size === 0 && reader.inLine.length === 0) {
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
      this.#letIn(reader);
    }
  }

  #tooMany(): Error {
    const { maxWaiting, overMs } = this.#bounds;
    return apiError(
      'rate_limited',
      `${maxWaiting} lists wait to be read, and no more may: read them to their ends or close them, or ask for pages.`,
      { 'retry-after': String(Math.ceil(overMs / 1_000)) },
    );
  }
}

/** An answer under way, and how long its reader may still take. */
class OpenStream {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #bounds: ReaderBounds;
  #begunAtMs = 0;
  /** What is taken pays for the time after it, up to `overMs`: so bytes that go in bursts count as those that flow. */
  #paidUntilMs = 0;
  #takenBytes = 0;

  constructor(request: FastifyRequest, reply: FastifyReply, bounds: ReaderBounds) {
    this.#request = request;
    this.#reply = reply;
    this.#bounds = bounds;
  }

  begin(): void {
    this.#begunAtMs = performance.now();
    this.#paidUntilMs = this.#begunAtMs + this.#bounds.overMs;
    this.#takenBytes = this.#taken();
  }

  /** Whether 64 KiB of it, what Node holds for a connection, are not taken. */
  waits(): boolean {
    return this.#reply.raw.writableNeedDrain;
  }

  cutIfSlow(): void {
    const { leastBytesPerSecond, overMs, longestMs } = this.#bounds;
    const nowMs = performance.now();
    const taken = this.#taken();
    const paidMs = ((taken - this.#takenBytes) / leastBytesPerSecond) * 1_000;
    this.#takenBytes = taken;
    const mostMs = nowMs + overMs;
    this.#paidUntilMs = this.waits() ? Math.min(this.#paidUntilMs + paidMs, mostMs) : mostMs;
    if (nowMs > this.#paidUntilMs) {
      this.#cut(`less than ${leastBytesPerSecond} bytes a second were taken of it over ${overMs / 1_000} s`);
    } else if (nowMs > this.#begunAtMs + longestMs) {
      this.#cut(`it was not read to its end in ${longestMs / 1_000} s`);
    }
  }

  #cut(reason: string): void {
    this.#request.log.info(`a list is cut off: ${reason}`);
    this.#request.raw.socket.destroy();
  }

  /** Bytes that the connection has taken from us. */
  #taken(): number {
    const { socket } = this.#request.raw;
    return socket.bytesWritten - socket.writableLength;
  }
}
