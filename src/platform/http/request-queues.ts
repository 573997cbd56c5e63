import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Account, STRANGERS } from '../lib/account.ts';
import { isArriving, noteArrival } from '../lib/arrivals.ts';
import { FairQueues } from '../lib/fair-queues.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * True if requests of this route begin immediately, without a queue. The health checks set it, because they must respond even while the
     * process is busy.
     */
    skipsQueue?: boolean;
  }

  interface FastifyRequest {
    /**
     * Removes this request from the running requests of its queue, although its response is still open. Called for a response that stays
     * open for long without work, such as a stream of events. Null before the request has begun.
     */
    leaveQueue: (() => void) | null;
  }
}

/**
 * Maximum time in milliseconds that each iteration of the event loop spends on beginning requests. The rest of the iteration is for other
 * work.
 */
const BEGINNING_MS = 2;
/**
 * Maximum number of requests that begin together. For the first requests of a process, this is the only limit, because the service does not
 * know yet how long a request takes.
 */
const MAX_TOGETHER = 24;
/**
 * Length in milliseconds above which an iteration of the event loop counts as long. A waiting request begins only at the end of an
 * iteration, so long iterations delay it.
 */
const LONG_ROUND_MS = 6;
/**
 * Number of requests of one tenant that may run at the same time while iterations of the event loop are long. Further requests of this
 * tenant wait.
 */
const UNDER_WAY_IN_LONG_ROUNDS = 4;
/**
 * Waiting time in milliseconds after which a request is overdue. An overdue request begins even if iterations of the event loop are long
 * and its tenant already has the maximum number of running requests. Otherwise it might wait forever, because the running requests may wait
 * for slow clients.
 */
const OVERDUE_MS = 1_000;
/**
 * Minimum time in milliseconds between the beginnings of two overdue requests of one tenant. Without this limit, a burst of 200 heavy
 * requests would wait for a second and become overdue, and then all of them would begin at the same time.
 */
const BETWEEN_OVERDUE_MS = 250;
/** Maximum number of credentials whose tenant is cached. */
const MAX_KNOWN = 10_000;

interface WaitingRequest {
  /** Begins the request. Returns false if its client has closed the connection. */
  begin: (queue: string) => boolean;
  /** Arrival time of the request, in milliseconds of `performance.now()`. */
  sinceMs: number;
}

/**
 * Queues of requests. There is one for each tenant, and one for all callers whose tenant is not known yet (`STRANGERS`). A request waits in
 * its queue at least until the end of the event loop iteration that has read it. Then waiting requests begin, and the queues take turns. If
 * no other request waits, the delay is about 10 µs.
 *
 * Requests begin in groups. The size of a group depends on the average time of a request in the previous group. If the requests are short,
 * the service reads about twenty requests and then handles them together. This takes a third less processor time than handling each request
 * as soon as it is read (docs/performance-log.md).
 *
 * The first request of a connection waits while further connections arrive, so that the service accepts these connections first.
 */
export class RequestQueues {
  readonly #queues = new FairQueues<WaitingRequest>();
  /**
   * Waiting requests that are the first of their connection, each with the name of the queue that it will join. While new connections
   * arrive, the requests stay in this list, so that the service accepts the connections first. Then each request joins its queue.
   */
  #first: [queue: string, request: WaitingRequest][] = [];
  /** Number of requests that have begun and not ended, by queue. */
  readonly #underWay = new Map<string, number>();
  /**
   * Time at which an overdue request of a queue most recently began, by queue. An entry is removed when its queue has no running requests.
   */
  readonly #overdueBeganMs = new Map<string, number>();
  /** Cached tenants, by the credentials that their callers send. If the cache is full, the oldest entry is removed. */
  readonly #tenants = new Map<string, string>();
  #isPlanned = false;
  #roundBeganMs = 0;
  #isLongRound = false;
  #togetherBeganMs = 0;
  #together = 0;
  /**
   * Average time in milliseconds for which a request kept the event loop busy when it began. Measured for the last group of requests that
   * began together.
   */
  #costMs = 0;

  /**
   * Puts a request into the queue of its tenant.
   * @param isFirst true if the request is the first of its connection
   * @param begin called with the name of the queue when the request may begin. It returns false if the client has closed the connection. If
   * it returns true, the caller must later call `end` with this queue name.
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
   * Records that a request has ended, and caches the tenant of its credentials. The next request with these credentials waits in the queue
   * of this tenant.
   * @param queue queue in which this request waited before it began
   * @param tenant tenant that the authentication of the request found, or `STRANGERS`
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
      this.#overdueBeganMs.delete(queue);
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

  /**
   * Runs `#afterTogether`, which measures the time of the requests that began together. A part of their work runs in microtasks, so the
   * measurement must come after all waiting microtasks. This function is itself a microtask, and others may still wait after it. So it
   * passes `#afterTogether` to `nextTick`, which runs its argument only when no microtask waits.
   */
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
    this.#mayBeginOverdue(queue, sinceMs);

  #mayBeginOverdue(queue: string, sinceMs: number): boolean {
    const nowMs = this.#roundBeganMs;
    const lastMs = this.#overdueBeganMs.get(queue) ?? Number.NEGATIVE_INFINITY;
    const mayBegin = nowMs - sinceMs > OVERDUE_MS && nowMs - lastMs >= BETWEEN_OVERDUE_MS;
    if (mayBegin) {
      this.#overdueBeganMs.set(queue, nowMs);
    }
    return mayBegin;
  }
}

/**
 * Returns the credentials that the caller sent. They decide to which queue a request goes. The result includes the secrets, so that a
 * caller who knows only the API key of a tenant does not get into the queue of the tenant. Two kinds of calls have no API key:
 * - A channel sends its channel key and a signature. The signature differs for each call, so the result has only the channel key. A caller
 *   who knows only the channel key therefore gets into the queue of the channel's tenant.
 * - The console sends cookies. The result has all cookies.
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
      headers['x-roomservice-console'] === '1' ? headers.cookie : undefined,
    ].join(' ')
  );
}

/**
 * Creates a function that puts a request into its queue, and calls `begin` when the request may begin. If the client has closed the
 * connection before that, `begin` is not called.
 */
export function createRequestQueues(
  app: FastifyInstance,
): (request: FastifyRequest, reply: FastifyReply, begin: () => void) => void {
  const queues = new RequestQueues();
  const newConnections = new WeakSet<Socket>();
  app.decorateRequest('leaveQueue', null);
  app.server.on('connection', (socket) => {
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
      let isUnderWay = true;
      const leave = () => {
        if (isUnderWay) {
          isUnderWay = false;
          queues.end(queue, request, request.account);
        }
      };
      request.leaveQueue = leave;
      reply.raw.on('close', leave);
      begin();
      return true;
    });
  };
}
