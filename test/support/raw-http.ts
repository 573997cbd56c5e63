import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Longest time in milliseconds that a test waits for responses or for the end of a connection. A response of 40 MB needs seconds. */
const LIMIT_MS = 60_000;

/** A response, parsed from the received bytes. Header names are in lower case. */
export interface RawAnswer {
  status: number;
  /** Text after the status code in the status line, for example `Not Found`. */
  reason: string;
  headers: Record<string, string>;
  body: string;
}

/** Sends bytes, a string as Latin-1, and returns every response until the server closes the connection. */
export async function exchange(url: string, request: string | Buffer): Promise<RawAnswer[]> {
  const connection = openConnection(url);
  connection.send(request);
  return await connection.closed();
}

export interface RawConnection {
  socket: Socket;
  send: (bytes: string | Buffer) => void;
  /** Returns the complete responses that have arrived until now. */
  answers(): RawAnswer[];
  /** @throws if this takes more than a minute */
  waitFor(count: number): Promise<RawAnswer[]>;
  /** Waits until the server closes the connection. @throws if this takes more than a minute */
  closed(): Promise<RawAnswer[]>;
}

export function openConnection(url: string): RawConnection {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  socket.on('error', () => {}); // A reset needs no handling here, because the test notices the missing responses.
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return {
    socket,
    send: (bytes) => void socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    answers: () => parseAnswers(received),
    async waitFor(count) {
      const deadline = Date.now() + LIMIT_MS;
      while (parseAnswers(received).length < count) {
        if (Date.now() > deadline)
          throw new Error(`Fewer than ${count} responses came within a minute. Received: ${received}`);
        await sleep(5);
      }
      return parseAnswers(received);
    },
    async closed() {
      if (await Promise.race([closed.then(() => false), sleep(LIMIT_MS, true, { ref: false })])) {
        socket.destroy();
        throw new Error('The server did not close the connection within a minute.');
      }
      return parseAnswers(received);
    },
  };
}

function parseAnswers(received: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = received;
  for (;;) {
    const [head = '', ...parts] = rest.split('\r\n\r\n');
    const [statusLine = '', ...lines] = head.split('\r\n');
    const [, number, reason = ''] = /^HTTP\/1\.1 (\d{3}) (.*)$/.exec(statusLine) ?? [];
    const status = Number(number);
    const headers = Object.fromEntries(lines.map(splitHeader));
    const found = parts.length === 0 ? null : takeBody(parts.join('\r\n\r\n'), headers);
    if (Number.isNaN(status) || found === null) {
      return answers;
    }
    answers.push({ status, reason, headers, body: Buffer.from(found.body, 'latin1').toString() });
    rest = found.rest;
  }
}

function splitHeader(line: string): [string, string] {
  const [name = '', ...value] = line.split(': ');
  return [name.toLowerCase(), value.join(': ')];
}

function takeBody(text: string, headers: Record<string, string>): { body: string; rest: string } | null {
  if (headers['transfer-encoding'] === 'chunked') {
    return takeChunks(text);
  }
  const length = Number(headers['content-length'] ?? 0);
  return text.length < length ? null : { body: text.slice(0, length), rest: text.slice(length) };
}

function takeChunks(text: string): { body: string; rest: string } | null {
  let body = '';
  for (let at = 0; ; ) {
    const end = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, end), 16);
    const start = end + 2;
    if (end < 0 || text.length < start + size + 2) return null;
    body += text.slice(start, start + size);
    at = start + size + 2;
    if (size === 0) return { body, rest: text.slice(at) };
  }
}
