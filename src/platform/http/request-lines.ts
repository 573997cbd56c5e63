import type { Server, Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Account, STRANGERS } from '../lib/account.ts';
import { isArriving, noteArrival } from '../lib/arrivals.ts';
import { FairLines } from '../lib/fair-lines.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Requests of this route wait in no line. For health checks, which must be answered while the process is busy. */
    goesFirst?: boolean;
  }
}

/** Requests begin for so many milliseconds of each round of the event loop. */
const BEGINNING_MS = 2;
/** As many may begin together before it is known what they cost. */
const MAX_TOGETHER = 24;
/** A round that takes longer is long: everybody waits for its end. */
const LONG_ROUND_MS = 6;
/** While rounds are long, a tenant with so many requests under way begins no further one … */
const UNDER_WAY_IN_LONG_ROUNDS = 4;
/** … until one has waited for this long, because those under way may wait for their clients. */
const LONGEST_WAIT_MS = 1_000;
/** The tenants of so many credentials are known at once. */
const MAX_KNOWN = 10_000;

interface WaitingRequest {
  begin: (line: string) => boolean;
  sinceMs: number;
}

/**
 * Lets requests begin at the end of the round of the event loop that has read them, the tenants in turns; strangers share one line. A
 * request that comes alone waits for some 10 µs.
 *
 * Requests begin together while they are cheap: reading some twenty of them and then answering them takes a third less processor time
 * than reading and answering one after the other (docs/performance-log.md). The first request of a connection waits while further
 * connections come, which are accepted first.
 */
export class RequestLines {
  readonly #lines = new FairLines<WaitingRequest>();
  /** First requests of their connections, with their lines. */
  #first: [line: string, request: WaitingRequest][] = [];
  readonly #underWay = new Map<string, number>();
  readonly #tenants = new Map<string, string>();
  #isPlanned = false;
  #roundBeganMs = 0;
  #isLongRound = false;
  #togetherBeganMs = 0;
  #together = 0;
  /** What the last ones took, each. */
  #costMs = 0;

  /**
   * @param isFirst whether it is the first request of its connection
   * @param begin called when its turn has come, with its line, which `end` has to be called with; false if it need not begin any more
   */
  enter(request: FastifyRequest, isFirst: boolean, begin: (line: string) => boolean): void {
    const line = this.#tenants.get(credentialsOf(request)) ?? STRANGERS;
    const nowMs = performance.now();
    const waiting = { begin, sinceMs: nowMs };
    if (isFirst) {
      this.#first.push([line, waiting]);
    } else {
      this.#lines.push(line, waiting);
    }
    if (!this.#isPlanned) {
      this.#isPlanned = true;
      this.#roundBeganMs = nowMs;
      setImmediate(this.#beginRound);
    }
  }

  /**
   * Ends a request that has begun.
   * @param tenant whom it turned out to be of: the next one with its credentials stands in the line of the tenant
   */
  end(line: string, request: FastifyRequest, { tenant }: Account): void {
    this.#count(line, -1);
    if (tenant !== line && tenant !== STRANGERS) {
      this.#learn(credentialsOf(request), tenant);
    }
  }

  #count(line: string, change: 1 | -1): void {
    const underWay = (this.#underWay.get(line) ?? 0) + change;
    if (underWay === 0) {
      this.#underWay.delete(line);
    } else {
      this.#underWay.set(line, underWay);
    }
  }

  #learn(credentials: string, tenant: string): void {
    const [oldest] = this.#tenants.keys();
    if (this.#tenants.size === MAX_KNOWN && oldest !== undefined) {
      this.#tenants.delete(oldest);
    }
    this.#tenants.set(credentials, tenant);
  }

  readonly #beginRound = () => {
    const nowMs = performance.now();
    this.#isLongRound = nowMs - this.#roundBeganMs > LONG_ROUND_MS;
    this.#roundBeganMs = nowMs;
    if (this.#first.length > 0 && !isArriving()) {
      this.#first.forEach(([line, request]) => this.#lines.push(line, request));
      this.#first = [];
    }
    this.#beginTogether(nowMs);
  };

  #beginTogether(nowMs: number): void {
    const leftMs = BEGINNING_MS - (nowMs - this.#roundBeganMs);
    const most = Math.min(MAX_TOGETHER, Math.max(1, leftMs / this.#costMs));
    this.#togetherBeganMs = nowMs;
    this.#together = 0;
    while (this.#together < most && this.#beginNext()) {
      this.#together += 1;
    }
    queueMicrotask(this.#afterMicrotasks);
  }

  #beginNext(): boolean {
    const next = this.#lines.shift(this.#mayBegin);
    if (next === undefined) {
      return false;
    }
    this.#count(next.key, 1);
    if (!next.item.begin(next.key)) {
      this.#count(next.key, -1);
    }
    return true;
  }

  /** A tick that is planned by a microtask comes after all microtasks: what requests do at once counts for them. */
  readonly #afterMicrotasks = () => process.nextTick(this.#afterTogether);

  readonly #afterTogether = () => {
    const nowMs = performance.now();
    if (this.#together > 0) {
      this.#costMs = (nowMs - this.#togetherBeganMs) / this.#together;
      if (this.#lines.size > 0 && nowMs - this.#roundBeganMs < BEGINNING_MS) {
        this.#beginTogether(nowMs);
        return;
      }
    }
    this.#isPlanned = this.#lines.size + this.#first.length > 0;
    if (this.#isPlanned) {
      setImmediate(this.#beginRound);
    }
  };

  readonly #mayBegin = (line: string, { sinceMs }: WaitingRequest) =>
    !this.#isLongRound ||
    (this.#underWay.get(line) ?? 0) < UNDER_WAY_IN_LONG_ROUNDS ||
    this.#roundBeganMs - sinceMs > LONGEST_WAIT_MS;
}

/**
 * What the caller sent to say who it is, secrets included: a stranger who knows only the name of a credential stands in no tenant's line.
 * A channel is known by its key alone, because its signature differs in each call.
 */
function credentialsOf({ headers }: FastifyRequest): string {
  return (
    headers.authorization ??
    [
      headers['x-api-key'],
      headers['x-api-secret'],
      headers['x-pms-api-key'],
      headers['x-pms-api-secret'],
      headers['x-channel-key'],
    ].join(' ')
  );
}

/** Makes a function that calls `begin` when the turn of a request has come; not at all if its client has gone meanwhile. */
export function createRequestLines(
  server: Server,
): (request: FastifyRequest, reply: FastifyReply, begin: () => void) => void {
  const lines = new RequestLines();
  const newConnections = new WeakSet<Socket>();
  server.on('connection', (socket) => {
    newConnections.add(socket);
    noteArrival();
  });
  return (request, reply, begin) => {
    if (request.routeOptions.config.goesFirst === true) {
      begin();
      return;
    }
    lines.enter(request, newConnections.delete(request.raw.socket), (line) => {
      if (reply.raw.destroyed) {
        return false;
      }
      reply.raw.on('close', () => lines.end(line, request, request.account));
      begin();
      return true;
    });
  };
}
