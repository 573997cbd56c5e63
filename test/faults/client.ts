import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type CallOptions, callUnchecked } from '../support/service.ts';
import type { History } from './history.ts';
import type { Random } from './random.ts';
import type { Marker, Tenant } from './tenants.ts';

const TRY_TIMEOUT_MS = 20_000;
/** However bad the fault, it is over by then, and the service must answer. */
const SETTLE_WITHIN_MS = 75_000;
const RETRY_WAIT_MS = 250;

export interface Request {
  method: string;
  path: string;
  options: CallOptions;
}

/** The clients' side of every call: keeps the history, tries again what is unknown, looks for what is another tenant's. */
export class Client {
  /** Of the balancer. */
  readonly url: string;
  readonly history: History;
  readonly #markers: Marker[];

  constructor(url: string, history: History, markers: Marker[]) {
    this.url = url;
    this.history = history;
    this.#markers = markers;
  }

  /** One try; null where no answer came. `url` is a process's own where it is not the balancer's. */
  async try(tenant: Tenant, { method, path, options }: Request, url = this.url): Promise<Answer | null> {
    const signal = AbortSignal.timeout(TRY_TIMEOUT_MS);
    const answer = await callUnchecked(url, method, path, { ...options, signal }).catch(() => null);
    this.#note(answer);
    if (url === this.url && (answer === null || answer.status >= 500)) {
      this.history.balancedFailures.push(`${method} ${path}: ${answer?.status ?? 'no answer'} ${answer?.text ?? ''}`);
    }
    if (answer !== null) {
      this.lookForOthers(tenant.marker, answer.text, `the answer to ${method} ${path}`);
    }
    return answer;
  }

  /** Sends the same call until its answer decides. @returns that answer, and whether a try before it ended in the unknown */
  async settle(tenant: Tenant, request: Request): Promise<{ answer: Answer; wasUnknown: boolean }> {
    const deadlineMs = Date.now() + SETTLE_WITHIN_MS;
    for (let wasUnknown = false; Date.now() < deadlineMs; await sleep(RETRY_WAIT_MS)) {
      const answer = await this.try(tenant, request);
      if (answer !== null && answer.status < 500) {
        return { answer, wasUnknown };
      }
      wasUnknown = true;
    }
    this.history.unsettled.push(`${request.method} ${request.path}`);
    throw new UnsettledError(`${request.method} ${request.path} got no answer for ${SETTLE_WITHIN_MS} ms`);
  }

  /** Keeps a text that holds what belongs to another tenant than the one it is meant for. */
  lookForOthers(own: Marker, text: string, where: string): void {
    const other = this.#markers.find((marker) => marker !== own && text.includes(marker));
    if (other !== undefined) {
      this.history.leaks.push(`${where}, of tenant ${own}, holds ${other}`);
    }
  }

  #note(answer: Answer | null): void {
    const { tries } = this.history;
    if (answer === null || answer.status >= 500) {
      tries.unknown += 1;
      this.history.internalErrors += answer?.status === 500 ? 1 : 0;
    } else if (answer.status >= 400) {
      tries.fail += 1;
    } else {
      tries.ok += 1;
    }
  }
}

export class UnsettledError extends Error {}

/** An endless client: one round of what it does, at its own pace. */
export interface Actor {
  name: string;
  /** From the end of one round to the beginning of the next, milliseconds; jittered. */
  paceMs: number;
  act(): Promise<void>;
}

/** The actors, running until they are paused: then each one ends what it is about, and rests. */
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

  /** Waits until nobody is under way any more. @returns how many still were after the time */
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
