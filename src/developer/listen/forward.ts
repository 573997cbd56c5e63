import { setTimeout as sleep } from 'node:timers/promises';
import { deliveryHeaders } from '#webhooks/deliveries/deliveries.ts';
import { callReceiver } from './http.ts';

export interface ForwardAttempt {
  /** HTTP status of the response. Null if no response came. */
  httpStatus: number | null;
  durationMs: number;
  /** Reason why no response came: a code such as `ECONNREFUSED`, or `timeout`. Null if a response came. */
  error: string | null;
  isOk: boolean;
}

interface Delivery {
  eventId: string;
  /** Text of the body. The service signs exactly this text. */
  body: string;
  brand: string;
}

/** Time limit of one POST, the same as for a webhook delivery of the service (contract §6). */
const TIMEOUT_MS = 10_000;
/** The waits are shorter than the waits of the service, and there are fewer attempts, because a developer waits for the result. */
const RETRY_WAITS_MS = [500, 1_500];

/** Posts an event up to three times, until a response has a status of 2xx. Each attempt has a new timestamp and signature. */
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
