import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookEvent, WebhookTest } from './webhook-event.ts';

const DEFAULT_TOLERANCE_SECONDS = 300;

/** Headers of a request: the headers object of a Node server, a `Headers` object of fetch, or a plain object. */
export type WebhookHeaders =
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /**
   * Largest accepted difference between the signed timestamp and the local clock, in seconds. The timestamp may be earlier or later than
   * the clock. Default: 300.
   */
  toleranceSeconds?: number | undefined;
  /**
   * Brand in the header names, for example `Service` in `X-Service-Signature`. If undefined, the function takes the brand from the headers.
   * It then refuses a delivery that has signature and timestamp headers of several brands.
   */
  headerBrand?: string | undefined;
}

export type WebhookFault =
  | 'missing_header'
  | 'ambiguous_header'
  | 'malformed_header'
  | 'outside_tolerance'
  | 'wrong_signature'
  | 'malformed_body';

/** Error for a delivery that cannot be trusted. Respond with 401 and ignore the content of the delivery. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: WebhookFault;

  constructor(reason: WebhookFault, message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Checks the signature and the age of a delivery, and returns its event. For a test call, returns a `WebhookTest`, whose `event` is `test`.
 * @param rawBody the bytes or text of the body as they arrived. JSON that was parsed and serialized again may differ from the signed bytes
 * @param secret the `webhook_secret` of the registration, or several secrets while a new one replaces an old one
 * @throws WebhookVerificationError if the delivery cannot be trusted
 * @throws TypeError if an argument is invalid: the body is already parsed, or a secret is missing or empty
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, headerBrand }: VerifyOptions = {},
): WebhookEvent | WebhookTest {
  const secrets = checkSecrets(secret);
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) {
    throw new TypeError('rawBody: must be the raw bytes or the raw text of the request body, not a parsed object');
  }
  const { signature, timestamp } = readHeaders(headers, headerBrand);
  // The condition is a negated `<=` and not a `>`, so that the delivery is also refused if toleranceSeconds is NaN.
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) {
    const message = `The delivery was signed more than ${toleranceSeconds} s before or after the time of this machine. Check its clock.`;
    throw new WebhookVerificationError('outside_tolerance', message);
  }
  const given = Buffer.from(signature, 'hex');
  const matches = secrets.filter((each) => {
    const expected = createHmac('sha256', each).update(`${timestamp}.`).update(rawBody).digest();
    // The comparison takes constant time. If it ended at the first wrong byte, its duration would show how much of a guessed signature is
    // right.
    return timingSafeEqual(given, expected);
  });
  if (matches.length === 0) {
    const message = 'The delivery was signed with another secret, or its timestamp or body was changed on the way.';
    throw new WebhookVerificationError('wrong_signature', message);
  }
  return parseBody(rawBody);
}

/**
 * Returns the secrets as an array. Refuses an empty secret, because every person could sign with it. A program may pass an empty secret by
 * mistake, because the service returns an empty secret if a URL is registered again.
 * @throws TypeError if a secret is missing, empty or not a text
 */
function checkSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const areTexts = Array.isArray(secrets) && secrets.every((each) => typeof each === 'string' && each !== '');
  if (!areTexts || secrets.length === 0) {
    throw new TypeError('secret: must be a text that is not empty, or an array of such texts');
  }
  return secrets;
}

/** Returns the signature (64 hexadecimal digits) and the timestamp. The timestamp stays a text, because the signature covers this text. */
function readHeaders(headers: WebhookHeaders, headerBrand: string | undefined) {
  const values = lowerCased(headers);
  const brand = headerBrand?.toLowerCase() ?? onlyBrand(values);
  const timestamp = values.get(`x-${brand}-timestamp`);
  const signature = values.get(`x-${brand}-signature`);
  if (timestamp === undefined || signature === undefined) {
    const message = `The delivery has no header x-${brand}-signature or no header x-${brand}-timestamp.`;
    throw new WebhookVerificationError('missing_header', message);
  }
  const digits = /^sha256=([0-9a-f]{64})$/i.exec(signature)?.[1];
  if (digits === undefined || !/^\d{1,15}$/.test(timestamp)) {
    const message = 'The signature or timestamp header of the delivery does not have the documented form.';
    throw new WebhookVerificationError('malformed_header', message);
  }
  return { signature: digits, timestamp };
}

/**
 * Returns the headers, keyed by their names in lower case. If a header arrives twice, its two values become one text with a comma. Such a
 * signature or timestamp is malformed, so `verifyWebhook` refuses the delivery.
 */
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
    const message = 'The delivery has no pair of headers X-…-Signature and X-…-Timestamp with the same brand.';
    throw new WebhookVerificationError('missing_header', message);
  }
  if (others.length > 0) {
    const message = 'The delivery has signature headers of several brands. Pass the option headerBrand.';
    throw new WebhookVerificationError('ambiguous_header', message);
  }
  return brand;
}

function parseBody(rawBody: string | Uint8Array): WebhookEvent | WebhookTest {
  try {
    const body: unknown = JSON.parse(typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8'));
    if (isEvent(body)) return body;
    if (isTest(body)) return { ...body, event: 'test', data: {} };
  } catch {
    // If the body is not JSON, the function throws the same error as for JSON that is neither an event nor a test call.
  }
  const message = 'The signature is valid, but the body is neither an event nor a test call.';
  throw new WebhookVerificationError('malformed_body', message);
}

/** Returns true if a value is the body of a test call. The body of a test call has no field `event`. */
function isTest(value: unknown): value is Omit<WebhookTest, 'event' | 'data'> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'test' in value &&
    value.test === true &&
    'event_id' in value &&
    typeof value.event_id === 'string' &&
    !('event' in value)
  );
}

/**
 * Returns true if a value is the body of an event. Every event has a name, an id and data, so these three fields are enough to recognize
 * an event. The other fields need no check, because the signature has proved that the service wrote the body.
 */
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
