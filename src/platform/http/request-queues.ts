import type { Server, Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Account, STRANGERS } from '../lib/account.ts';
import { isArriving, noteArrival } from '../lib/arrivals.ts';
import { FairQueues } from '../lib/fair-queues.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * True if requests of this route begin without waiting in a queue. Used by health checks, which must respond while the process is
     * busy.
     */
    skipsQueue?: boolean;
  }
}

/** Time in each round of the event loop in which requests may begin, in milliseconds. */
const BEGINNING_MS = 2;
/** Maximum number of requests that begin together. While their cost is unknown, so many begin together. */
const MAX_TOGETHER = 24;
/** Length above which a round of the event loop counts as long, in milliseconds. All requests wait for the end of a round. */
const LONG_ROUND_MS = 6;
/** Number of requests that a tenant may have under way while rounds of the event loop are long. Its other requests wait. */
const UNDER_WAY_IN_LONG_ROUNDS = 4;
/** Waiting time after which a request begins even while rounds are long, because the requests under way may wait for their clients. */
const LONGEST_WAIT_MS = 1_000;
/** Maximum number of credentials whose tenant is cached. */
const MAX_KNOWN = 10_000;

interface WaitingRequest {
  /** Begins the request. Returns false if its client has gone. */
  begin: (queue: string) => boolean;
  /** Time at which the request arrived, by `performance.now()`. */
  sinceMs: number;
}

/**
 * Queues of requests: one for each tenant, and one for all callers whose tenant is unknown (`STRANGERS`). A request begins at the end
 * of the round of the event loop that has read it, and the tenants take turns. A request that comes alone waits for about 10 µs.
 *
 * Cheap requests begin together, because to read about twenty of them first and then to handle them takes a third less processor time
 * than to read and handle each alone (docs/performance-log.md). The first request of a connection waits while further connections
 * arrive, because these are accepted first.
 */
export class RequestQueues {
  readonly #queues = new FairQueues<WaitingRequest>();
  /** First requests of their connections, with their queues. They wait while further connections arrive. */
  #first: [queue: string, request: WaitingRequest][] = [];
  /** Number of requests under way, by queue. */
  readonly #underWay = new Map<string, number>();
  /** Cached tenants by credentials, the oldest first. */
  readonly #tenants = new Map<string, string>();
  #isPlanned = false;
  #roundBeganMs = 0;
  #isLongRound = false;
  #togetherBeganMs = 0;
  #together = 0;
  /** Average time that a request took in the last group that began together, in milliseconds. */
  #costMs = 0;

  /**
   * Puts a request into the queue of its tenant.
   * @param isFirst true if the request is the first of its connection
   * @param begin called with the queue when the request may begin. It returns false if the client has gone. If it returns true, `end`
   *   must be called later with the same queue.
   */
  enter(request: FastifyRequest, isFirst: boolean, begin: (queue: string) => boolean): void {
    const queue = this.#tenants.get(credentialsOf(request)) ?? STRANGERS;
    const nowMs = performance.now();
    const waiting = { begin, sinceMs: nowMs };
    if (isFirst) {
      this.#first.push([queue, waiting]);
    } else {
      this.#queues.push(queue, waiting);
    }
    if (!this.#isPlanned) {
      this.#isPlanned = true;
      this.#roundBeganMs = nowMs;
      setImmediate(this.#beginRound);
    }
  }

  /**
   * Records the end of a request that has begun.
   * @param queue queue in which the request waited
   * @param tenant tenant that the guard found. The next request with these credentials waits in the queue of this tenant.
   */
  end(queue: string, request: FastifyRequest, { tenant }: Account): void {
    this.#count(queue, -1);
    if (tenant !== queue && tenant !== STRANGERS) {
      this.#cacheTenant(credentialsOf(request), tenant);
    }
  }

  #count(queue: string, change: 1 | -1): void {
    const underWay = (this.#underWay.get(queue) ?? 0) + change;
    if (underWay === 0) {
      this.#underWay.delete(queue);
    } else {
      this.#underWay.set(queue, underWay);
    }
  }

  #cacheTenant(credentials: string, tenant: string): void {
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
      this.#first.forEach(([queue, request]) => this.#queues.push(queue, request));
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
    const next = this.#queues.shift(this.#mayBegin);
    if (next === undefined) {
      return false;
    }
    this.#count(next.key, 1);
    if (!next.item.begin(next.key)) {
      this.#count(next.key, -1);
    }
    return true;
  }

  /** Runs after all microtasks, because a microtask plans this tick. So the work that requests do in microtasks counts as their cost. */
  readonly #afterMicrotasks = () => process.nextTick(this.#afterTogether);

  readonly #afterTogether = () => {
    const nowMs = performance.now();
    if (this.#together > 0) {
      this.#costMs = (nowMs - this.#togetherBeganMs) / this.#together;
      if (this.#queues.size > 0 && nowMs - this.#roundBeganMs < BEGINNING_MS) {
        this.#beginTogether(nowMs);
        return;
      }
    }
    this.#isPlanned = this.#queues.size + this.#first.length > 0;
    if (this.#isPlanned) {
      setImmediate(this.#beginRound);
    }
  };

  readonly #mayBegin = (queue: string, { sinceMs }: WaitingRequest) =>
    !this.#isLongRound ||
    (this.#underWay.get(queue) ?? 0) < UNDER_WAY_IN_LONG_ROUNDS ||
    this.#roundBeganMs - sinceMs > LONGEST_WAIT_MS;
}

/**
 * Returns the credentials that the caller sent, including the secrets. So a caller who knows only the API key of a credential does
 * not get into the queue of its tenant. A channel is identified only by its key, because its signature differs in each call.
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

/** Creates a function that calls `begin` when the turn of a request has come. It does not call `begin` if the client has gone by then. */
export function createRequestQueues(
  server: Server,
): (request: FastifyRequest, reply: FastifyReply, begin: () => void) => void {
  const queues = new RequestQueues();
  const newConnections = new WeakSet<Socket>();
  server.on('connection', (socket) => {
    newConnections.add(socket);
    noteArrival();
  });
  return (request, reply, begin) => {
    if (request.routeOptions.config.skipsQueue === true) {
      begin();
      return;
    }
    queues.enter(request, newConnections.delete(request.raw.socket), (queue) => {
      if (reply.raw.destroyed) {
        return false;
      }
      reply.raw.on('close', () => queues.end(queue, request, request.account));
      begin();
      return true;
    });
  };
}
