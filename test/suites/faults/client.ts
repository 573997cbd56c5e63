import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type CallOptions, callUnchecked } from '../../support/http.ts';
import type { History } from './history.ts';
import type { Random } from './random.ts';
import type { Tenant } from './tenants.ts';

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

  constructor(url: string, history: History) {
    this.url = url;
    this.history = history;
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
      this.history.findLeak(tenant, answer.text, `the response to ${method} ${path}`);
    }
    return answer;
  }

  /**
   * Repeats a request until a response with a status below 500 comes. Waits as long as `Retry-After` says before each retry.
   * @returns the response; `wasUnknown` is true if an earlier try may have changed data
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
    throw new UnsettledError();
  }

  #note(method: string, answer: Answer | null): void {
    const { tries, acknowledgedAtMs } = this.history;
    if (answer === null || answer.status >= 500) {
      tries.unknown += 1;
    } else if (answer.status >= 400) {
      tries.fail += 1;
    } else {
      tries.ok += 1;
      // A repeated create call writes nothing new.
      if (method !== 'GET' && !answer.headers.has('idempotent-replayed')) {
        acknowledgedAtMs.push(performance.now());
      }
    }
  }
}

class UnsettledError extends Error {}

/** A simulated client. It runs `act` again and again. The pause between two runs is random, `paceMs` on average. */
export interface Actor {
  paceMs: number;
  act(): Promise<void>;
}

/** Runs the simulated clients (actors). */
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
   * Pauses the actors, and waits until each has finished its run of `act`.
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
