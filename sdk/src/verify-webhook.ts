import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookEvent } from './webhook-event.ts';

const DEFAULT_TOLERANCE_SECONDS = 300;

/** Headers of any make: Node's, `Headers` of fetch, a plain object. */
export type WebhookHeaders =
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the sender's clock may be from ours, either way; 300 where left out. */
  toleranceSeconds?: number | undefined;
  /** `Service` for `X-Service-Signature`. Where left out, the one brand that has both headers is taken. */
  headerBrand?: string | undefined;
}

export type WebhookFault =
  | 'missing_header'
  | 'ambiguous_header'
  | 'malformed_header'
  | 'outside_tolerance'
  | 'wrong_signature'
  | 'malformed_body';

/** A delivery that is not to be trusted. Answer it with 401, and do nothing of what it says. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: WebhookFault;

  constructor(reason: WebhookFault, message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Checks that a delivery was signed with our secret, lately, and gives its event.
 * @param rawBody the body as it arrived: what was parsed and written again may differ from what was signed
 * @param secret the `webhook_secret` of the registration; several while one takes the place of another
 * @throws WebhookVerificationError where the delivery is not to be trusted
 * @throws TypeError where we were called wrongly: a body that is parsed already, no secret
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, headerBrand }: VerifyOptions = {},
): WebhookEvent {
  const secrets = checkSecrets(secret);
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) {
    throw new TypeError('rawBody: must be the raw bytes or text, before any parsing');
  }
  const { signature, timestamp } = readHeaders(headers, headerBrand);
  // Written so that a tolerance that is no number lets nothing in.
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) {
    throw new WebhookVerificationError('outside_tolerance', `It was signed more than ${toleranceSeconds} s from now.`);
  }
  const given = Buffer.from(signature, 'hex');
  const matches = secrets.filter((each) => {
    const expected = createHmac('sha256', each).update(`${timestamp}.`).update(rawBody).digest();
    // In constant time: how long a comparison takes must not tell how much of a guess was right.
    return timingSafeEqual(given, expected);
  });
  if (matches.length === 0) {
    throw new WebhookVerificationError('wrong_signature', 'It was signed with another secret, or changed on its way.');
  }
  return parseEvent(rawBody);
}

/** An empty secret is what a repeated registration answers with; anybody could sign with it. */
function checkSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const areTexts = Array.isArray(secrets) && secrets.every((each) => typeof each === 'string' && each !== '');
  if (!areTexts || secrets.length === 0) throw new TypeError('secret: must be one text or several, none of them empty');
  return secrets;
}

/** @returns the signature's 64 hexadecimal digits, and the timestamp as it was signed */
function readHeaders(headers: WebhookHeaders, headerBrand: string | undefined) {
  const values = lowerCased(headers);
  const brand = headerBrand?.toLowerCase() ?? onlyBrand(values);
  const timestamp = values.get(`x-${brand}-timestamp`);
  const signature = values.get(`x-${brand}-signature`);
  if (timestamp === undefined || signature === undefined) {
    throw new WebhookVerificationError('missing_header', 'It has no signature and timestamp of that brand.');
  }
  const digits = /^sha256=([0-9a-f]{64})$/i.exec(signature)?.[1];
  if (digits === undefined || !/^\d{1,15}$/.test(timestamp)) {
    throw new WebhookVerificationError('malformed_header', 'Its signature or timestamp is not of the documented form.');
  }
  return { signature: digits, timestamp };
}

/** A header that came several times is joined as HTTP joins it, which no signature or timestamp survives. */
function lowerCased(headers: WebhookHeaders): Map<string, string> {
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return new Map(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), String(value)]])),
  );
}

function onlyBrand(values: Map<string, string>): string {
  const brands = [...values.keys()].flatMap((name) => /^x-(.+)-signature$/.exec(name)?.[1] ?? []);
  const [brand, ...others] = brands.filter((each) => values.has(`x-${each}-timestamp`));
  if (brand === undefined) {
    throw new WebhookVerificationError('missing_header', 'It has no X-…-Signature and X-…-Timestamp of one brand.');
  }
  if (others.length > 0) {
    throw new WebhookVerificationError('ambiguous_header', 'It has signatures of several brands: name headerBrand.');
  }
  return brand;
}

function parseEvent(rawBody: string | Uint8Array): WebhookEvent {
  try {
    const event: unknown = JSON.parse(typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8'));
    if (isEvent(event)) return event;
  } catch {
    // Told below: what is signed, and yet no event, is the same fault in either form.
  }
  throw new WebhookVerificationError('malformed_body', 'It is signed, and yet no event.');
}

/** What is signed with the secret comes from the service: it is asked for its kind and id, and believed in the rest. */
function isEvent(value: unknown): value is WebhookEvent {
  return (
    typeof value === 'object' &&
    value !== null &&
    'event' in value &&
    typeof value.event === 'string' &&
    'event_id' in value &&
    typeof value.event_id === 'string' &&
    'data' in value &&
    typeof value.data === 'object' &&
    value.data !== null
  );
}
