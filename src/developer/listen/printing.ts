import type { FeedEntry } from '#webhooks/events/events.ts';
import type { ForwardAttempt } from './forward.ts';

/** Outcome of the last attempt to forward an event, and the number of attempts. Null if `listen` only prints events. */
type Forwarded = (ForwardAttempt & { attempts: number }) | null;

interface Printer {
  arrived: (entry: FeedEntry) => void;
  /** Called after each attempt. @param waitMs wait before the next attempt in milliseconds, or null after the last attempt */
  attempted: (attempt: ForwardAttempt, waitMs: number | null) => void;
  /** Called after the last attempt to forward the event. If events are not forwarded, called directly after `arrived`. */
  settled: (entry: FeedEntry, forwarded: Forwarded) => void;
}

/** The time of the event takes ten columns, so these lines begin under the name of the event. */
const INDENT = ' '.repeat(10);

/** The key is the status of the response, or the error code if no response came. */
const HINTS: Record<string, string> = {
  401: 'does your server verify the raw body with the secret that "roomservice listen" printed at its start?',
  ECONNREFUSED: 'no server listens there; is your server running on that port?',
  ECONNRESET: 'your server closed the connection; does it expect https:// on that port?',
  ENOTFOUND: 'there is no host of that name',
  timeout: 'your server did not respond within 10 s, the time limit of the service',
  EPROTO: 'your server does not use TLS on that port; does it expect http:// there?',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of your server is not trusted; set NODE_EXTRA_CA_CERTS to its file',
};

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
        print(`${INDENT}not forwarded, because ${forwarded.attempts} attempts failed; the event stays in the feed`);
      }
    },
  };
}

function describe({ httpStatus, durationMs, error }: ForwardAttempt, next: string): string {
  const outcome = error === null ? `${httpStatus} in ${durationMs} ms` : `no response (${error})`;
  const hint = HINTS[error ?? String(httpStatus)];
  return `${outcome}${next}${hint === undefined ? '' : `: ${hint}`}`;
}

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

/** Quotes and escapes a text with other characters, which could look like another field or control the terminal. */
function printable(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : escaped(JSON.stringify(text));
}

/** Escapes every character that could control the terminal, because the text comes from another system. */
export function escaped(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
