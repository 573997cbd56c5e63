import { createHmac, timingSafeEqual } from 'node:crypto';

/** How far the sender's clock may be from ours: an old delivery that somebody recorded and sends again is refused. */
const TOLERANCE_SECONDS = 300;

/**
 * Whether a delivery was signed with our webhook secret, and lately.
 * @param secrets the `webhook_secret` exactly as registration returned it; all that are in use while one replaces another
 * @param timestamp the header X-Service-Timestamp, empty where it is missing
 * @param signature the header X-Service-Signature, empty where it is missing
 * @param body the bytes as they arrived: JSON that was parsed and written again may differ from what was signed
 */
export function verify(
  secrets: string | readonly string[],
  timestamp: string,
  signature: string,
  body: Uint8Array,
  nowSeconds = Date.now() / 1000,
): boolean {
  if (!/^[0-9]{1,12}$/.test(timestamp) || Math.abs(nowSeconds - Number(timestamp)) > TOLERANCE_SECONDS) {
    return false;
  }
  const given = Buffer.from(signature);
  return [secrets].flat().some((secret) => {
    const mac = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
    const expected = Buffer.from(`sha256=${mac}`);
    // In constant time: how long a comparison takes must not tell how much of a guess was right.
    return secret !== '' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
