import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type CallOptions, callUnchecked } from '../../support/http.ts';
import type { History } from './history.ts';
import type { Random } from './random.ts';
import type { Marker, Tenant } from './tenants.ts';

const TRY_TIMEOUT_MS = 20_000;
/** Time limit for all tries of one call together. After this time each fault is over, so the service must have responded. */
const SETTLE_WITHIN_MS = 75_000;
/** Wait before a retry if the response has no `Retry-After`. */
const RETRY_WAIT_MS = 250;

export interface Request {
  method: string;
  path: string;
  options: CallOptions;
}

/**
 * Makes the calls of all simulated clients. It records the calls in the history, repeats calls with an unknown outcome, and searches
 * responses for data of another tenant.
 */
export class Client {
  /** URL of the load balancer. */
  readonly url: string;
  readonly history: History;
  readonly #markers: Marker[];

  constructor(url: string, history: History, markers: Marker[]) {
    this.url = url;
    this.history = history;
    this.#markers = markers;
  }

  /**
   * Sends a request once.
   * @param url the balancer or one process
   * @returns the response, or null if there was no response
   */
  async try(tenant: Tenant, { method, path, options }: Request, url = this.url): Promise<Answer | null> {
    const signal = AbortSignal.timeout(TRY_TIMEOUT_MS);
    const answer = await callUnchecked(url, method, path, { ...options, signal }).catch(() => null);
    this.#note(method, answer);
    if (url === this.url && (answer === null || answer.status >= 500)) {
      this.history.balancedFailures.push(`${method} ${path}: ${answer?.status ?? 'no response'} ${answer?.text ?? ''}`);
    }
    if (answer !== null) {
      this.findLeak(tenant.marker, answer.text, `the response to ${method} ${path}`);
    }
    return answer;
  }

  /**
   * Repeats a request until a response with a status below 500 comes. Waits as long as `Retry-After` says before each retry.
   * @returns the response; `wasUnknown` is true if an earlier try got a 5xx or no response, and may have changed data
   * @throws UnsettledError if no such response comes within 75 s
   */
  async settle(tenant: Tenant, request: Request): Promise<{ answer: Answer; wasUnknown: boolean }> {
    const deadlineMs = Date.now() + SETTLE_WITHIN_MS;
    for (let wasUnknown = false; Date.now() < deadlineMs; ) {
      const answer = await this.try(tenant, request);
      if (answer !== null && answer.status < 500) {
        return { answer, wasUnknown };
      }
      wasUnknown = true;
      await sleep(Number(answer?.headers.get('retry-after') ?? 0) * 1_000 || RETRY_WAIT_MS);
    }
    this.history.unsettled.push(`${request.method} ${request.path}`);
    throw new UnsettledError(
      `${request.method} ${request.path} got no response below 500 within ${SETTLE_WITHIN_MS} ms.`,
    );
  }

  /**
   * Records a leak if the text contains the marker of a tenant other than `own`. A marker is a random text that all data of one tenant
   * contains.
   */
  findLeak(own: Marker, text: string, where: string): void {
    const other = this.#markers.find((marker) => marker !== own && text.includes(marker));
    if (other !== undefined) {
      this.history.leaks.push(`${where}, of tenant ${own}, contains ${other}`);
    }
  }

  #note(method: string, answer: Answer | null): void {
    const { tries, acknowledgedAtMs } = this.history;
    if (answer === null || answer.status >= 500) {
      tries.unknown += 1;
      this.history.internalErrors += answer?.status === 500 ? 1 : 0;
    } else if (answer.status >= 400) {
      tries.fail += 1;
    } else {
      tries.ok += 1;
      // The response to a repeated create call does not count as an acknowledged write, because the call writes nothing new.
      if (method !== 'GET' && !answer.headers.has('idempotent-replayed')) {
        acknowledgedAtMs.push(performance.now());
      }
    }
  }
}

/** Error of a call that got no response with a status below 500 within the time limit. */
class UnsettledError extends Error {}

/** A simulated client. It runs `act` again and again, with a pause between two runs. */
export interface Actor {
  name: string;
  /** Mean pause between two runs of `act`, in milliseconds. The real pause is random and differs from the mean by up to 50 %. */
  paceMs: number;
  act(): Promise<void>;
}

/**
 * Runs the simulated clients (actors). `go` lets all actors run, and `rest` pauses all of them. After a call of `rest`, each actor finishes
 * its current run of `act`, and then waits for the next call of `go`.
 */
export class Load {
  readonly #random: Random;
  #isPaused = true;
  #isOver = false;
  #busy = 0;
  #wake = Promise.withResolvers<void>();

  constructor(random: Random) {
    this.#random = random;
  }

  start(actors: Actor[], onError: (error: unknown) => void): void {
    for (const actor of actors) {
      this.#run(actor, onError).catch(onError);
    }
  }

  go(): void {
    this.#isPaused = false;
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  /**
   * Pauses the actors, and waits until no actor is busy.
   * @returns the number of actors that are still busy after `timeoutMs`
   */
  async rest(timeoutMs: number): Promise<number> {
    this.#isPaused = true;
    for (const deadlineMs = Date.now() + timeoutMs; this.#busy > 0 && Date.now() < deadlineMs; await sleep(10));
    return this.#busy;
  }

  end(): void {
    this.#isOver = true;
    this.go();
  }

  async #run(actor: Actor, onError: (error: unknown) => void): Promise<void> {
    while (!this.#isOver) {
      await sleep(actor.paceMs * (0.5 + this.#random.next()));
      while (this.#isPaused && !this.#isOver) {
        await this.#wake.promise;
      }
      if (!this.#isOver) {
        this.#busy += 1;
        await actor.act().catch((error: unknown) => {
          if (!(error instanceof UnsettledError)) onError(error);
        });
        this.#busy -= 1;
      }
    }
  }
}
