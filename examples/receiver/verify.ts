import { createHmac, timingSafeEqual } from 'node:crypto';

/** How far the sender's clock may be from ours: an old delivery that somebody recorded and sends again is refused. */
const TOLERANCE_SECONDS = 300;

/**
 * Whether a delivery was signed with our webhook secret, and lately.
 * @param secret the `webhook_secret` exactly as registration returned it
 * @param timestamp the header X-Service-Timestamp
 * @param signature the header X-Service-Signature
 * @param body the bytes as they arrived: JSON that was parsed and written again may differ from what was signed
 */
export function verify(secret: string, timestamp: string, signature: string, body: Buffer): boolean {
  const ageSeconds = Date.now() / 1000 - Number(timestamp);
  if (!/^\d+$/.test(timestamp) || Math.abs(ageSeconds) > TOLERANCE_SECONDS) {
    return false;
  }
  const mac = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  const expected = Buffer.from(`sha256=${mac}`);
  const given = Buffer.from(signature);
  // In constant time: how long a comparison takes must not tell how much of a guess was right.
  return given.length === expected.length && timingSafeEqual(given, expected);
}
