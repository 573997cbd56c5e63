import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Largest accepted difference between the timestamp of a delivery and our clock, in seconds. If an attacker has recorded a delivery and
 * sends it again later, its timestamp is too old, so the check refuses it.
 */
const TOLERANCE_SECONDS = 300;

/**
 * Returns true if a delivery was signed with one of our webhook secrets, and its timestamp is within the tolerance.
 * @param secrets the `webhook_secret` exactly as the registration returned it, or both secrets while a new one replaces an old one
 * @param timestamp the header X-Service-Timestamp, or an empty text if the header is missing
 * @param signature the header X-Service-Signature, or an empty text if the header is missing
 * @param body the bytes as they arrived. JSON that was parsed and written again may differ from the signed bytes.
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
    // The comparison takes constant time. If it ended at the first wrong byte, its duration would show an attacker how much of a guess is
    // right.
    return secret !== '' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
