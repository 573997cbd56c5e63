import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { type Certificate, makeCertificate } from '../../support/certificate.ts';
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from '../../support/receiver.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** A received POST. `isAccepted` is true if the response was a 2xx. */
export interface Post {
  eventId: string;
  url: string;
  atMs: number;
  body: string;
  timestamp: string;
  signature: string;
  isAccepted: boolean;
}

/**
 * Misbehaviour of a receiver. `hang` sends no response, and `reset` resets the connection. `dribble` sends response headers that never end,
 * and `gigabytes` sends a body that never ends. With `certificate`, the receiver shows a certificate that the service does not trust.
 */
export type Misbehaviour = 'hang' | 'reset' | 'dribble' | 'redirect' | 'gigabytes' | 'certificate';

const ENDLESS_CHUNK = Buffer.alloc(64 * 1024, 'a');
const DRIBBLE_EVERY_MS = 1_000;

/** Log of all POSTs that arrived at the receivers of the run, by event. */
export class PostLog {
  readonly byEvent = new Map<string, Post[]>();
  onPost: (post: Post) => void = () => {};

  add(post: Post): void {
    const posts = this.byEvent.get(post.eventId) ?? [];
    posts.push(post);
    this.byEvent.set(post.eventId, posts);
    this.onPost(post);
  }
}

/**
 * A webhook receiver behind a TCP proxy. A fault can make the receiver misbehave for some time. One in ten of the events that arrive during
 * this time gets the misbehaviour in all five attempts, even after the fault. All other events get a 2xx after the fault.
 */
export class Hook {
  readonly proxy: TcpProxy;
  readonly #receiver: Receiver;
  #misbehaviour: Misbehaviour | null = null;
  readonly #misbehaviourOf = new Map<string, Misbehaviour>();
  readonly #log: PostLog;
  /** Chooses the response to an event while the receiver does not misbehave. `postsBefore` is the number of earlier POSTs of this event. */
  answer: (request: ReceivedRequest, postsBefore: number) => Answer | Promise<number> = () => 204;

  constructor(receiver: Receiver, proxy: TcpProxy, log: PostLog) {
    this.#receiver = receiver;
    this.proxy = proxy;
    this.#log = log;
    receiver.answerWith((request) => this.#take(request));
  }

  get url(): string {
    return `https://127.0.0.1:${this.proxy.port}/hook`;
  }

  /**
   * Makes the receiver misbehave.
   * @param badPort port of a receiver with a certificate that the service does not trust. Only the misbehaviour `certificate` uses this
   * port
   */
  startMisbehaviour(misbehaviour: Misbehaviour, badPort: number): void {
    if (misbehaviour === 'certificate') {
      this.proxy.target = badPort;
      this.proxy.cut();
    } else {
      this.#misbehaviour = misbehaviour;
    }
  }

  recover(): void {
    this.#misbehaviour = null;
    if (this.proxy.target !== this.#receiver.port) {
      this.proxy.target = this.#receiver.port;
      this.proxy.cut();
    }
  }

  /** Clears the list of events for which this receiver misbehaves in all five attempts. */
  forget(): void {
    this.#misbehaviourOf.clear();
  }

  async close(): Promise<void> {
    this.proxy.close();
    await this.#receiver.close();
  }

  #take(request: ReceivedRequest): Answer {
    const eventId = String(request.headers['x-service-event-id']);
    const before = this.#log.byEvent.get(eventId)?.length ?? 0;
    const misbehaviour = this.#misbehaviourOf.get(eventId) ?? this.#misbehaviour;
    if (misbehaviour !== null && diceOf(eventId) < 10) {
      this.#misbehaviourOf.set(eventId, misbehaviour);
    }
    const post: Post = {
      eventId,
      url: this.url,
      atMs: request.at,
      body: request.rawBody.toString('utf8'),
      timestamp: String(request.headers['x-service-timestamp']),
      signature: String(request.headers['x-service-signature']),
      isAccepted: false,
    };
    this.#log.add(post);
    const answer = misbehaviour === null ? this.answer(request, before) : answerIn(misbehaviour);
    if (answer instanceof Promise) {
      return (socket) => void answer.then((status) => answerByHand(socket, status, post));
    }
    post.isAccepted = isSuccess(typeof answer === 'object' ? answer.status : answer);
    return answer;
  }
}

function isSuccess(answer: Answer): boolean {
  return typeof answer === 'number' && answer >= 200 && answer < 300;
}

/** Writes a whole response directly to the socket. Used if the receiver chooses the status asynchronously. */
function answerByHand(socket: Socket, status: number, post: Post): void {
  post.isAccepted = isSuccess(status);
  socket.end(`HTTP/1.1 ${status} So\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
}

function answerIn(misbehaviour: Misbehaviour): Answer {
  switch (misbehaviour) {
    case 'hang':
    case 'reset':
      return misbehaviour;
    case 'redirect':
      return { status: 307, headers: { location: 'https://127.0.0.1:9/elsewhere' } };
    case 'dribble':
      return dribble;
    default:
      return pourForEver;
  }
}

/** Sends one byte per second of response headers that never end. */
function dribble(socket: Socket): void {
  const timer = setInterval(() => socket.write('H'), DRIBBLE_EVERY_MS);
  socket.once('close', () => clearInterval(timer));
}

function pourForEver(socket: Socket): void {
  socket.write('HTTP/1.1 500 So\r\ncontent-length: 4000000000\r\n\r\n');
  const pour = () => {
    while (!socket.destroyed && socket.write(ENDLESS_CHUNK));
  };
  socket.on('drain', pour);
  pour();
}

export async function startHook(certificate: Certificate, log: PostLog): Promise<Hook> {
  const receiver = await startReceiver({ certificate });
  const proxy = new TcpProxy(receiver.port);
  await proxy.listen();
  return new Hook(receiver, proxy, log);
}

/**
 * Starts a receiver with a certificate that the service does not trust. The service must refuse the connection, so no request should
 * arrive.
 */
export async function startImpostor(): Promise<Receiver> {
  return await startReceiver({ certificate: await makeCertificate() });
}

/**
 * Returns the response of an unreliable receiver. Of 100 events, the receiver refuses 8 once, 6 twice, and 1 in all five attempts.
 * @param postsBefore number of earlier POSTs of this event
 */
export function unreliableAnswer(request: ReceivedRequest, postsBefore: number): Answer {
  const dice = diceOf(String(request.headers['x-service-event-id']));
  const failures = dice === 0 ? 5 : dice <= 6 ? 2 : dice <= 14 ? 1 : 0;
  return postsBefore < failures ? 503 : 204;
}

/** Returns a number from 0 to 99 that depends only on the event id. */
function diceOf(eventId: string): number {
  return createHash('sha256').update(eventId).digest().readUInt16BE(0) % 100;
}
