import { invalidField } from '#platform/errors.ts';

const MAX_CODE_POINTS = 2_048;

/** Parsed URL, or the reason why the URL was refused. The reason completes an error message that begins with `webhook_url: `. */
type WebhookUrlCheck = { ok: true; url: URL } | { ok: false; reason: string };

/**
 * Checks the syntax of a webhook URL (rule 31), but does not resolve its host. The service checks the addresses of the host at every
 * connection, because a name may resolve to a different address each time.
 */
export function checkWebhookUrl(
  text: string,
  { allowPrivateNetwork }: { allowPrivateNetwork: boolean },
): WebhookUrlCheck {
  if (text.length > MAX_CODE_POINTS && Array.from(text).length > MAX_CODE_POINTS) {
    return refused(`must be at most ${MAX_CODE_POINTS} characters`);
  }
  const [, authority] = /^https:\/\/([^/?#]+)/i.exec(text) ?? [];
  const url = URL.parse(text);
  if (authority === undefined || url === null || hasRewrittenCharacters(text)) {
    return refused('must be an HTTPS URL');
  }
  // The parsed URL hides an empty user name and an empty fragment.
  if (authority.includes('@')) {
    return refused('must not contain a user name or password');
  }
  if (text.includes('#')) {
    return refused('must not contain a fragment');
  }
  if (!allowPrivateNetwork && !isOpenPort(url.port)) {
    return refused('must use port 443, or a port from 1024 to 65535');
  }
  return { ok: true, url };
}

/** @throws ApiError 400 `invalid_request` that names the field `webhook_url`, if `checkWebhookUrl` refuses the URL */
export function requireWebhookUrl(text: string, options: { allowPrivateNetwork: boolean }): void {
  const check = checkWebhookUrl(text, options);
  if (!check.ok) {
    throw invalidField('webhook_url', check.reason);
  }
}

/** The URL parser removes or replaces these characters, so the parsed URL would differ from the text that a person reads. */
function hasRewrittenCharacters(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- the expression searches for control characters
  return /[\u0000-\u0020\u007f\\]/.test(text);
}

/** For port 443, the port of a parsed HTTPS URL is empty. */
function isOpenPort(port: string): boolean {
  return port === '' || Number(port) >= 1_024;
}

function refused(reason: string): WebhookUrlCheck {
  return { ok: false, reason };
}
