import type { Logger } from 'pino';
import { webhookSecretLocation } from '#access/credentials/credentials.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import type { ClaimedDelivery } from '../events/events.ts';
import { MAX_ATTEMPTS } from './retry.ts';
import type { SendOutcome, WebhookSender } from './send.ts';
import { deliveryHeaders } from './signature.ts';
import type { Outcome } from './store.ts';

export interface AttemptOptions {
  keyring: Keyring;
  sender: WebhookSender;
  headerBrand: string;
  log: Logger;
}

/** Signs the event anew and posts it once. It never throws: a secret that does not open is an outcome too. */
export async function sendOnce(
  { keyring, sender, headerBrand, log }: AttemptOptions,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<SendOutcome> {
  let secret: string;
  try {
    secret = await keyring.decrypt(
      delivery.webhookSecret,
      webhookSecretLocation(delivery.tenantId, delivery.credentialId),
    );
  } catch (error) {
    log.error({ err: error, tenant_id: delivery.tenantId, event_id: delivery.eventId }, 'webhook secret does not open');
    return { ok: false, httpStatus: null, durationMs: 0, error: 'internal_error' };
  }
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const { eventId, body, webhookUrl: url } = delivery;
  const headers = deliveryHeaders(headerBrand, { secret, eventId, timestampSeconds, body });
  return await sender.send({ url, headers, body, signal });
}

/** Whether an outcome says that the receiver is well; null where it says nothing about it. */
export function verdictOn({ ok, error }: SendOutcome): boolean | null {
  return error === 'aborted' || error === 'internal_error' ? null : ok;
}

/** Where a delivery stands after an attempt (decision 33). An aborted one goes back at once: we are stopping. */
export function outcomeOf(
  delivery: ClaimedDelivery,
  sent: SendOutcome,
  drawWaitMs: (attempt: number) => number,
): Outcome {
  const result = { http_status: sent.httpStatus, duration_ms: sent.durationMs, error: sent.error };
  if (sent.ok) {
    return { delivery, result, status: 'delivered', retryInMs: 0 };
  }
  if (delivery.attempt >= MAX_ATTEMPTS) {
    return { delivery, result, status: 'failed', retryInMs: 0 };
  }
  return {
    delivery,
    result,
    status: 'pending',
    retryInMs: sent.error === 'aborted' ? 0 : drawWaitMs(delivery.attempt),
  };
}
