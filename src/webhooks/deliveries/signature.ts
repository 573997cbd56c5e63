import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Signs a message: `sha256=<hex>`, HMAC-SHA-256 over `{timestamp}.{raw body}` (contract §6). The key is the UTF-8 text
 * of the secret exactly as its owner was given it (decision 31), not what that text may encode.
 */
export function signBody(secret: string, timestampSeconds: number, body: string | Buffer): string {
  const hmac = createHmac('sha256', secret).update(`${timestampSeconds}.`).update(body);
  return `sha256=${hmac.digest('hex')}`;
}

/** What a receiver of a signed message holds: the two header values, and the bytes as they arrived. */
export interface SignedMessage {
  timestampSeconds: number;
  body: string | Buffer;
  signature: string;
}

/** Tells whether a message bears the signature of `secret`, in a time that does not tell how much of it was right. */
export function verifySignature(secret: string, message: SignedMessage): boolean {
  const expected = Buffer.from(signBody(secret, message.timestampSeconds, message.body));
  const given = Buffer.from(message.signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** One attempt to deliver an event; `body` is the stored text, the same at every attempt. */
export interface SignedDelivery {
  secret: string;
  eventId: string;
  timestampSeconds: number;
  body: string;
}

/** The three headers of a delivery; `brand` stands where the contract writes `Service` (decision 35). */
export function deliveryHeaders(brand: string, delivery: SignedDelivery): Record<string, string> {
  return {
    [`X-${brand}-Signature`]: signBody(delivery.secret, delivery.timestampSeconds, delivery.body),
    [`X-${brand}-Timestamp`]: String(delivery.timestampSeconds),
    [`X-${brand}-Event-Id`]: delivery.eventId,
  };
}
