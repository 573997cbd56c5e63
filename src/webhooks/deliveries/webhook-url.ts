import { invalidField } from '#platform/errors.ts';

const MAX_CODE_POINTS = 2_048;
/** The URL parser removes or replaces these characters, so the parsed URL would differ from the text that a person reads. */
// oxlint-disable-next-line no-control-regex -- the expression searches for control characters
const REWRITTEN = /[\u0000-\u0020\u007f\\]/;

/**
 * Checks the syntax of a webhook URL (rule 31). The addresses of its host are checked at every connection, because they may change.
 * @throws ApiError 400 `invalid_request` that names the field `webhook_url`
 */
export function readWebhookUrl(text: string, { allowPrivateNetwork }: { allowPrivateNetwork: boolean }): URL {
  if (text.length > MAX_CODE_POINTS && Array.from(text).length > MAX_CODE_POINTS) {
    throw invalidField('webhook_url', `must be at most ${MAX_CODE_POINTS} characters`);
  }
  const [, authority] = /^https:\/\/([^/?#]+)/i.exec(text) ?? [];
  const url = URL.parse(text);
  if (authority === undefined || url === null || REWRITTEN.test(text)) {
    throw invalidField('webhook_url', 'must be an HTTPS URL');
  }
  // The parsed URL hides an empty user name and an empty fragment.
  if (authority.includes('@')) {
    throw invalidField('webhook_url', 'must not contain a user name or password');
  }
  if (text.includes('#')) {
    throw invalidField('webhook_url', 'must not contain a fragment');
  }
  // For port 443, the port of a parsed HTTPS URL is empty.
  if (!allowPrivateNetwork && url.port !== '' && Number(url.port) < 1_024) {
    throw invalidField('webhook_url', 'must use port 443, or a port from 1024 to 65535');
  }
  return url;
}
