import { setTimeout as sleep } from 'node:timers/promises';
import type { PartnerConfig } from '#platform/config.ts';
import { OperatorError } from '#platform/errors.ts';
import type { FeedPage } from '#webhooks/events/events.ts';
import { callService, type HttpAnswer } from './http.ts';
import { escaped } from './printing.ts';

/** A page of the feed, and the brand that the service's deliveries bear in the names of their headers. */
export interface BrandedPage extends FeedPage {
  brand: string;
}

const TIMEOUT_MS = 30_000;
/** In the place of a cursor: no event, but where the feed ends now. */
export const END_OF_FEED = 'latest';
/** The most that the service gives at once. */
export const PAGE_SIZE = 200;
/** Between two tries to reach a service that is away: doubled from the first to the last. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5_000;
/** What a budget's window takes at most (contract §8). */
const LONGEST_RETRY_AFTER_SECONDS = 60;

/** The feed of one credential, read over HTTP by somebody who has time: while the service is away, it waits. */
export class Feed {
  readonly #config: PartnerConfig;
  readonly #say: (text: string) => void;
  #failures = 0;

  /** @param say told once when the service goes away, and once when it is back */
  constructor(config: PartnerConfig, say: (text: string) => void) {
    this.#config = config;
    this.#say = say;
  }

  /**
   * The events after a cursor, however long it takes until the service gives them.
   * @param after the `next` of the page before; or `END_OF_FEED`. Where a cursor is refused, as after a restore of the service, the feed's end is
   *   read instead, and that is said.
   * @throws OperatorError where waiting is of no use: the credential is refused, or the call itself
   */
  async readAfter(after: string): Promise<BrandedPage> {
    for (;;) {
      const outcome = await this.#read(after);
      if (typeof outcome === 'object') {
        this.#noteBack();
        return outcome;
      }
      await sleep(outcome);
    }
  }

  /** @returns the page, or how many milliseconds to wait before it is asked for again */
  async #read(after: string): Promise<BrandedPage | number> {
    const { serviceUrl, apiKey, apiSecret } = this.#config;
    const url = new URL(`${serviceUrl}/v1/third-party/events/?after=${after}&limit=${PAGE_SIZE}`);
    const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret };
    const answer = await callService({ method: 'GET', url, headers, timeoutMs: TIMEOUT_MS });
    if ('failure' in answer) {
      return this.#noteAway(answer.failure);
    }
    if (answer.status === 429) {
      return this.#noteLimited(answer);
    }
    if (answer.status === 400 && after !== END_OF_FEED) {
      const end = await this.#read(END_OF_FEED);
      if (typeof end === 'object') {
        this.#noteRefused(answer); // Once the end is known: whatever happens after these words is shown.
      }
      return end;
    }
    if (answer.status === 200 || answer.status === 408 || answer.status >= 500) {
      return pageOf(answer) ?? this.#noteAway(`it answers ${answer.status}, and no events`);
    }
    throw refused(serviceUrl, answer);
  }

  #noteAway(reason: string): number {
    if (this.#failures === 0) {
      this.#say(`The service at ${this.#config.serviceUrl} is away (${reason}). Waiting for it.`);
    }
    this.#failures += 1;
    return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#failures - 1));
  }

  #noteBack(): void {
    if (this.#failures > 0) {
      this.#say('The service is back. Going on where it was.');
    }
    this.#failures = 0;
  }

  #noteRefused({ text }: HttpAnswer): void {
    this.#say(
      `The feed does not go on where it was (${escaped(text.slice(0, 300))}). The service was restored from a backup, most ` +
        'likely. Going on with what happens from now on; what the feed holds of the time between: GET /v1/third-party/events/.',
    );
  }

  #noteLimited(answer: HttpAnswer): number {
    const asked = Math.ceil(Number(answer.header('retry-after'))) || 1;
    const seconds = Math.min(LONGEST_RETRY_AFTER_SECONDS, Math.max(1, asked));
    this.#say(`The credential's calls of this minute are used up. Going on in ${seconds} s; no event is lost.`);
    return seconds * 1_000;
  }
}

/** @returns null where it is the answer of something else, such as a proxy's page */
function pageOf(answer: HttpAnswer): BrandedPage | null {
  const brand = answer.header('x-webhook-header-brand');
  const page = parseJson(answer.text);
  return answer.status === 200 && brand !== null && isFeedPage(page) ? { ...page, brand } : null;
}

/** @returns undefined where it is no JSON */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Who answers in this form and names the brand is the service: it is believed in the rest. */
function isFeedPage(value: unknown): value is FeedPage {
  return (
    typeof value === 'object' &&
    value !== null &&
    'results' in value &&
    Array.isArray(value.results) &&
    'next' in value &&
    typeof value.next === 'string'
  );
}

function refused(serviceUrl: string, { status, text }: HttpAnswer): OperatorError {
  if (status === 401) {
    return new OperatorError(
      `${serviceUrl} does not know this credential (401). Check ROOMSERVICE_API_KEY and ROOMSERVICE_API_SECRET: it may be ` +
        'of another service, revoked, or its secret rotated.',
    );
  }
  return new OperatorError(`${serviceUrl} refuses to show events (${status}): ${escaped(text.slice(0, 300))}`);
}
