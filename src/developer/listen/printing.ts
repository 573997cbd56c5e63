import type { FeedEntry } from '#webhooks/events/events.ts';
import type { ForwardAttempt } from './forward.ts';

/** How an event came through to the developer's server; null where it is not forwarded. */
export type Forwarded = (ForwardAttempt & { attempts: number }) | null;

/** What is shown of an event on its way. */
export interface Printer {
  arrived: (entry: FeedEntry) => void;
  /** @param waitMs until the next attempt; null where there is none */
  attempted: (attempt: ForwardAttempt, waitMs: number | null) => void;
  /** Nothing more happens to the event. */
  settled: (entry: FeedEntry, forwarded: Forwarded) => void;
}

/** Under the name of the event, past the time. */
const INDENT = ' '.repeat(10);

/** What a failure most likely means, by the status of its answer, or by its code where none came. */
const HINTS: Record<string, string> = {
  401: 'does it verify with the secret of the first line, over the raw body?',
  ECONNREFUSED: 'nothing listens there; is your server running, and on that port?',
  ECONNRESET: 'your server cut the connection',
  UND_ERR_SOCKET: 'your server cut the connection; does it speak https:// there?',
  ENOTFOUND: 'there is no host of that name',
  timeout: 'none came within 10 s, which is all that the service waits',
  ERR_SSL_WRONG_VERSION_NUMBER: 'your server speaks no TLS there; http:// instead of https://?',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not trusted; name its file in NODE_EXTRA_CA_CERTS',
};

/** One line an event for a person, and one for each attempt to forward it. */
export function createTextPrinter(print: (line: string) => void): Printer {
  return {
    arrived({ event, event_id, occurred_at, data: { status, ...ids } }) {
      const time = new Date(occurred_at).toLocaleTimeString('en-GB');
      const named = Object.entries({ ...ids, event_id }).map(([name, value]) => `${name}=${printable(value)}`);
      print([`${time}  ${event}`, printable(status ?? ''), ...named].join('  '));
    },
    attempted(attempt, waitMs) {
      print(`${INDENT}-> ${describe(attempt, waitMs === null ? '' : `, trying again in ${waitMs / 1_000} s`)}`);
    },
    settled(_entry, forwarded) {
      if (forwarded !== null && !forwarded.isOk) {
        print(`${INDENT}skipped after ${forwarded.attempts} attempts; it stays in the feed`);
      }
    },
  };
}

function describe({ httpStatus, durationMs, error }: ForwardAttempt, next: string): string {
  const outcome = error === null ? `${httpStatus} in ${durationMs} ms` : `no answer (${error})`;
  const hint = HINTS[error ?? String(httpStatus)];
  return `${outcome}${next}${hint === undefined ? '' : `: ${hint}`}`;
}

/** One line of JSON an event, once it is settled: the event as it is signed, and `forwarded`. */
export function createJsonPrinter(print: (line: string) => void): Printer {
  return {
    arrived() {},
    attempted() {},
    settled({ event, event_id, occurred_at, data }, forwarded) {
      print(JSON.stringify({ event, event_id, occurred_at, data, forwarded: forwarded && jsonShape(forwarded) }));
    },
  };
}

function jsonShape({ httpStatus, durationMs, error, attempts }: NonNullable<Forwarded>) {
  return { http_status: httpStatus, duration_ms: durationMs, error, attempts };
}

/** An id as it stands where that is plain; quoted and escaped where it could pass for something else, or steer a terminal. */
function printable(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : escaped(JSON.stringify(text));
}

/** Text of somebody else's, without anything in it that could steer a terminal. */
export function escaped(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
