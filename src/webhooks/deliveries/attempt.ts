import type { Logger } from 'pino';
import { webhookSecretLocation } from '#access/credentials/credentials.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import type { ClaimedDelivery } from '../events/events.ts';
import { MAX_ATTEMPTS } from './retry.ts';
import type { SendOutcome, WebhookSender } from './send.ts';
import { deliveryHeaders } from './signature.ts';
import type { Outcome } from './store.ts';

export interface AttemptOptions {
  sender: WebhookSender;
  headerBrand: string;
  log: Logger;
}

/** Message that `sendOnce` signs and posts once: a claimed delivery, or a test call. */
export type Message = Pick<
  ClaimedDelivery,
  'tenantId' | 'credentialId' | 'eventId' | 'body' | 'webhookUrl' | 'webhookSecret'
>;

/**
 * Decrypts the webhook secrets for the deliveries of one claim. All deliveries of a credential in this claim have the same secret, so it is
 * decrypted only once. The secrets are in memory only until the deliveries of the claim have been sent.
 */
export class ClaimSecrets {
  readonly #keyring: Keyring;
  /** Decrypted secrets, by credential id. */
  readonly #secrets = new Map<string, string>();

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  /** Returns the decrypted webhook secret of a delivery. Decrypts it at the first call for the credential. */
  of({ tenantId, credentialId, webhookSecret }: Message): string {
    const known = this.#secrets.get(credentialId);
    if (known !== undefined) {
      return known;
    }
    const secret = this.#keyring.decrypt(webhookSecret, webhookSecretLocation(tenantId, credentialId));
    this.#secrets.set(credentialId, secret);
    return secret;
  }
}

/** Outcome of an attempt. `timestampSeconds` is the timestamp of its signature, in seconds of Unix time. Null: no request was signed. */
export interface SignedOutcome extends SendOutcome {
  timestampSeconds: number | null;
}

/**
 * Signs the message with the current time as its timestamp, and posts it once. Never throws. If the webhook secret cannot be decrypted, the
 * outcome is `internal_error`.
 */
export async function sendOnce(
  { sender, headerBrand, log }: AttemptOptions,
  message: Message,
  secrets: ClaimSecrets,
): Promise<SignedOutcome> {
  let secret: string;
  try {
    secret = secrets.of(message);
  } catch (error) {
    log.error(
      { err: error, tenant_id: message.tenantId, event_id: message.eventId },
      'webhook secret cannot be decrypted, so the message was not sent',
    );
    return {
      ok: false,
      httpStatus: null,
      durationMs: 0,
      error: 'internal_error',
      answer: null,
      timestampSeconds: null,
    };
  }
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const { eventId, body, webhookUrl: url } = message;
  const headers = deliveryHeaders(headerBrand, { secret, eventId, timestampSeconds, body });
  return { ...(await sender.send({ url, headers, body })), timestampSeconds };
}

/**
 * Returns true if the attempt succeeded, and false if the receiver failed. Returns null if the attempt was aborted or the webhook secret
 * could not be decrypted, because such an outcome does not show the state of the receiver.
 */
export function isReceiverOk({ ok, error }: SendOutcome): boolean | null {
  return error === 'aborted' || error === 'internal_error' ? null : ok;
}

/**
 * Returns the result of an attempt, the status of the delivery after the attempt, and the wait until the next attempt. An attempt is
 * aborted only when this process stops. The delivery is then due again immediately, so that another process can send it. But a delivery has
 * at most five attempts (decision 33). So if the fifth attempt fails or is aborted, the delivery gets the status `failed`.
 */
export function outcomeOf(
  delivery: ClaimedDelivery,
  sent: SignedOutcome,
  drawWaitMs: (attempt: number) => number,
): Outcome {
  const { httpStatus: http_status, durationMs: duration_ms, error, timestampSeconds, answer } = sent;
  const at = new Date(delivery.claimedAtMs).toISOString();
  const attempt = { delivery, result: { at, http_status, duration_ms, error, timestamp: timestampSeconds }, answer };
  if (sent.ok) {
    return { ...attempt, status: 'delivered', retryInMs: 0 };
  }
  if (delivery.attempt >= MAX_ATTEMPTS) {
    return { ...attempt, status: 'failed', retryInMs: 0 };
  }
  return {
    ...attempt,
    status: 'pending',
    retryInMs: sent.error === 'aborted' ? 0 : drawWaitMs(delivery.attempt),
  };
}

/**
 * Returns the outcome of a claimed delivery that was not sent. The delivery is due again immediately. The attempt does not count, because
 * the receiver got no request.
 */
export function outcomeOfUnsent(delivery: ClaimedDelivery): Outcome {
  return { delivery, result: null, answer: null, status: 'pending', retryInMs: 0 };
}
