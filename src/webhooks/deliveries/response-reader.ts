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
  /** True after the end of the response, also if the end is not certain. */
  isEnded = false;
  /** Longest time in milliseconds for which the connection may be idle after the response. Zero means that it must be closed. */
  keepMs = KEEP_MS;
  #bytesLeft = CAP_BYTES;
  #expects: 'status' | 'header' | 'chunk' | 'chunk end' | 'trailer' = 'status';
  /** Beginning of a line whose end has not arrived. */
  #line = '';
  /** Status of the head that is being read. */
  #nextStatus = 0;
  #isChunked = false;
  /** Values of the headers Content-Length and Transfer-Encoding. A valid response has at most one. */
  readonly #framing: string[] = [];
  #bodyLeft = 0;
  #kept = Buffer.alloc(0);

  /**
   * Returns the first 1,024 bytes of the body as text. Bytes that are not UTF-8, and NUL, which PostgreSQL does not store, become U+FFFD. An
   * incomplete character at the end is left out.
   */
  get text(): string {
    return new TextDecoder().decode(this.#kept, { stream: true }).replaceAll('\0', '\u{FFFD}');
  }

  /**
   * Reads the next bytes of the connection.
   * @throws SendFailure if the final status cannot be read
   */
  read(bytes: Buffer): void {
    const chunk = bytes.subarray(0, this.#bytesLeft);
    this.#bytesLeft -= chunk.length;
    let at = 0;
    while (at < chunk.length && !this.isEnded) {
      at = this.#bodyLeft > 0 ? this.#readBody(chunk, at) : this.#readLine(chunk, at);
    }
    if (at < bytes.length) {
      if (this.status === null) {
        throw new SendFailure('during', 'unreadable_response: headers above 64 KiB');
      }
      this.#endUncertainly();
    }
  }

  #endUncertainly(): void {
    this.isEnded = true;
    this.keepMs = 0;
  }

  #readBody(chunk: Buffer, at: number): number {
    const part = chunk.subarray(at, at + this.#bodyLeft);
    if (this.#kept.length < KEPT_BYTES) {
      this.#kept = Buffer.concat([this.#kept, part.subarray(0, KEPT_BYTES - this.#kept.length)]);
    }
    this.#bodyLeft -= part.length;
    this.isEnded = this.#bodyLeft === 0 && !this.#isChunked;
    return at + part.length;
  }

  #readLine(chunk: Buffer, at: number): number {
    const lineFeed = chunk.indexOf(LINE_FEED, at);
    const end = lineFeed === -1 ? chunk.length : lineFeed;
    const line = this.#line + chunk.toString('latin1', at, end);
    if (lineFeed === -1) {
      this.#line = line;
      return end;
    }
    this.#line = '';
    this.#takeLine(line, line === '\r' || line === '');
    return end + 1;
  }

  #takeLine(line: string, isEmpty: boolean): void {
    switch (this.#expects) {
      case 'status':
        // Some servers send an empty line after the body of their previous response.
        return isEmpty ? undefined : this.#takeStatusLine(line);
      case 'header':
        return isEmpty ? this.#endHead() : this.#takeHeader(line);
      case 'chunk':
        return this.#takeChunkSize(line);
      case 'chunk end':
        this.#expects = 'chunk';
        return isEmpty ? undefined : this.#endUncertainly();
      case 'trailer':
        this.isEnded = isEmpty;
    }
  }

  #takeStatusLine(line: string): void {
    const [, version, status = ''] = STATUS_LINE.exec(line) ?? [];
    if (status === '' || status === '101') {
      const why = status === '' ? 'no status line' : 'change of protocol';
      throw new SendFailure('during', `unreadable_response: ${why}`);
    }
    if (version !== '1.1') {
      this.keepMs = 0;
    }
    this.#nextStatus = Number(status);
    this.#expects = 'header';
  }

  #takeHeader(line: string): void {
    if (!HEADER_LINE.test(line)) {
      this.keepMs = 0;
    }
    if (this.#nextStatus < 200) {
      return;
    }
    const colon = line.indexOf(':');
    const value = line.slice(colon + 1).trim();
    switch (line.slice(0, colon).trim().toLowerCase()) {
      case 'content-length':
        this.#framing.push(value);
        break;
      case 'transfer-encoding':
        this.#isChunked = /(?:^|[ \t,])chunked$/i.test(value);
        this.#framing.push(value);
        break;
      case 'connection':
        this.keepMs = /(?:^|[ \t,])close(?:$|[ \t,])/i.test(value) ? 0 : this.keepMs;
        break;
      case 'keep-alive': {
        const seconds = Number(/\btimeout=(\d+)/i.exec(value)?.[1] ?? Number.POSITIVE_INFINITY);
        this.keepMs = Math.max(0, Math.min(this.keepMs, seconds * 1_000 - KEEP_MARGIN_MS));
      }
    }
  }

  #endHead(): void {
    if (this.#nextStatus < 200) {
      this.#expects = 'status';
      return;
    }
    this.status = this.#nextStatus;
    this.statusAtMs = performance.now();
    const [length = null, ...others] = this.#framing;
    if (others.length > 0) {
      this.keepMs = 0;
    }
    if (this.status === 204 || this.status === 304) {
      this.isEnded = true;
      this.keepMs = length === null || length === '0' ? this.keepMs : 0;
    } else if (this.#isChunked) {
      this.#expects = 'chunk';
    } else if (length === null) {
      this.#bodyLeft = Number.POSITIVE_INFINITY; // The body ends with the connection.
      this.keepMs = 0;
    } else if (/^\d+$/.test(length) && others.length === 0) {
      this.#bodyLeft = Number(length);
      this.isEnded = this.#bodyLeft === 0;
    } else {
      this.#endUncertainly();
    }
  }

  #takeChunkSize(line: string): void {
    const size = CHUNK_SIZE.exec(line)?.[1];
    if (size === undefined) {
      this.#endUncertainly();
      return;
    }
    this.#bodyLeft = Number.parseInt(size, 16);
    this.#expects = this.#bodyLeft === 0 ? 'trailer' : 'chunk end';
  }
}
