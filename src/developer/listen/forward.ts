import { setTimeout as sleep } from 'node:timers/promises';
import { deliveryHeaders } from '#webhooks/deliveries/deliveries.ts';
import { callReceiver } from './http.ts';

/** One POST to the developer's server, and what came of it. */
export interface ForwardAttempt {
  /** Null where no answer came. */
  httpStatus: number | null;
  durationMs: number;
  /** Why no answer came: a code such as `ECONNREFUSED`, or `timeout`. */
  error: string | null;
  isOk: boolean;
}

/** An event as it is delivered. */
export interface Delivery {
  eventId: string;
  /** The exact text that is signed. */
  body: string;
  brand: string;
}

/** As a delivery (contract §6): later is a failure. */
const TIMEOUT_MS = 10_000;
/** After the first and the second failure. Shorter and fewer than the service's: somebody sits there and waits. */
const RETRY_WAITS_MS = [500, 1_500];

/**
 * Hands an event on as the service would deliver it, until it is taken with a 2xx: every attempt with the same body, and a
 * timestamp and signature of its own.
 * @param attempted told of every attempt as soon as it is over, and of the wait before the next one, where there is one
 * @returns the last attempt, and how many there were
 */
export async function forward(
  { url, secret }: { url: URL; secret: string },
  delivery: Delivery,
  attempted: (attempt: ForwardAttempt, waitMs: number | null) => void,
): Promise<ForwardAttempt & { attempts: number }> {
  for (let attempts = 1; ; attempts += 1) {
    const attempt = await post(url, secret, delivery);
    const waitMs = attempt.isOk ? undefined : RETRY_WAITS_MS[attempts - 1];
    attempted(attempt, waitMs ?? null);
    if (waitMs === undefined) {
      return { ...attempt, attempts };
    }
    await sleep(waitMs);
  }
}

async function post(url: URL, secret: string, { brand, eventId, body }: Delivery): Promise<ForwardAttempt> {
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Roomservice/1.0',
    ...deliveryHeaders(brand, { secret, eventId, timestampSeconds, body }),
  };
  const startedAt = performance.now();
  const answer = await callReceiver({ method: 'POST', url, headers, body, timeoutMs: TIMEOUT_MS });
  const durationMs = Math.round(performance.now() - startedAt);
  return 'failure' in answer
    ? { httpStatus: null, durationMs, error: answer.failure, isOk: false }
    : { httpStatus: answer.status, durationMs, error: null, isOk: answer.status >= 200 && answer.status < 300 };
}
