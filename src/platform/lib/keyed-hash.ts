import { createHmac, hkdfSync } from 'node:crypto';

/** Returns a function that computes the HMAC-SHA-256 of a text, under a key that is derived from the pepper for this purpose only. */
export function keyedHash(pepper: Buffer, purpose: string): (text: string) => Buffer {
  const key = Buffer.from(hkdfSync('sha256', pepper, '', purpose, 32));
  return (text) => createHmac('sha256', key).update(text).digest();
}
