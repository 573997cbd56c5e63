/** The client of `roomservice listen`. It runs on a partner's machine, reads the feed and forwards events. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PartnerConfig } from '#platform/config.ts';
import { OperatorError } from '#platform/errors.ts';
import { isLoopback } from '#platform/lib/loopback.ts';
import type { EventType, FeedEntry } from '#webhooks/events/events.ts';
import { END_OF_FEED, Feed, PAGE_SIZE } from './feed.ts';
import { forward } from './forward.ts';
import { createJsonPrinter, createTextPrinter } from './printing.ts';
import { readOrMakeSecret } from './signing-secret.ts';

export interface ListenOptions {
  /** Undefined means that `listen` only prints the events. */
  forwardTo?: URL;
  /** Undefined means all types. */
  events?: readonly EventType[];
  json?: boolean;
  /** True if `listen` may send the API key and the API secret of the credential to another machine without TLS. */
  allowPlainHttp?: boolean;
}

interface ListenOutput {
  print: (line: string) => void;
  say: (text: string) => void;
}

/** Wait between two reads of the feed. Except for the reads after full pages, `listen` makes 60 calls a minute at most. */
const POLL_EVERY_MS = 1_000;

/** Prints and forwards one event. Resolves after the last attempt to forward it, so that events stay in their order. */
type Handle = (entry: FeedEntry, brand: string) => Promise<void>;

/** The events come from the event feed. So `listen` needs no public address and no registered webhook. */
export async function listen(config: PartnerConfig, options: ListenOptions, output: ListenOutput): Promise<never> {
  refusePlainHttp(config, options);
  const handle = await createHandle(config, options, output);
  const feed = new Feed(config, output.say);
  let { next } = await feed.readAfter(END_OF_FEED);
  output.say(`Waiting for new events of ${config.apiKey} at ${config.serviceUrl}. Press Ctrl-C to end.`);
  for (;;) {
    const page = await feed.readAfter(next);
    for (const entry of page.results) {
      await handle(entry, page.brand);
    }
    next = page.next;
    await sleep(page.results.length === PAGE_SIZE ? 0 : POLL_EVERY_MS);
  }
}

/** Refuses to send the API key and the secret to another machine without TLS, because other people on the network could read both. */
function refusePlainHttp({ serviceUrl }: PartnerConfig, { allowPlainHttp }: ListenOptions): void {
  const url = new URL(serviceUrl);
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !allowPlainHttp) {
    throw new OperatorError(
      `${serviceUrl} is on another machine and uses no TLS, so other people on the network could read the API key and the secret. ` +
        'Use an https URL, or the option --allow-plain-http on a network that you trust.',
    );
  }
}

async function createHandle(config: PartnerConfig, options: ListenOptions, output: ListenOutput): Promise<Handle> {
  const printer = options.json ? createJsonPrinter(output.print) : createTextPrinter(output.print);
  const { forwardTo: url, events } = options;
  const target = url === undefined ? null : { url, secret: await readOrMakeSecret(config) };
  if (target !== null) {
    output.say(`Forwarding to ${target.url}, signed with ${target.secret} (the next start uses the same secret).`);
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

/** Returns the body of the POST for an event. It has exactly the bytes that the service signs (docs/decisions/0013-event-feed.md). */
function bodyOf({ event, event_id, occurred_at, data }: FeedEntry): string {
  return JSON.stringify({ event, event_id, occurred_at, data });
}
