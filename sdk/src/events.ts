import type { Operations } from './generated/third-party.ts';
import type { CallOptions } from './options.ts';
import type { Transport } from './transport.ts';
import type { WebhookEvent } from './webhook-event.ts';

export type WebhookRegistration = Operations['registerWebhook']['answer'];
export type EventsQuery = NonNullable<Operations['listEvents']['query']>;
type Page = Operations['listEvents']['answer'];

/** Event with its position in the feed (`cursor`) and the state of its delivery. */
export type FeedEntry = WebhookEvent & Pick<Page['results'][number], 'cursor' | 'delivery'>;
/** One page of the feed. Pass `next` as `after` to read the next page. */
export type EventPage = Omit<Page, 'results'> & { results: FeedEntry[] };

export class Webhook {
  readonly #transport: Transport<Operations>;

  constructor(transport: Transport<Operations>) {
    this.#transport = transport;
  }

  /**
   * Registers the URL to which the service sends events. Store the `webhook_secret` of the response. The service returns the secret only at
   * the first registration of a URL, and later returns an empty secret. So the SDK does not retry after a lost response, but throws an
   * error. After this error, register a different URL, for example with `?v=2`, to get a secret.
   */
  async register(registration: Operations['registerWebhook']['body'], options?: CallOptions) {
    return await this.#transport.call('registerWebhook', { body: registration }, options, 'if_refused');
  }
}

export class Events {
  readonly #transport: Transport<Operations>;

  constructor(transport: Transport<Operations>) {
    this.#transport = transport;
  }

  /** Returns one page of the events of this credential, oldest first. The page begins with the first event after the cursor `after`. */
  async list(query: EventsQuery = {}, options?: CallOptions): Promise<EventPage> {
    const { results, next } = await this.#transport.call('listEvents', { query }, options);
    // The OpenAPI document describes each entry as one object with all fields. At runtime, an entry is one of the four event types, with
    // `cursor` and `delivery` added. So the cast is correct.
    return { results: results as FeedEntry[], next };
  }

  /**
   * Yields every event after the cursor `after`, oldest first, and ends after the newest event. To continue later, pass the `cursor`
   * of the last event as `after`.
   */
  async *iterate(query: EventsQuery = {}, options?: CallOptions): AsyncGenerator<FeedEntry, void, undefined> {
    let { after } = query;
    for (;;) {
      const { results, next } = await this.list({ ...query, ...(after === undefined ? {} : { after }) }, options);
      if (results.length === 0) return;
      yield* results;
      after = next;
    }
  }
}
