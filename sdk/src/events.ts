import type { Operations } from './generated/third-party.ts';
import type { CallOptions } from './options.ts';
import type { Transport } from './transport.ts';
import type { WebhookEvent } from './webhook-event.ts';

export type WebhookRegistration = Operations['registerWebhook']['answer'];
export type EventsQuery = NonNullable<Operations['listEvents']['query']>;
type Page = Operations['listEvents']['answer'];

/** An event, where it stands in the feed, and what became of its delivery. */
export type FeedEntry = WebhookEvent & Pick<Page['results'][number], 'cursor' | 'delivery'>;
/** `next` leads on: `after` of the next call. */
export type EventPage = Omit<Page, 'results'> & { results: FeedEntry[] };

export class Webhook {
  readonly #transport: Transport<Operations>;

  constructor(transport: Transport<Operations>) {
    this.#transport = transport;
  }

  /**
   * Registers the URL that events are sent to. Keep the `webhook_secret` of the answer: it is given once, and is empty
   * where this URL is registered already. For that reason a registration whose answer is lost is not sent again but
   * throws; register a URL that differs from it (`?v=2`) then, for a secret that you know.
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

  /** One page of the credential's own events, oldest first, from the one behind `after`. */
  async list(query: EventsQuery = {}, options?: CallOptions): Promise<EventPage> {
    const { results, next } = await this.#transport.call('listEvents', { query }, options);
    // Each entry is an event as it is signed and more; the document lists its fields without telling the four apart.
    return { results: results as FeedEntry[], next };
  }

  /** Every event behind `after`, oldest first, up to the newest there is. The last one's `cursor` leads on from it. */
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
