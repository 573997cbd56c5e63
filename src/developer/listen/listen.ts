import { setTimeout as sleep } from 'node:timers/promises';
import type { PartnerConfig } from '#platform/config.ts';
import { OperatorError } from '#platform/errors.ts';
import type { EventType, FeedEntry } from '#webhooks/events/events.ts';
import { END_OF_FEED, Feed, PAGE_SIZE } from './feed.ts';
import { forward } from './forward.ts';
import { isLoopback } from './http.ts';
import { createJsonPrinter, createTextPrinter } from './printing.ts';
import { readOrMakeSecret } from './signing-secret.ts';

export interface ListenOptions {
  /** Null: events are printed alone. */
  forwardTo: URL | null;
  /** Null: all of them. */
  events: readonly EventType[] | null;
  isJson: boolean;
  /** Whether key and secret may go to another machine without TLS. */
  allowsPlainHttp: boolean;
}

export interface ListenOutput {
  /** Takes the lines of events. */
  print: (line: string) => void;
  /** Takes what is to be known beside them. */
  say: (text: string) => void;
}

/** Between two looks into the feed: the shortest right after events, growing to the longest: 30 to 60 calls a minute. */
const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 2_000;
const WAIT_GROWTH_MS = 100;

/** What is done with one event. It ends when nothing more happens to it, so that events stay in their order. */
type Handle = (entry: FeedEntry, brand: string) => Promise<void>;

/**
 * Prints every event of the credential from now on and hands it on to a URL, as the service would deliver it. It reads the
 * event feed, so it needs neither a public address nor a registered webhook, and misses nothing while the service is away.
 * @returns never: it ends with the process
 * @throws OperatorError where the service refuses the credential, is asked without TLS, or the signing secret cannot be kept
 */
export async function listen(config: PartnerConfig, options: ListenOptions, output: ListenOutput): Promise<never> {
  refusePlainHttp(config, options);
  const handle = await createHandle(config, options, output);
  const feed = new Feed(config, output.say);
  let { next } = await feed.readAfter(END_OF_FEED);
  output.say(`Waiting for what happens to ${config.apiKey} at ${config.serviceUrl} from now on (Ctrl-C ends it).`);
  for (let waitMs = SHORTEST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs + WAIT_GROWTH_MS)) {
    const page = await feed.readAfter(next);
    for (const entry of page.results) {
      await handle(entry, page.brand);
    }
    next = page.next;
    if (page.results.length > 0) {
      waitMs = SHORTEST_WAIT_MS;
    }
    await sleep(page.results.length === PAGE_SIZE ? 0 : waitMs);
  }
}

/** Whoever is on the way could read them. */
function refusePlainHttp({ serviceUrl }: PartnerConfig, { allowsPlainHttp }: ListenOptions): void {
  const url = new URL(serviceUrl);
  if (url.protocol === 'http:' && !isLoopback(url) && !allowsPlainHttp) {
    throw new OperatorError(
      `${serviceUrl} is another machine, without TLS: API key and secret could be read on the way. Use https, or ` +
        '--allow-plain-http on a network of your own.',
    );
  }
}

/** Says with which secret events are forwarded, where they are. */
async function createHandle(config: PartnerConfig, options: ListenOptions, output: ListenOutput): Promise<Handle> {
  const printer = options.isJson ? createJsonPrinter(output.print) : createTextPrinter(output.print);
  const { forwardTo: url, events } = options;
  const target = url === null ? null : { url, secret: await readOrMakeSecret(config) };
  if (target !== null) {
    output.say(`Forwarding to ${target.url}, signed with ${target.secret} (the same the next time).`);
  }
  return async (entry, brand) => {
    if (events?.some((event) => event === entry.event) === false) {
      return;
    }
    printer.arrived(entry);
    const delivery = { eventId: entry.event_id, body: bodyOf(entry), brand };
    const forwarded = target === null ? null : await forward(target, delivery, printer.attempted);
    printer.settled(entry, forwarded);
  };
}

/** The text that the service signs, byte for byte (see "The event feed" in docs/decisions). */
function bodyOf({ event, event_id, occurred_at, data }: FeedEntry): string {
  return JSON.stringify({ event, event_id, occurred_at, data });
}
