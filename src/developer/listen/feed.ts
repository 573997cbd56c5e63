import { setTimeout as sleep } from 'node:timers/promises';
import type { PartnerConfig } from '#platform/config.ts';
import { OperatorError } from '#platform/errors.ts';
import { fieldsOf } from '#platform/lib/unchecked.ts';
import type { FeedPage } from '#webhooks/events/events.ts';
import { type CallService, createServiceCaller, type HttpAnswer } from './http.ts';
import { escaped } from './printing.ts';

/** `brand` is the name that the service uses in the headers of webhook deliveries, for example in `X-{brand}-Signature`. */
interface BrandedPage extends FeedPage {
  brand: string;
}

const TIMEOUT_MS = 30_000;
/** Value of the parameter `after` that stands for the present end of the feed. */
export const END_OF_FEED = 'latest';
export const PAGE_SIZE = 200;
/** Wait between two calls while the service cannot be reached. */
const RETRY_EVERY_MS = 2_000;
/** Longest time in seconds until the credential may call again after it has used its budget of calls (contract §8). */
const LONGEST_RETRY_AFTER_SECONDS = 60;

/** Reader of one credential's event feed over HTTP. While the service cannot be reached, the reader waits and tries again. */
export class Feed {
  readonly #config: PartnerConfig;
  readonly #call: CallService;
  readonly #say: (text: string) => void;
  #isOut = false;

  constructor(config: PartnerConfig, say: (text: string) => void) {
    this.#config = config;
    this.#call = createServiceCaller(config);
    this.#say = say;
  }

  /** If the service cannot be reached or limits the calls, waits and tries again, without a time limit. */
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

  /** Requests one page of the feed. Returns the page, or the number of milliseconds to wait before the next request. */
  async #read(after: string): Promise<BrandedPage | number> {
    const { serviceUrl, apiKey, apiSecret } = this.#config;
    const url = new URL(`${serviceUrl}/v1/third-party/events/?after=${after}&limit=${PAGE_SIZE}`);
    const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret };
    const answer = await this.#call({ method: 'GET', url, headers, timeoutMs: TIMEOUT_MS });
    if ('failure' in answer) {
      return this.#noteOutage(answer.failure);
    }
    if (answer.status === 429) {
      return this.#noteLimited(answer);
    }
    if (answer.status === 400 && after !== END_OF_FEED) {
      const end = await this.#read(END_OF_FEED);
      if (typeof end === 'object') {
        // The notice says that reading continues at the end of the feed. The notice is printed only after the cursor of this end was read.
        // So every event that occurs after the notice comes after this cursor, and is printed too.
        this.#noteRefusedCursor(answer);
      }
      return end;
    }
    if (answer.status === 200 || answer.status === 408 || answer.status >= 500) {
      return pageOf(answer) ?? this.#noteOutage(`it responds with ${answer.status} and without events`);
    }
    throw refused(serviceUrl, answer);
  }

  #noteOutage(reason: string): number {
    if (!this.#isOut) {
      this.#say(`The service at ${this.#config.serviceUrl} is out of reach (${reason}). Waiting until it is back.`);
    }
    this.#isOut = true;
    return RETRY_EVERY_MS;
  }

  #noteBack(): void {
    if (this.#isOut) {
      this.#say('The service is back. Continuing after the last event that was read.');
    }
    this.#isOut = false;
  }

  #noteRefusedCursor({ text }: HttpAnswer): void {
    this.#say(
      `The service refuses the position in the feed (${escaped(text.slice(0, 300))}). ` +
        'Most likely the service was restored from a backup. Continuing with new events. ' +
        'Read the events that were missed with GET /v1/third-party/events/.',
    );
  }

  #noteLimited(answer: HttpAnswer): number {
    const asked = Math.ceil(Number(answer.header('retry-after'))) || 1;
    const seconds = Math.min(LONGEST_RETRY_AFTER_SECONDS, Math.max(1, asked));
    this.#say(
      `The credential's budget of calls for this minute is used up. Continuing in ${seconds} s. No event is lost.`,
    );
    return seconds * 1_000;
  }
}

/**
 * Returns null if the response has no page of the feed, for example because a proxy sent the response. Does not check the entries, because
 * only the service sends responses of this form.
 */
function pageOf(answer: HttpAnswer): BrandedPage | null {
  const brand = answer.header('x-webhook-header-brand');
  const page = fieldsOf(parseJson(answer.text));
  const isPage = answer.status === 200 && Array.isArray(page['results']) && typeof page['next'] === 'string';
  return isPage && brand !== null ? { ...(page as unknown as FeedPage), brand } : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refused(serviceUrl: string, { status, text }: HttpAnswer): OperatorError {
  if (status === 401) {
    return new OperatorError(
      `${serviceUrl} refuses this credential (401). Check ROOMSERVICE_API_KEY and ROOMSERVICE_API_SECRET. The credential may ` +
        'belong to another service, it may be revoked, or its secret may have been rotated.',
    );
  }
  return new OperatorError(
    `${serviceUrl} responds with the status ${status} and without events. Check the URL and the credential. ` +
      `The response is: ${escaped(text.slice(0, 300))}`,
  );
}
