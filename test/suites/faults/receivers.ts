import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Answer, ReceivedRequest, Receiver } from '../../support/receiver.ts';
import { TcpProxy } from './proxy.ts';

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
 * Misbehaviour of a receiver. `dribble` sends response headers that never end, and `gigabytes` sends a body that never ends. With
 * `certificate`, the receiver shows a certificate that the service does not trust.
 */
export type Misbehaviour = 'hang' | 'reset' | 'dribble' | 'redirect' | 'gigabytes' | 'certificate';

const ENDLESS_CHUNK = Buffer.alloc(64 * 1024, 'a');
const DRIBBLE_EVERY_MS = 1_000;
/** Answers to a POST of a misbehaving receiver. In the misbehaviour `certificate`, no POST should arrive. */
const ANSWERS: Record<Misbehaviour, Answer> = {
  hang: 'hang',
  reset: 'reset',
  dribble,
  redirect: { status: 307, headers: { location: 'https://127.0.0.1:9/elsewhere' } },
  gigabytes: pourForEver,
  certificate: 'hang',
};

/** Log of all POSTs that arrived at the receivers of the run, by event. */
export class PostLog {
  readonly byEvent = new Map<string, Post[]>();

  of(eventId: string): Post[] {
    return this.byEvent.get(eventId) ?? [];
  }

  add(post: Post): void {
    this.byEvent.set(post.eventId, [...this.of(post.eventId), post]);
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

  constructor(receiver: Receiver, log: PostLog) {
    this.#receiver = receiver;
    this.proxy = new TcpProxy({ port: receiver.port });
    this.#log = log;
    receiver.answerWith((request) => this.#take(request));
  }

  get url(): string {
    return `https://127.0.0.1:${this.proxy.port}/hook`;
  }

  /** @param badPort port of a receiver with an untrusted certificate, for the misbehaviour `certificate` */
  startMisbehaviour(misbehaviour: Misbehaviour, badPort: number): void {
    if (misbehaviour === 'certificate') {
      this.#leadTo(badPort);
    } else {
      this.#misbehaviour = misbehaviour;
    }
  }

  recover(): void {
    this.#misbehaviour = null;
    this.#leadTo(this.#receiver.port);
  }

  /** Forgets the events that get the misbehaviour in all five attempts. */
  forget(): void {
    this.#misbehaviourOf.clear();
  }

  async close(): Promise<void> {
    this.proxy.close();
    await this.#receiver.close();
  }

  /** Changes the target of the proxy. Cuts the connections, because those that are kept open lead to the previous target. */
  #leadTo(port: number): void {
    if ('port' in this.proxy.target && this.proxy.target.port !== port) {
      this.proxy.target = { port };
      this.proxy.cut();
    }
  }

  #take(request: ReceivedRequest): Answer {
    const eventId = String(request.headers['x-service-event-id']);
    const before = this.#log.of(eventId).length;
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
    const answer = misbehaviour === null ? this.answer(request, before) : ANSWERS[misbehaviour];
    if (answer instanceof Promise) {
      return (socket) => void answer.then((status) => answerByHand(socket, status, post));
    }
    post.isAccepted = isSuccess(answer);
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

/** Returns the response of an unreliable receiver. Of 100 events, it refuses 8 once, 6 twice, and 1 in all five attempts. */
export function unreliableAnswer(request: ReceivedRequest, postsBefore: number): Answer {
  const dice = diceOf(String(request.headers['x-service-event-id']));
  const failures = dice === 0 ? 5 : dice <= 6 ? 2 : dice <= 14 ? 1 : 0;
  return postsBefore < failures ? 503 : 204;
}

/** Returns a number from 0 to 99 that depends only on the event id. */
function diceOf(eventId: string): number {
  return createHash('sha256').update(eventId).digest().readUInt16BE(0) % 100;
}
