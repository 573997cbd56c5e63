import { SendFailure } from './send-error.ts';

/** Largest size of a response that is read, with its interim responses (1xx) and its headers, in bytes. */
const CAP_BYTES = 65_536;
const KEPT_BYTES = 1_024;
/** Longest time in milliseconds for which an idle connection is kept. A POST that begins when the receiver closes the connection fails. */
const KEEP_MS = 4_000;
/** Time by which a connection is closed before the end of the time that the receiver names in its header Keep-Alive. */
const KEEP_MARGIN_MS = 2_000;
const LINE_FEED = 10;
const STATUS_LINE = /^HTTP\/([0-2](?:\.\d)?)[ \t]+([1-9]\d\d)(?!\S)/i;
/** Pattern of a valid header line (RFC 9112 §5). A folded line does not match. */
const HEADER_LINE = /^[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*\r$/;
const CHUNK_SIZE = /^([\da-f]{1,8})[ \t]*(?:;.*)?\r$/i;

type Header = [string, string];

/** Waits for more bytes at each `yield`. */
type Reading<Result = void> = Generator<undefined, Result, undefined>;

/**
 * Reads the response to one request from the bytes of a connection. It reads the final status also from a response that is not valid HTTP,
 * if the response has a status line and an end of its head. The receiver has handled the request in such a case too, so an error would only
 * cause further attempts. After such a response, the connection must be closed, because the end of the response is not certain.
 */
export class ResponseReader {
  /** Final status (200 or higher). Null: it was not read yet. */
  status: number | null = null;
  /** Time (`performance.now()`) at which the final status was read. */
  statusAtMs: number | null = null;
  /** Also true if the end is not certain. */
  isEnded = false;
  #bytesLeft = CAP_BYTES;
  /** Bytes that arrived last, and the number of those that were read. */
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  /** False if the response is not valid HTTP. */
  #isTidy = true;
  #keepMs = KEEP_MS;
  #kept = Buffer.alloc(0);
  readonly #reading = this.#readResponse();

  /** Milliseconds for which the connection may be idle after the response. Zero means that it must be closed. */
  get keepMs(): number {
    return this.#isTidy ? this.#keepMs : 0;
  }

  /** The first 1,024 bytes of the body. An incomplete character at the end is left out. NUL, which PostgreSQL does not store, is replaced. */
  get text(): string {
    return new TextDecoder().decode(this.#kept, { stream: true }).replaceAll('\0', '\u{FFFD}');
  }

  /** @throws SendFailure if the final status cannot be read */
  read(bytes: Buffer): void {
    this.#bytes = bytes.subarray(0, this.#bytesLeft);
    this.#at = 0;
    this.#bytesLeft -= this.#bytes.length;
    this.isEnded = this.#reading.next().done === true;
    if (this.#at < bytes.length) {
      if (this.status === null) {
        throw new SendFailure('unreadable_response: headers above 64 KiB');
      }
      this.isEnded = true;
      this.#isTidy = false;
    }
  }

  *#readResponse(): Reading {
    let status: number;
    let headers: Header[];
    do {
      status = yield* this.#readStatusLine();
      headers = yield* this.#readHeaders();
    } while (status < 200);
    this.status = status;
    this.statusAtMs = performance.now();
    const valuesOf = (name: string) => headers.filter(([each]) => each === name).map(([, value]) => value);
    this.#keepMs = keepMsOf(valuesOf('connection').join(), valuesOf('keep-alive').join());
    const lengths = valuesOf('content-length');
    const encodings = valuesOf('transfer-encoding');
    this.#isTidy &&= lengths.length + encodings.length <= 1;
    if (status === 204 || status === 304) {
      this.#isTidy &&= encodings.length === 0 && [undefined, '0'].includes(lengths[0]);
    } else if (/(?:^|[ \t,])chunked$/i.test(encodings.at(-1) ?? '')) {
      yield* this.#readChunks();
    } else if (lengths.length + encodings.length === 0) {
      this.#keepMs = 0; // The body ends with the connection.
      yield* this.#readBody(Number.POSITIVE_INFINITY);
    } else if (lengths.length === 1 && encodings.length === 0 && /^\d+$/.test(lengths[0] ?? '')) {
      yield* this.#readBody(Number(lengths[0]));
    } else {
      this.#isTidy = false;
    }
  }

  *#readStatusLine(): Reading<number> {
    let line = yield* this.#readLine();
    while (isEmpty(line)) {
      line = yield* this.#readLine(); // Some servers send an empty line after the body of their previous response.
    }
    const [, version, status] = STATUS_LINE.exec(line) ?? [];
    if (status === undefined || status === '101') {
      const why = status === undefined ? 'no status line' : 'change of protocol';
      throw new SendFailure(`unreadable_response: ${why}`);
    }
    this.#isTidy &&= version === '1.1';
    return Number(status);
  }

  *#readHeaders(): Reading<Header[]> {
    const headers: Header[] = [];
    for (let line = yield* this.#readLine(); !isEmpty(line); line = yield* this.#readLine()) {
      const colon = line.indexOf(':');
      headers.push([line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]);
      this.#isTidy &&= HEADER_LINE.test(line);
    }
    return headers;
  }

  *#readChunks(): Reading {
    for (;;) {
      const size = Number.parseInt(CHUNK_SIZE.exec(yield* this.#readLine())?.[1] ?? '', 16);
      if (size === 0) {
        yield* this.#readHeaders(); // These are the trailers.
        return;
      }
      yield* this.#readBody(size);
      if (Number.isNaN(size) || !isEmpty(yield* this.#readLine())) {
        this.#isTidy = false;
        return;
      }
    }
  }

  *#readBody(length: number): Reading {
    for (let left = length; left > 0; ) {
      if (this.#at === this.#bytes.length) {
        yield;
      }
      const part = this.#bytes.subarray(this.#at, this.#at + left);
      if (this.#kept.length < KEPT_BYTES) {
        this.#kept = Buffer.concat([this.#kept, part.subarray(0, KEPT_BYTES - this.#kept.length)]);
      }
      this.#at += part.length;
      left -= part.length;
    }
  }

  *#readLine(): Reading<string> {
    let line = '';
    for (;;) {
      const end = this.#bytes.indexOf(LINE_FEED, this.#at);
      line += this.#bytes.toString('latin1', this.#at, end === -1 ? undefined : end);
      this.#at = end === -1 ? this.#bytes.length : end + 1;
      if (end !== -1) {
        return line;
      }
      yield;
    }
  }
}

function isEmpty(line: string): boolean {
  return line === '' || line === '\r';
}

function keepMsOf(connection: string, keepAlive: string): number {
  const seconds = Number(/\btimeout=(\d+)/i.exec(keepAlive)?.[1] ?? Number.POSITIVE_INFINITY);
  const isClosed = /(?:^|[ \t,])close(?:$|[ \t,])/i.test(connection);
  return isClosed ? 0 : Math.max(0, Math.min(KEEP_MS, seconds * 1_000 - KEEP_MARGIN_MS));
}
