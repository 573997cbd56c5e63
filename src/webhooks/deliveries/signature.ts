import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Returns the signature of a message as `sha256=<hex>`: HMAC-SHA-256 over `{timestamp}.{raw body}` (contract §6). The key is the text of
 * the secret as UTF-8, exactly as the registration returned it (rule 31). The text is not decoded, for example from base64.
 */
export function signBody(secret: string, timestampSeconds: number, body: string | Buffer): string {
  const hmac = createHmac('sha256', secret).update(`${timestampSeconds}.`).update(body);
  return `sha256=${hmac.digest('hex')}`;
}

export function verifySignature(
  secret: string,
  { timestampSeconds, body, signature }: { timestampSeconds: number; body: string | Buffer; signature: string },
): boolean {
  const expected = Buffer.from(signBody(secret, timestampSeconds, body));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

interface SignedDelivery {
  secret: string;
  eventId: string;
  timestampSeconds: number;
  body: string;
}

/** @param brand replaces the word `Service` in the header names of the contract (rule 35) */
export function deliveryHeaders(brand: string, delivery: SignedDelivery): Record<string, string> {
  return {
    [`X-${brand}-Signature`]: signBody(delivery.secret, delivery.timestampSeconds, delivery.body),
    ...unsignedHeaders(brand, delivery),
  };
}

export function unsignedHeaders(
  brand: string,
  { eventId, timestampSeconds }: { eventId: string; timestampSeconds: number | null },
): Record<string, string> {
  return {
    ...(timestampSeconds === null ? {} : { [`X-${brand}-Timestamp`]: String(timestampSeconds) }),
    [`X-${brand}-Event-Id`]: eventId,
  };
}
