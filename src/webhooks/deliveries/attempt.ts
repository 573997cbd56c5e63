import { Connections } from './connection.ts';
import { ResponseReader } from './response-reader.ts';
import { type SendError, SendFailure } from './send-error.ts';
import { deliveryHeaders } from './signature.ts';
import type { VettingOptions } from './vetting-connector.ts';
import { readWebhookUrl } from './webhook-url.ts';

export interface WebhookSenderOptions extends VettingOptions {
  headerBrand: string;
  /** Time limit of an attempt in milliseconds, for look-up, connection, TLS and response together. Default: 10,000 (contract §6). */
  timeoutMs?: number | undefined;
  /** Default: only if private networks are not allowed, because staff could read the responses of servers inside our network. */
  keepAnswers?: boolean | undefined;
}

/** Message that one attempt signs and posts: an event, or a test call. */
interface Message {
  webhookUrl: string;
  eventId: string;
  body: string;
  /** Returns the decrypted webhook secret. It throws if the secret cannot be decrypted. */
  secret: () => string;
}

/** `ok` is true if the status was 2xx. `error` and `phase` are then null. */
export interface Attempted {
  ok: boolean;
  /** Null: no response was received. */
  httpStatus: number | null;
  /** Milliseconds until the status of the response was read or the attempt failed. */
  durationMs: number;
  error: SendError | null;
  /** Failed before a byte was sent, while no final status was read (the receiver may have handled the event), or because of the status. */
  phase: 'before' | 'during' | 'after' | null;
  /** First 1,024 bytes of the body of the response, as text. Null: no response was received, or it is not kept. */
  answer: string | null;
  /** Timestamp of the signature, in seconds of Unix time. Null: no request was signed. */
  timestampSeconds: number | null;
  cause?: unknown;
}

const TIMEOUT_MS = 10_000;
export const FIXED_HEADERS = { 'content-type': 'application/json', 'user-agent': 'Roomservice/1.0' };

/** Sends only over HTTPS and to public addresses, unless private networks are allowed. Follows no redirects, and never repeats a POST. */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #connections: Connections;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    this.#connections = new Connections(options);
  }

  /** Makes one attempt. Never throws. The outcome reports every failure. */
  async attempt(message: Message): Promise<Attempted> {
    const { headerBrand, allowPrivateNetwork, timeoutMs = TIMEOUT_MS } = this.#options;
    const { keepAnswers = !allowPrivateNetwork } = this.#options;
    const begunAtMs = performance.now();
    const reader = new ResponseReader();
    let deadline: NodeJS.Timeout | undefined;
    let timestampSeconds: number | null = null;
    let isSent = false;
    let failure: SendError | null = null;
    let cause: unknown;
    try {
      const url = this.#readUrl(message.webhookUrl);
      const secret = message.secret();
      timestampSeconds = Math.floor(Date.now() / 1000);
      const headers = deliveryHeaders(headerBrand, { ...message, secret, timestampSeconds });
      const connection = await this.#connections.take(url);
      deadline = setTimeout(() => connection.destroy('timeout'), timeoutMs);
      await connection.open();
      if (performance.now() - begunAtMs >= timeoutMs) {
        // A busy process may see that the connection is open before its timer ends the attempt. The lease may then end during the POST.
        connection.destroy('timeout');
        throw new SendFailure('timeout');
      }
      isSent = true;
      await connection.post(postTo(url, headers, message.body), reader);
      this.#connections.keep(connection, reader.keepMs);
    } catch (error) {
      failure = error instanceof SendFailure ? error.reason : 'internal_error';
      cause = failure === 'internal_error' ? error : undefined;
    }
    clearTimeout(deadline);
    const { status, statusAtMs } = reader;
    // The status decides. A 2xx is a success, even if an error or the time limit then ended the reading of the body.
    const error = status === null ? failure : errorOfStatus(status);
    return {
      ok: error === null,
      httpStatus: status,
      durationMs: Math.round((statusAtMs ?? performance.now()) - begunAtMs),
      error,
      phase: error === null ? null : status !== null ? 'after' : isSent ? 'during' : 'before',
      answer: status !== null && keepAnswers ? reader.text : null,
      timestampSeconds,
      ...(cause === undefined ? {} : { cause }),
    };
  }

  /** Ends all attempts under way with the error `aborted`, and closes all connections. Later attempts also end with `aborted`. */
  async close(): Promise<void> {
    this.#connections.close();
  }

  #readUrl(webhookUrl: string): URL {
    try {
      return readWebhookUrl(webhookUrl, this.#options);
    } catch {
      throw new SendFailure('address_refused');
    }
  }
}

function postTo({ pathname, search, host }: URL, headers: Record<string, string>, body: string): string {
  return (
    `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n` +
    `${linesOf(FIXED_HEADERS)}${linesOf(headers)}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

function linesOf(headers: Record<string, string>): string {
  let lines = '';
  for (const name in headers) {
    lines += `${name}: ${headers[name]}\r\n`;
  }
  return lines;
}

/** Statuses that name another URL. A 304, for example, names none. */
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

function errorOfStatus(status: number): SendError | null {
  if (status < 300) {
    return null;
  }
  return REDIRECTS.has(status) ? 'redirect' : 'http_status';
}
